#!/bin/sh
# Runs all tests. Says how many were skipped because recordings or peer programs
# are missing; with SPGO_REQUIRE=1 such a test fails instead.
set -u
cd "$(dirname "$0")/.."
go=${GO:-go}
report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT
$go build -o "$report/testreport" ./scripts/testreport || exit 1
$go test -json ./... | "$report/testreport"
