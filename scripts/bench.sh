#!/bin/sh
# Throughput and memory of sptaggregate on a large recording, beside perf
# script on a part of it, and of spdconvert on as many different branches as it
# may ever get. Three runs of each in turn, from the page cache; the median
# counts.
#
#	BENCH_BYTES  size of the large perf.data input (default 1,000,000,000);
#	             Windows traces have half of it before compression
#	BENCH_ARCS   different branches for spdconvert (default 10,000,000), in a
#	             program of 250,000 blocks
#	BENCH_DIR    where the inputs are kept (default: a folder for temporary files)
set -eu
cd "$(dirname "$0")/.."
shared=${SPGO_SHARED:-../shared}
bytes=${BENCH_BYTES:-1000000000}
dir=${BENCH_DIR:-${TMPDIR:-/tmp}/spgo-bench}
mkdir -p "$dir"
seed=$shared/corpus/perf/google+autofdo__test.lbr
if [ ! -f "$seed" ]; then
	echo "no recording to repeat ($seed); using the one of the demonstration"
	seed=testdata/demo/collatz.data
fi
big=$dir/big-$bytes.data
part=$dir/part.data
[ -f "$big" ] || go run ./scripts/repeat "$seed" "$big" "$bytes"
[ -f "$part" ] || go run ./scripts/repeat "$seed" "$part" 125000000
etl=$((bytes / 2))
[ -f "$dir/lbr-$etl.etl" ] || go run ./scripts/etltrace "$dir/lbr-$etl.etl" "$etl"
[ -f "$dir/packed-$etl.etl" ] || go run ./scripts/etltrace -compress "$dir/packed-$etl.etl" "$etl"
[ -f "$dir/stacks-$etl.etl" ] || go run ./scripts/etltrace -stacks "$dir/stacks-$etl.etl" "$etl"
arcs=${BENCH_ARCS:-10000000}
wide=$dir/arcs-$arcs
[ -f "$wide/arcs.spt" ] || go run ./scripts/spdworld -functions 10000 -blocks 20 -arcs "$arcs" -o "$wide"
spe=$dir/spe-$etl.data
[ -f "$spe" ] || go run ./scripts/spetrace "$spe" "$etl"
cat "$spe" "$big" "$part" "$dir"/*-"$etl".etl "$wide"/* >/dev/null

# measure LABEL FILE COMMAND...: seconds and peak memory, appended to the log.
measure() {
	label=$1 file=$2
	shift 2
	/usr/bin/env time -f '%e %U %S %M' -o "$dir/time" "$@" >/dev/null 2>&1 || true
	tail -n 1 "$dir/time" | while read -r wall user sys rss; do
		size=$(wc -c <"$file")
		awk -v l="$label" -v s="$size" -v w="$wall" -v u="$user" -v y="$sys" -v r="$rss" \
			'BEGIN { printf "%s\t%.0f\t%.2f\t%.2f\t%.0f\n", l, s / w / 1e6, w, u + y, r / 1024 }'
	done >>"$dir/log"
}

: >"$dir/log"
for run in 1 2 3; do
	measure sptaggregate "$big" bin/sptaggregate --quiet -o "$dir/big.spt" "$big"
	for kind in lbr packed stacks; do
		measure "sptaggregate ETL $kind" "$dir/$kind-$etl.etl" bin/sptaggregate --quiet -o "$dir/big.spt" "$dir/$kind-$etl.etl"
	done
	measure "spdconvert $arcs branches" "$wide/arcs.spt" bin/spdconvert --quiet -o "$dir/wide.spd" "$wide/app.spd" "$wide/arcs.spt"
	measure "sptaggregate Arm SPE" "$spe" bin/sptaggregate --quiet -o "$dir/big.spt" "$spe"
	if command -v perf >/dev/null; then
		measure "perf script -F ip,brstack" "$part" perf script -i "$part" -F ip,brstack
		measure "perf report --stats" "$big" perf report --stats -i "$big"
	fi
done
echo "machine: $(nproc) processors, $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(go version | cut -d' ' -f3)"
printf '%-28s %8s %8s %8s %8s\n' "median of 3" MB/s "wall s" "CPU s" "RSS MB"
cut -f1 "$dir/log" | sort -u | while read -r label; do
	awk -F'\t' -v l="$label" '$1 == l' "$dir/log" | sort -t"$(printf '\t')" -k2,2n | sed -n 2p |
		awk -F'\t' '{ printf "%-28s %8s %8s %8s %8s\n", $1, $2, $3, $4, $5 }'
done
