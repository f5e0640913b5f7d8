#!/bin/sh
# Throughput and memory on large recordings, beside the peers that are
# installed, and of spdconvert on as many different branches as it may ever
# get. Three runs of each in turn, from the page cache; the median counts.
#
#	BENCH_BYTES  size of the large perf.data input (default 1,000,000,000);
#	             Windows traces have half of it before compression
#	BENCH_PART   size of the one that slower peers read (default 125,000,000)
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
piece=${BENCH_PART:-125000000}
part=$dir/part-$piece.data
[ -f "$big" ] || go run ./scripts/repeat "$seed" "$big" "$bytes"
[ -f "$part" ] || go run ./scripts/repeat "$seed" "$part" "$piece"
etl=$((bytes / 2))
[ -f "$dir/lbr-$etl.etl" ] || go run ./scripts/etltrace "$dir/lbr-$etl.etl" "$etl"
[ -f "$dir/packed-$etl.etl" ] || go run ./scripts/etltrace -compress "$dir/packed-$etl.etl" "$etl"
[ -f "$dir/stacks-$etl.etl" ] || go run ./scripts/etltrace -stacks "$dir/stacks-$etl.etl" "$etl"
arcs=${BENCH_ARCS:-10000000}
wide=$dir/arcs-$arcs
[ -f "$wide/arcs.spt" ] || go run ./scripts/spdworld -functions 10000 -blocks 20 -arcs "$arcs" -o "$wide"
# A program with its recording, for the way to a compiler's profile.
elf=$shared/programs/shapes.elf
known=$dir/shapes-$piece.data
if [ -f "$elf" ]; then
	[ -f "$known" ] || go run ./scripts/repeat "$shared/programs/shapes.data" "$known" "$piece"
	cp "$elf" "$dir/shapes.elf"
fi
# Partial results, to be folded.
[ -f "$dir/parts/1000.spt" ] || {
	mkdir -p "$dir/parts"
	bin/sptaggregate -q -o "$dir/parts/1.spt" "$seed"
	for k in $(seq 2 1000); do cp "$dir/parts/1.spt" "$dir/parts/$k.spt"; done
}
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

# ours_to_llvm makes an LLVM profile of a recording, as llvm-profgen does.
cat >"$dir/ours_to_llvm" <<TEXT
#!/bin/sh
set -e
rm -f "$dir/shapes.spd"
bin/sptaggregate -q /etl "$known" --image-path "$dir" /binary:shapes.elf -o "$dir/shapes.spt"
bin/spdconvert -q --image "$dir/shapes.elf" "$dir/shapes.spd" "$dir/shapes.spt"
bin/spdconvert -q /export:llvm --image "$dir/shapes.elf" "$dir/shapes.spd" "$dir/shapes.prof"
TEXT
chmod +x "$dir/ours_to_llvm"
PATH=$PATH:/usr/lib/llvm-19/bin

: >"$dir/log"
for run in 1 2 3; do
	measure "sptaggregate, part" "$part" bin/sptaggregate --quiet -o "$dir/big.spt" "$part"
	measure "sptaggregate, 1000 SPTs" "$dir/parts/1.spt" bin/sptaggregate --quiet -o "$dir/big.spt" "$dir"/parts/*.spt
	if [ -f "$known" ]; then
		measure "to an LLVM profile" "$known" "$dir/ours_to_llvm"
		command -v llvm-profgen >/dev/null && measure "llvm-profgen" "$known" llvm-profgen --binary="$dir/shapes.elf" --perfdata="$known" --output="$dir/peer.prof"
		command -v perf2bolt >/dev/null && measure "perf2bolt" "$known" perf2bolt -p "$known" -o "$dir/peer.fdata" "$dir/shapes.elf"
		command -v create_llvm_prof >/dev/null && measure "create_llvm_prof" "$known" create_llvm_prof --binary="$dir/shapes.elf" --profile="$known" --out="$dir/peer.prof" --format=text
	fi
	measure sptaggregate "$big" bin/sptaggregate --quiet -o "$dir/big.spt" "$big"
	for kind in lbr packed stacks; do
		measure "sptaggregate ETL $kind" "$dir/$kind-$etl.etl" bin/sptaggregate --quiet -o "$dir/big.spt" "$dir/$kind-$etl.etl"
	done
	measure "spdconvert $arcs branches" "$wide/arcs.spt" bin/spdconvert --quiet -o "$dir/wide.spd" "$wide/app.spd" "$wide/arcs.spt"
	measure "sptaggregate Arm SPE" "$spe" bin/sptaggregate --quiet -o "$dir/big.spt" "$spe"
	if command -v perf >/dev/null; then
		[ -f "$known" ] && measure "perf script, of the program" "$known" perf script -i "$known" -F ip,brstack
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
