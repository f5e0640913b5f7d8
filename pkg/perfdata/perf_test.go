package perfdata

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestAgainstPerf compares every sample and every branch of the recordings
// that the installed perf reads with what it prints.
func TestAgainstPerf(t *testing.T) {
	perf := corpus.Tool(t, "perf")
	var totals perfTotals
	for _, row := range corpus.Files(t, "perf") {
		if row.Fields["samples"] == "" || row.Fields["samples"] == "0" {
			continue
		}
		f, err := Open(row.File, nil)
		if err != nil {
			t.Fatal(err)
		}
		totals.add(compareWithPerf(t, perf, row.File, f))
		f.Close()
	}
	t.Logf("%+v", totals)
	if totals.files < 50 || totals.samples < 100000 || totals.branches < 100000 {
		t.Errorf("compared %+v, which is not what perf should read", totals)
	}
}

// TestBuildIDsAgainstPerf compares the build ids of the header.
func TestBuildIDsAgainstPerf(t *testing.T) {
	perf := corpus.Tool(t, "perf")
	files, ids := 0, 0
	for _, row := range corpus.Files(t, "perf") {
		if n := row.Fields["buildids_hdr"]; n == "" || n == "0" {
			continue
		}
		cmd := exec.Command(perf, "buildid-list", "-f", "-i", row.File)
		cmd.Env = append(os.Environ(), "PERF_CONFIG=/dev/null", "HOME=/nonexistent")
		out, err := cmd.Output()
		if err != nil {
			continue // a recording that this perf does not read
		}
		f, err := Open(row.File, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, b := range f.Features.BuildIDs {
			got = append(got, fmt.Sprintf("%s %s", b.ID, b.Name))
		}
		for line := range strings.Lines(string(out)) {
			want = append(want, strings.TrimSpace(line))
		}
		slices.Sort(got)
		got = slices.Compact(got) // perf prints equal ones once
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", row.File, got, want)
		}
		files++
		ids += len(got)
		f.Close()
	}
	t.Logf("%d files with %d build ids", files, ids)
	if files < 30 || ids < 300 {
		t.Errorf("compared %d files with %d build ids only", files, ids)
	}
}

// TestPerfReadsWriter lets perf read what Writer writes.
func TestPerfReadsWriter(t *testing.T) {
	perf := corpus.Tool(t, "perf")
	for name, opts := range variants() {
		if opts.Packing == PackZstd2 || opts.Pipe && opts.BigEndian {
			// perf before 6.16 does not know COMPRESSED2, and it does not swap
			// branch flags and features in pipes.
			continue
		}
		file := filepath.Join(t.TempDir(), "perf.data")
		opts.Features = &Features{Hostname: "host", Arch: "x86_64", OSRelease: "6.1", Version: "6.1"}
		b := lbrFile(t, 1000, 4, opts)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		f := openBytes(t, b)
		n := compareWithPerf(t, perf, file, f)
		if n.samples != 1000 || n.branches != 4000 {
			t.Errorf("%s: perf reads %+v", name, n)
		}
	}
}

type perfTotals struct{ files, samples, branches int }

func (n *perfTotals) add(m perfTotals) {
	n.files += m.files
	n.samples += m.samples
	n.branches += m.branches
}

// compareWithPerf compares samples and branches of f, which is stored in
// file, with the output of `perf script`. A file that perf does not read
// counts as nothing.
func compareWithPerf(t *testing.T, perf, file string, f *File) perfTotals {
	t.Helper()
	all := SampleAll
	var branches bool
	for _, a := range f.Attrs {
		if a.SampleType != 0 {
			all &= a.SampleType
			branches = branches || a.SampleType&SampleBranchStack != 0
		}
	}
	fields := []string{"ip"}
	if all&SampleTID != 0 {
		fields = append(fields, "pid", "tid")
	}
	if all&SampleTime != 0 {
		fields = append(fields, "time")
	}
	if branches {
		fields = append(fields, "brstack")
	}
	cmd := exec.Command(perf, "script", "-f", "-i", file, "-G", "--ns", "-F", strings.Join(fields, ","))
	cmd.Env = append(os.Environ(), "PERF_CONFIG=/dev/null", "HOME=/nonexistent")
	out, err := cmd.Output()
	if err != nil {
		return perfTotals{}
	}
	got := make(map[string]int)
	n := perfTotals{files: 1}
	dec := f.NewDecoder(SampleAll)
	var s Sample
	groups := false
	rs := f.Records()
	for rs.Next() {
		if r := rs.Record(); r.Type == TypeSample && dec.Decode(r, &s) == DefectNone {
			groups = groups || s.Attr.SampleType&SampleRead != 0 && s.Attr.ReadFormat&readGroup != 0
			got[perfLine(&s, all, branches)]++
			n.samples++
			n.branches += len(s.Branches)
		}
	}
	want := make(map[string]int)
	for line := range bytes.Lines(out) {
		if text := strings.Join(strings.Fields(string(line)), " "); text != "" {
			want[text]++
		}
	}
	if groups {
		// perf prints a sample once for every counter that the group moved.
		for k := range want {
			want[k] = got[k]
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: %d different samples, perf has %d; only here %v; only there %v", file, len(got), len(want), difference(got, want), difference(want, got))
	}
	return n
}

// difference returns up to three lines that a has more often than b.
func difference(a, b map[string]int) []string {
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if a[k] > b[k] && len(lines) < 3 {
			lines = append(lines, fmt.Sprintf("%d x %q", a[k]-b[k], k))
		}
	}
	return lines
}

// perfLine prints a sample as perf does.
func perfLine(s *Sample, all SampleType, branches bool) string {
	var w strings.Builder
	if all&SampleTID != 0 {
		fmt.Fprintf(&w, "%d/%d ", s.PID, s.TID)
	}
	if all&SampleTime != 0 {
		fmt.Fprintf(&w, "%d.%09d: ", s.Time/1e9, s.Time%1e9)
	}
	fmt.Fprintf(&w, "%x", s.IP)
	if branches {
		for _, b := range s.Branches {
			flag := func(set bool, c byte) byte {
				if set {
					return c
				}
				return '-'
			}
			pred := flag(b.Flags.Mispred(), 'M')
			if b.Flags.Predicted() {
				pred = 'P'
			}
			fmt.Fprintf(&w, " %#x/%#x/%c/%c/%c/%d/%s", b.From, b.To, pred, flag(b.Flags.InTx(), 'X'), flag(b.Flags.Abort(), 'A'), b.Flags.Cycles(), branchNames[b.Flags.Type()])
		}
	}
	return w.String()
}

// branchNames are perf's names of the types of branches.
var branchNames = [...]string{"", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET", "COND_CALL",
	"COND_RET", "ERET", "IRQ", "SERROR", "NO_TX", ""}
