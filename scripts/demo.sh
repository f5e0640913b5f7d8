#!/bin/sh
# The demonstration: a recorded trace of a program becomes an SPT and is shown.
set -eu
cd "$(dirname "$0")/.."
out=demo-out
mkdir -p "$out"

step() { printf '\n=== %s\n' "$1"; }
show() { printf '$ %s\n' "$*"; "$@"; }

step "1. Aggregate the trace of testdata/demo/collatz.c"
cat <<'TEXT'
collatz.data is a perf.data recording with branch stacks. sptaggregate reads it,
finds the program by its build id under --image-path, and turns addresses into
RVAs: addresses relative to where the program is loaded. The summary says how
many samples were read, how many were used, and why the others were not: some
fall into the dynamic loader, which the recording does not list.
TEXT
show bin/sptaggregate /etl testdata/demo/collatz.data --image-path testdata/demo -o "$out/collatz.spt"

step "2. Whose profile is it? GUID and age must equal those of the program"
show bin/sptdump /progid "$out/collatz.spt"

step "3. What is hot?"
cat <<'TEXT'
Totals by kind of record, then the hottest addresses and branches. The hottest
branch is the loop of chain() in collatz.c.
TEXT
show bin/sptdump /summary --top 5 "$out/collatz.spt"

step "4. The records, in a text form that can be edited and assembled again"
cat <<'TEXT'
A LBR line is a piece of the program's way, newest branch first, FROM->TO; it
counts 1 + repeat times.
TEXT
show bin/sptdump /event "$out/collatz.spt" | cut -c1-100 | head -n 12
bin/sptdump "$out/collatz.spt" > "$out/collatz.txt"
show bin/sptdump --assemble "$out/collatz.txt" -o "$out/copy.spt"
cmp "$out/collatz.spt" "$out/copy.spt" && echo "the copy is identical"

step "5. Partial results fold: the same trace twice weighs twice"
show bin/sptaggregate "$out/collatz.spt" testdata/demo/collatz.data --image-path testdata/demo -o "$out/twice.spt"
