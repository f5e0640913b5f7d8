#!/bin/sh
# How much faster the examples get by their profiles: tables in Markdown for
# docs/gains.md. Each profile comes from a recording that is made here: samples
# of the clock, and branch stacks, which ../shared/oracle/lbrsim.py derives from
# a run that valgrind traces. llvm-profgen and perf2bolt make theirs from the
# same recordings. What is not installed is left out.
#
#	gain.sh [go|c]  one example alone
#	GAIN_TURNS  runs of each build (default 15)
#	GAIN_DIR    where builds and profiles are kept (default: a temporary folder)
set -eu
cd "$(dirname "$0")/.."
turns=${GAIN_TURNS:-15}
PATH=$PATH:/usr/lib/llvm-19/bin
if [ -n "${GAIN_DIR:-}" ]; then
	dir=$GAIN_DIR
	mkdir -p "$dir"
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
fi
log=$dir/log
: >"$log"
say() { echo "gain: $*" >&2; }
# run COMMAND...: its output goes to the log, which is shown if it fails.
run() { "$@" >>"$log" 2>&1 || { tail -n 20 "$log" >&2; say "failed: $*"; exit 1; }; }
run "${GO:-go}" build -o "$dir/" ./scripts/alternate ./examples/messages/gen

# profile NAME BINARY RECORDING: NAME.spd
profile() {
	run bin/sptaggregate /etl "$3" --image-path "$dir" /binary:"$(basename "$2")" -o "$dir/$1.spt"
	rm -f "$dir/$1.spd"
	run bin/spdconvert /build:"$2" "$dir/$1.spd"
	run bin/spdconvert "$dir/$1.spd" "$dir/$1.spt"
}

# clang_build NAME OPTIONS...: the C example
clang_build() {
	out=$1
	shift
	run clang -O2 -g -fdebug-info-for-profiling -funique-internal-linkage-names -no-pie -Wl,--build-id -Wl,--emit-relocs \
		"$@" -I"$dir" -o "$dir/$out" examples/messages/messages.c
}

# bolt_build NAME FDATA: the plain build, optimized
bolt_build() {
	run llvm-bolt "$dir/plain" -o "$dir/$1" -data "$2" -reorder-blocks=ext-tsp -reorder-functions=cdsort \
		-split-functions -split-all-cold
}

c_example() {
	say "building the C example"
	"$dir/gen" >"$dir/decoders.h"
	clang_build plain
	clang_build framed -fno-omit-frame-pointer
	set -- "plain=$dir/plain"

	say "sampling it by the clock"
	run bin/sptcollect --frequency=5000 -o "$dir/framed.data" -- "$dir/framed" 10000
	profile framed "$dir/framed" "$dir/framed.data"
	run bin/spdconvert /export:llvm --image "$dir/framed" "$dir/framed.spd" "$dir/clock.prof"
	clang_build clang-clock -fprofile-sample-use="$dir/clock.prof"
	set -- "$@" "clang, clock samples=$dir/clang-clock"
	if command -v llvm-bolt >/dev/null; then
		if command -v perf2bolt >/dev/null && command -v perf >/dev/null; then # it reads no samples with call chains
			run perf record -e cpu-clock:u -F 5000 -o "$dir/plain.data" -- "$dir/plain" 10000
		else
			run bin/sptcollect --frequency=5000 -o "$dir/plain.data" -- "$dir/plain" 10000
		fi
		profile plain "$dir/plain" "$dir/plain.data"
		run bin/spdconvert /export:bolt --image "$dir/plain" "$dir/plain.spd" "$dir/clock.fdata"
		bolt_build bolt-clock "$dir/clock.fdata"
		set -- "$@" "BOLT, clock samples=$dir/bolt-clock"
		if command -v perf2bolt >/dev/null; then
			run perf2bolt -nl -p "$dir/plain.data" -o "$dir/clock-peer.fdata" "$dir/plain"
			bolt_build bolt-clock-peer "$dir/clock-peer.fdata"
			set -- "$@" "BOLT, clock samples by perf2bolt=$dir/bolt-clock-peer"
		fi
	fi

	if command -v valgrind >/dev/null && [ -f "$lbrsim" ]; then
		say "tracing a short run of it for branch stacks; takes a minute or two"
		run python3 "$lbrsim" "$dir/lbr" 97:997 "$dir/plain" 15
		profile lbr "$dir/plain" "$dir/lbr.data"
		run bin/spdconvert /export:llvm --image "$dir/plain" "$dir/lbr.spd" "$dir/lbr.prof"
		clang_build clang-lbr -fprofile-sample-use="$dir/lbr.prof"
		set -- "$@" "clang, branch stacks=$dir/clang-lbr"
		if command -v llvm-profgen >/dev/null; then
			run llvm-profgen --binary="$dir/plain" --perfdata="$dir/lbr.data" --output="$dir/lbr-peer.prof"
			clang_build clang-lbr-peer -fprofile-sample-use="$dir/lbr-peer.prof"
			set -- "$@" "clang, branch stacks by llvm-profgen=$dir/clang-lbr-peer"
		fi
		if command -v llvm-bolt >/dev/null; then
			run bin/spdconvert /export:bolt --image "$dir/plain" "$dir/lbr.spd" "$dir/lbr.fdata"
			bolt_build bolt-lbr "$dir/lbr.fdata"
			set -- "$@" "BOLT, branch stacks=$dir/bolt-lbr"
			if command -v perf2bolt >/dev/null; then
				run perf2bolt -p "$dir/lbr.data" -o "$dir/lbr-peer.fdata" "$dir/plain"
				bolt_build bolt-lbr-peer "$dir/lbr-peer.fdata"
				set -- "$@" "BOLT, branch stacks by perf2bolt=$dir/bolt-lbr-peer"
			fi
		fi
	fi
	say "measuring"
	printf '\nexamples/messages:\n\n'
	"$dir/alternate" -n "$turns" "$@"
}

go_example() {
	say "building the Go example, and the library with its profile"
	(cd examples/wordscan && run "${GO:-go}" build -pgo=off -o "$dir/wordscan" .)
	run bin/sptcollect -o "$dir/wordscan.data" -- "$dir/wordscan" -passes 300
	profile wordscan "$dir/wordscan" "$dir/wordscan.data"
	run bin/spdconvert /export:pprof --image "$dir/wordscan" "$dir/wordscan.spd" "$dir/wordscan.pprof"
	(cd examples/wordscan && run "${GO:-go}" build -pgo="$dir/wordscan.pprof" -o "$dir/wordscan-pgo" .)
	say "measuring"
	printf '\nexamples/wordscan:\n\n'
	"$dir/alternate" -n "$turns" "plain=$dir/wordscan" "go build -pgo, clock samples=$dir/wordscan-pgo"
}

lbrsim=${SPGO_SHARED:-../shared}/oracle/lbrsim.py
echo "$(nproc) processors, $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $("${GO:-go}" version | cut -d' ' -f3); $turns runs in turn"
case ${1:-all} in all | go) go_example ;; esac
case ${1:-all} in all | c) if command -v clang >/dev/null; then c_example; else say "no clang: the C example is left out"; fi ;; esac
