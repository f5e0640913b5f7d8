#!/bin/sh
# The demonstration: a recorded trace of a program becomes an SPT and is shown;
# a Windows trace becomes the profile in an SPD.
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

step "6. A program for Windows with a recording of it"
cat <<'TEXT'
spdworld makes up a program: app.spd is the database that the linker leaves,
without counts, run.etl what xperf records of a run with branch stacks, and
truth.tsv tells how often each block was really executed.
TEXT
show "${GO:-go}" run ./scripts/spdworld -seed 5 -functions 60 -o "$out/world"
show bin/spddump /module /minidump "$out/world/app.spd" | head -n 15

step "7. From the Windows trace to the profile: ETL -> SPT -> SPD"
show bin/sptaggregate /etl "$out/world/run.etl" -o "$out/world/run.spt"
show bin/spdconvert "$out/world/app.spd" "$out/world/run.spt"

step "8. Do they belong together?"
show bin/spddump /doctor "$out/world/app.spd" "$out/world/run.spt" "$out/world/run.etl"

step "9. What the compiler will see"
show bin/spddump /dyninst:5 "$out/world/app.spd"
show bin/spddump /validate "$out/world/app.spd"
hot=$(bin/spddump /dyninst:1 "$out/world/app.spd" | awk 'END { print $NF }')
show bin/spddump "/funcid:$hot" /fg "$out/world/app.spd" | sed -n '1p; /entry count/,$p' | head -n 12
echo "and what was executed:"
awk -F'\t' -v f="$hot" '$2 == f && $4 == "" { printf "  B%s: %d\n", $3, $5 }' "$out/world/truth.tsv" | head -n 4
