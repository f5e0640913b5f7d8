#!/bin/sh
# Runs all tests, then says how many of them were skipped because recordings
# or peer programs are missing. With SPGO_REQUIRE=1 such a test fails instead.
set -u
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

${GO:-go} test -v ./... >"$log" 2>&1
status=$?

# The package lines are the runner's own summary; details only of failures.
grep -E '^(ok|FAIL|---  *FAIL|\?|panic:)' "$log"
if [ $status -ne 0 ]; then
	echo "---- output of the failures"
	grep -vE '^(=== (RUN|PAUSE|CONT|NAME)|--- PASS|    --- PASS|PASS|ok|\?)' "$log" | tail -n 400
fi

count() { grep -cE "$1" "$log"; }
passed=$(count '^--- PASS')
failed=$(count '^--- FAIL')
skipped=$(count '^--- SKIP')
corpus=$(count 'corpus: (recordings|peer program) missing')
echo "corpus tests skipped: $corpus"
echo "$passed passed, $failed failed, $skipped skipped"
exit $status
