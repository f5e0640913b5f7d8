#!/bin/sh
# The demonstration with C: examples/wordscan-c is sampled and built again by
# clang with its profile, then optimized by BOLT. Needs clang, lld and llvm-bolt,
# on Debian the packages clang-19, lld-19 and bolt-19.
set -eu
cd "$(dirname "$0")/../examples/wordscan-c"
PATH=$PATH:/usr/lib/llvm-19/bin
for tool in clang llvm-bolt; do
	command -v $tool >/dev/null || { echo "demo-c: $tool is missing: apt-get install clang-19 lld-19 bolt-19" >&2; exit 1; }
done
export SPGO_TOOLS=../../bin/ CC=clang
trap 'rm -rf .spgo' EXIT

# The user time of a program, the least of nine runs, in seconds.
time_of() {
	for run in 1 2 3 4 5 6 7 8 9; do
		( "$1" >/dev/null; times ) | awk 'END { split($1, t, /[ms]/); print t[1] * 60 + t[2] }'
	done | sort -n | head -n 1
}

rm -rf .spgo wordscan wordscan.bolt plain
printf '\n=== 1. Build, sample, update the profile, check it, build again: make spgo\n'
make --no-print-directory spgo SPGO_KIND=clang
$CC -O2 -o plain wordscan.c

printf '\n=== 2. The same by BOLT, which moves the code of a program that is built\n'
mv wordscan wordscan.sampled
rm -rf .spgo
make --no-print-directory spgo SPGO_KIND=bolt | tail -n 40

printf '\n=== 3. Processor time, the least of nine runs\n'
printf 'plain            %s s\n' "$(time_of ./plain)"
printf 'clang + profile  %s s\n' "$(time_of ./wordscan.sampled)"
printf 'BOLT + profile   %s s\n' "$(time_of ./wordscan.bolt)"
rm -f wordscan wordscan.sampled wordscan.bolt plain
