package ingest

import (
	"math"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// processes has a shell that starts a tool with a long name, and a daemon that
// was running before; its executable is not known.
const processes = `
	0 comm 10 sh
	0 map 10 1000+1000 0 /usr/bin/sh
	0 comm 30 daemon
	1 sample 10 1010
	2 fork 11 10
	3 sample 11 1020
	4 comm 11 profile-guided- exec
	4 map 11 1000+1000 0 /opt/Bin/profile-guided-tool
	5 sample 11 1030
	6 fork 12 11 thread
	6 comm 11 worker tid=12
	7 sample 11 1040 tid=12
	8 sample 30 5010
	9 comm 11 renamed
	9 sample 11 1050
`

func TestProcessFilter(t *testing.T) {
	shell := []string{"ip sh+10", "ip sh+20"}
	tool := []string{"ip profile-guided-tool+30", "ip profile-guided-tool+40", "ip profile-guided-tool+50"}
	for _, tc := range []struct {
		name    string
		options Options
		want    []string
		account string
	}{
		{"all", Options{}, append(shell, tool...), "used:5 unmapped:1"},
		{"executable", Options{Processes: []string{"sh"}}, shell, "used:2 process_filter:4"},
		{"case", Options{Processes: []string{"SH"}}, shell, "used:2 process_filter:4"},
		{"path", Options{Processes: []string{"/usr/bin/sh"}}, shell, "used:2 process_filter:4"},
		{"end of path", Options{Processes: []string{"bin/sh"}}, shell, "used:2 process_filter:4"},
		{"other path", Options{Processes: []string{"/usr/local/bin/sh"}}, nil, "process_filter:6"},
		{"long name", Options{Processes: []string{"profile-guided-tool"}}, tool, "used:3 process_filter:3"},
		{"cut name", Options{Processes: []string{"profile-guided-"}}, tool, "used:3 process_filter:3"},
		{"other name with the same beginning", Options{Processes: []string{"profile-guided-other"}}, nil, "process_filter:6"},
		{"later name", Options{Processes: []string{"renamed"}}, tool, "used:3 process_filter:3"},
		{"name of a thread", Options{Processes: []string{"worker"}}, nil, "process_filter:6"},
		{"name alone is known", Options{Processes: []string{"/usr/sbin/daemon"}}, nil, "process_filter:5 unmapped:1"},
		{"several", Options{Processes: []string{"daemon", "sh"}}, shell, "used:2 process_filter:3 unmapped:1"},
		{"part of a name", Options{Processes: []string{"profile"}}, nil, "process_filter:6"},
		{"pid", Options{PIDs: []uint32{11}}, append(shell[1:], tool...), "used:4 process_filter:2"},
		{"pids", Options{PIDs: []uint32{30, 10}}, shell[:1], "used:1 process_filter:4 unmapped:1"},
		{"pid and name", Options{PIDs: []uint32{11}, Processes: []string{"sh"}}, shell[1:], "used:1 process_filter:5"},
	} {
		want := "samples: " + tc.account + "\n"
		for i := len(tc.want) - 1; i >= 0; i-- {
			want = tc.want[i] + "\n" + want
		}
		got, facts, _ := outcome(t, recording{}.write(t, processes), tc.options)
		if got != want {
			t.Errorf("%s: got\n%swant\n%s", tc.name, got, want)
		}
		if p := facts.Stats.Processes; p["sh"] != 2 || p["profile-guided-tool"] != 3 || p["daemon"] != 1 || len(p) != 3 {
			t.Errorf("%s: processes %v", tc.name, p)
		}
	}
}

// TestNamesOfChildren checks that the names of one process are not those of
// its parent or of another child.
func TestNamesOfChildren(t *testing.T) {
	path := recording{}.write(t, `
		1 comm 10 a
		1 comm 10 b
		1 comm 10 c
		1 map 10 1000+1000 0 /t/app
		2 fork 11 10
		2 fork 12 10
		3 comm 10 parent
		3 comm 11 first
		3 comm 12 second
		5 sample 10 1010
		5 sample 11 1011
		5 sample 12 1012`)
	for filter, want := range map[string]string{"parent": "ip app+10", "first": "ip app+11", "second": "ip app+12",
		"b": "ip app+10\nip app+11\nip app+12"} {
		got, facts, _ := outcome(t, path, Options{Processes: []string{filter}})
		if got = strings.TrimSuffix(got, "\nsamples: "+account(&facts.Stats.Samples)+"\n"); got != want {
			t.Errorf("%s: %s, want %s", filter, got, want)
		}
	}
}

func TestBinaryFilter(t *testing.T) {
	const script = `
		1 map 10 1000+1000 0 /opt/App/Tool
		1 map 10 8000+1000 0 /opt/lib/libx.so
		2 sample 10 1010 lbr 1020>1030 8050>8060 1040>8070 chain USER 1010 1051 8061 8071
	`
	const tool = `ip Tool+10
		lbr Tool 20>30
		lbr Tool 40>0
		chain Tool 10 51
		samples: used:1
		branches: used:2 binary_filter:1
		frames: used:2 binary_filter:2`
	const lib = `lbr libx.so 50>60 0>70
		chain libx.so 61 71
		samples: used:1
		branches: used:2 binary_filter:1
		frames: used:2 binary_filter:2`
	const none = `samples: binary_filter:1
		branches: binary_filter:2 cross_binary:1
		frames: binary_filter:4`
	for _, tc := range []struct{ filter, want string }{
		{"tool", tool},
		{"TOOL", tool},
		{"/opt/app/tool", tool},
		{"App/Tool", tool},
		{`..\App\Tool`, tool},
		{"Tool.exe", none},
		{"pp/Tool", none},
		{"libx.so", lib},
		{"/lib/libx.so", lib},
		{"libx", none},
	} {
		scenario{name: tc.filter, script: script, want: tc.want, options: Options{Binaries: []string{tc.filter}}}.run(t)
	}
}

// TestTimeFilter has samples at 5, 6 and 7 seconds of a clock; the first one
// is the start of the recording.
func TestTimeFilter(t *testing.T) {
	const script = `
		1 map 10 1000+1000 0 /t/app
		7000000000 sample 10 1030
		5000000000 sample 10 1010
		6000000000 sample 10 1020
	`
	for _, tc := range []struct {
		text string
		want string
	}{
		{"0,1", "ip app+10\nsamples: used:1 time_filter:2"},
		{"0,1.000000001", "ip app+10\nip app+20\nsamples: used:2 time_filter:1"},
		{"1,", "ip app+30\nip app+20\nsamples: used:2 time_filter:1"},
		{",1.5", "ip app+10\nip app+20\nsamples: used:2 time_filter:1"},
		{",", "ip app+30\nip app+10\nip app+20\nsamples: used:3"},
		{" 1 , 2 ", "ip app+20\nsamples: used:1 time_filter:2"},
		{"3,4", "samples: time_filter:3"},
		{"0,999999999999", "ip app+30\nip app+10\nip app+20\nsamples: used:3"},
		{"99999999999,999999999999", "samples: time_filter:3"},
	} {
		r, ok := ParseTimeRange(tc.text)
		if !ok {
			t.Errorf("%q is not understood", tc.text)
			continue
		}
		scenario{name: tc.text, script: script, want: tc.want, options: Options{Time: r}}.run(t)
		scenario{name: tc.text + " with the time of the first sample", script: script, want: tc.want, options: Options{Time: r},
			recording: recording{features: perfdata.Features{FirstSample: 5e9, LastSample: 7e9}}}.run(t)
	}
	for _, text := range []string{"", "1", "1,1", "2,1", "0,0", "-1,2", "a,", ",b", "nan,", "1,inf", "1e13,"} {
		if r, ok := ParseTimeRange(text); ok {
			t.Errorf("%q is taken as %v", text, *r)
		}
	}
}

func TestTimeRangeSaturates(t *testing.T) {
	from, to := (&TimeRange{From: 1e11, To: 9e11}).nanoseconds(math.MaxUint64 - 5)
	if from != math.MaxUint64 || to != math.MaxUint64 {
		t.Errorf("from %d to %d", from, to)
	}
}

// TestFactsIgnoreFilters checks that the facts of an input count what it holds.
func TestFactsIgnoreFilters(t *testing.T) {
	path := recording{}.write(t, twoBinaries+`
		2 sample 10 1010 lbr 1020>1030 0>0 chain USER 1010 1051
		3 sample 11 1010 lbr 1020>1030
		4 sample 10 1010 guest chain KERNEL 1010 USER 1010`)
	for _, o := range []Options{{}, {PIDs: []uint32{1}}, {Binaries: []string{"x"}}, {Time: &TimeRange{From: 9}}, {NoKernel: true}, {Processes: []string{"x"}}} {
		_, f, _ := outcome(t, path, o)
		if f.Samples != 3 || f.BranchEntries != 3 || f.CallchainFrames != 4 {
			t.Errorf("%+v: %d samples, %d branches, %d frames; want 3, 3, 4", o, f.Samples, f.BranchEntries, f.CallchainFrames)
		}
	}
}

func TestPathMap(t *testing.T) {
	for _, tc := range []struct {
		settings []string
		path     string
		want     string // empty: not mapped
	}{
		{[]string{"/build=/here"}, "/build/out/app", "/here/out/app"},
		{[]string{"/build/=/here/"}, "/build/out/app", "/here/out/app"},
		{[]string{"/build=/here"}, "/build", "/here"},
		{[]string{"/build=/here"}, "/builder/app", ""},
		{[]string{"/build=/here"}, "/x/build/app", ""},
		{[]string{"/a=/1", "/a/b=/2"}, "/a/b/app", "/1/b/app"},
		{[]string{"/=/root"}, "/usr/bin/app", "/root/usr/bin/app"},
		{[]string{`C:\out=/here`}, `C:\out\bin\app.exe`, "/here/bin/app.exe"},
	} {
		var o Options
		for _, s := range tc.settings {
			m, ok := ParsePathMap(s)
			if !ok {
				t.Fatalf("%q is not understood", s)
			}
			o.PathMap = append(o.PathMap, m)
		}
		local, mapped := o.localPath(tc.path)
		want := tc.want
		if want == "" {
			want = tc.path
		}
		if local != want || mapped != (tc.want != "") {
			t.Errorf("%v: %s becomes %s, %v; want %s", tc.settings, tc.path, local, mapped, want)
		}
	}
	for _, s := range []string{"", "=", "/a", "/a=", "=/b"} {
		if _, ok := ParsePathMap(s); ok {
			t.Errorf("%q is taken", s)
		}
	}
}
