#!/bin/sh
# The demonstration with C: examples/messages is sampled and built again by
# clang with its profile, then optimized by BOLT. Needs clang, lld and llvm-bolt,
# on Debian the packages clang-19, lld-19 and bolt-19.
set -eu
cd "$(dirname "$0")/../examples/messages"
PATH=$PATH:/usr/lib/llvm-19/bin
for tool in clang llvm-bolt; do
	command -v $tool >/dev/null || { echo "demo-c: $tool is missing: apt-get install clang-19 lld-19 bolt-19" >&2; exit 1; }
done
export SPGO_TOOLS=../../bin/ CC=clang
trap 'rm -rf .spgo messages messages.clang messages.bolt plain' EXIT

rm -rf .spgo messages messages.bolt
printf '\n=== 1. Build, sample, update the profile, check it, build again: make spgo\n'
make --no-print-directory spgo SPGO_KIND=clang
mv messages messages.clang

printf '\n=== 2. The same by BOLT, which moves the code of a program that is built\n'
rm -rf .spgo
make --no-print-directory spgo SPGO_KIND=bolt | tail -n 40
mv messages plain

printf '\n=== 3. Compare\n'
go run ../../scripts/alternate -n 7 'plain=./plain' 'clang, profile=./messages.clang' 'BOLT, profile=./messages.bolt'
