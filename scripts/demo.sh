#!/bin/sh
# The demonstration: a Go program is sampled, its profile is made and looked
# at, and the program is built again with it; then a Windows trace becomes the
# profile in an SPD. With the argument "recorded" the first part uses a trace
# that was recorded elsewhere.
set -eu
cd "$(dirname "$0")/.."
out=demo-out
go=${GO:-go}
rm -rf "$out"
mkdir -p "$out"

step() { printf '\n=== %s\n' "$1"; }
show() { printf '$ %s\n' "$*"; "$@"; }

# A recorded trace with branch stacks, up to the profile.
recorded() {
	step "1. A recorded trace of testdata/demo/collatz.c becomes an SPT"
	cat <<'TEXT'
collatz.data is a perf.data recording with branch stacks. sptaggregate finds the
program by its build id under --image-path and turns addresses into RVAs:
addresses relative to where the program is loaded. The summary says how many
samples were read, how many were used, and why the others were not.
TEXT
	show bin/sptaggregate /etl testdata/demo/collatz.data --image-path testdata/demo -o "$out/collatz.spt"
	step "2. What is hot? The loop of chain()"
	show bin/sptdump /summary --top 5 "$out/collatz.spt"
	step "3. The code of the program becomes an SPD, and the samples its counts"
	show bin/spdconvert /build:testdata/demo/collatz "$out/collatz.spd"
	show bin/spdconvert "$out/collatz.spd" "$out/collatz.spt"
	step "4. Do they belong together? What is hot?"
	show bin/spddump /doctor "$out/collatz.spd" "$out/collatz.spt" testdata/demo/collatz
	show bin/spddump /dyninst:5 "$out/collatz.spd"
}

# The user time of a program, the least of five runs, in seconds.
time_of() {
	for run in 1 2 3 4 5; do
		( "$1" >/dev/null; times ) | awk 'END { split($1, t, /[ms]/); print t[1] * 60 + t[2] }'
	done | sort -n | head -n 1
}

# A live sample of a Go program, up to the program that was built with it.
live() {
	step "1. Sample a program: examples/wordscan, which reads a text byte by byte"
	( cd examples/wordscan && "$go" build -pgo=off -o "../../$out/wordscan" . )
	bin/sptcollect -q -o "$out/run.data" -- "$out/wordscan" -passes 20 >/dev/null 2>&1 || return 1
	show bin/sptcollect -q -o "$out/run.data" -- "$out/wordscan" -passes 300 2>&1 | grep -v '^  not'
	step "2. Aggregate the samples: addresses become RVAs of the program"
	show bin/sptaggregate /etl "$out/run.data" /binary:wordscan -o "$out/run.spt"
	step "3. The code of the program becomes an SPD, and the samples its counts"
	show bin/spdconvert /build:"$out/wordscan" "$out/wordscan.spd"
	show bin/spdconvert -q "$out/wordscan.spd" "$out/run.spt"
	step "4. Do they belong together? What is hot?"
	show bin/spddump -q /doctor "$out/wordscan.spd" "$out/run.spt" "$out/wordscan" "$out/run.data"
	show bin/spddump /dyninst:6 "$out/wordscan.spd"
	step "5. Build the program again with the profile (this builds the Go library with it, too)"
	show bin/spdconvert /export:pprof --image "$out/wordscan" "$out/wordscan.spd" "$out/wordscan.pprof"
	( cd examples/wordscan && show "$go" build -pgo="../../$out/wordscan.pprof" -o "../../$out/wordscan-pgo" . )
	before=$(time_of "$out/wordscan") after=$(time_of "$out/wordscan-pgo")
	echo "before $before s, after $after s of processor time (least of five runs)" |
		awk '{ d = 100 - 100 * $5 / $2
			if (d >= 0) printf "%s: %.0f %% less\n", $0, d
			else printf "%s: %.0f %% more; other work on this machine disturbs the measurement\n", $0, -d }'
}

if [ "${1:-}" = recorded ] || ! live; then
	[ "${1:-}" = recorded ] || echo "This kernel does not let programs be sampled; a recorded trace shows the way instead."
	recorded
fi

step "6. A program for Windows with a recording of it"
cat <<'TEXT'
spdworld makes up a program: app.spd is the database that the linker leaves,
without counts, run.etl what xperf records of a run with branch stacks, and
truth.tsv tells how often each block was really executed.
TEXT
show "$go" run ./scripts/spdworld -seed 5 -functions 60 -o "$out/world"
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
