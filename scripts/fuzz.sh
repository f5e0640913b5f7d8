#!/bin/sh
# Runs the fuzz targets of the module one after the other, each for the given
# time (default 30s), and goes on after one that fails. Seeds are made by code
# or read from the recordings (SPGO_SHARED); an input that fails is kept below
# testdata/fuzz of the package, where every run of its tests reads it again.
#
#	fuzz.sh [time [package...]]
set -eu
cd "$(dirname "$0")/.."
time=${1:-30s}
[ $# -gt 0 ] && shift
go=${GO:-go}
failed=
for package in $($go list "${@:-./...}"); do
	for target in $($go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "$package $target"
		# Minimizing by count: by time, it would take a minute of each new input.
		$go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x -parallel "${FUZZPARALLEL:-1}" "$package" ||
			failed="$failed $package.$target"
	done
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
