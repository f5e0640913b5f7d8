#!/bin/sh
# Runs every fuzz target of the module for the given time, one after the other.
set -eu
cd "$(dirname "$0")/.."
time=${1:-30s}
for package in $(${GO:-go} list ./...); do
	for target in $(${GO:-go} test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "$package $target"
		${GO:-go} test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
	done
done
