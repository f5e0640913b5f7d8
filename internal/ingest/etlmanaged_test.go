package ingest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/diag"
)

// TestManaged follows code that is compiled at run time: methods come and go,
// addresses are used again, and a native image is an ordinary binary.
func TestManaged(t *testing.T) {
	const script = machineLines + `
		0 id 100 500000 rsds=9 age=1 managed
		0 id 100 500000 rsds=5 age=6
		0 image there 100 500000+1000 \Device\HarddiskVolume3\Windows\assembly\core.ni.dll
		0 image there 100 510000+1000 \Device\HarddiskVolume3\app\r2r.dll
		1 module start 100 71 C:\gac\core.dll native=C:\Windows\assembly\core.ni.dll
		1 module start 100 72 C:\app\r2r.dll
		2 method start 100 800000+100 71 First 8
		3 timer 104 800010
		4 timer 104 500010      # precompiled
		5 timer 104 510010      # ReadyToRun
		6 method end 100 800000+100 71 First 8
		7 timer 104 800010      # nothing there now
		8 method start 100 800000+80 72 Second 8
		9 timer 104 800010
		10 timer 104 8000f0     # behind the end
		11 timer 204 800010     # in another process
		12 stack 9 104 100 800010 400020 800020 400030 400040
		13 method still 100 900000+100 71 Old 8
		13 method still 100 500000+100 71 Precompiled 0
		14 timer 104 400010
		15 lbr 9 104 100 0 800010>800020 400010>400020`
	path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), script, nil)
	text, facts, reg := logOutcome(t, Options{}, path)
	const want = `ip core.ni.dll+10 op=41
ip r2r.dll+10 op=41
chain app.exe 30 40
ip app.exe+10 op=41
lbr app.exe 10>20
samples: used:4 jit:1 unmapped:3
branches: used:1 jit:1
frames: used:2 jit:2 single_frame:1
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, b := reg.find(t, "core.ni.dll"); b.GUID != rsds(5) {
		t.Errorf("the native image has %v", b.GUID)
	}
	managed := &Managed{JIT: 2,
		Methods: []ManagedMethod{{"N.First(int32)", "core.dll", 1}, {"N.Second(int32)", "r2r.dll", 1}},
		Modules: []ManagedModule{{`C:\app\r2r.dll`, 1, 1}, {`C:\gac\core.dll`, 1, 1}},
	}
	if diff := cmp.Diff(managed, facts[0].Managed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w := codes(facts[0]); strings.Contains(w, "SPT102") {
		t.Errorf("warnings %s", w)
	}
}

// TestManagedRundown checks that a method of which only a rundown tells was
// there all the time, and that there is a limit to the list of methods.
func TestManagedRundown(t *testing.T) {
	script := machineLines
	for i := range 2 * shownMethods {
		script += fmt.Sprintf("%d timer 104 %x\n", i+1, 0x800000+0x100*i)
	}
	script += "90 timer 104 800000\n"
	for i := range 2 * shownMethods {
		script += fmt.Sprintf("100 method still 100 %x+80 71 M%03d 8\n", 0x800000+0x100*i, i)
	}
	path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), script, nil)
	_, facts, _ := logOutcome(t, Options{}, path)
	m := facts[0].Managed
	if m == nil || m.JIT != 2*shownMethods+1 || len(m.Methods) != shownMethods || m.Methods[0] != (ManagedMethod{"N.M000(int32)", "", 2}) || len(m.Modules) != 0 {
		t.Errorf("%+v", m)
	}
}

// TestProfilers checks the warnings about code that a profiler changed.
func TestProfilers(t *testing.T) {
	const samples = "50 timer 104 800010\n51 timer 104 800020\n52 timer 204 900010\n"
	for _, tc := range []struct {
		name, script string
		options      Options
		codes        string
		parts        []string
	}{
		{"release code", `
			1 method start 100 800000+100 71 A 208  # second tier
			1 method start 100 801000+100 71 B 188  # quick`, Options{}, "", nil},
		{"precompiled code rejected", `
			1 method start 100 800000+100 71 A 28
			1 method start 100 801000+100 71 B 28
			1 method start 200 900000+100 71 C 28`, Options{}, "SPT1020", []string{
			"3 2 methods of app.exe (100) with 2 samples, 1 methods of tool.exe (200) with 1 samples", "0x20",
			"COR_PRF_USE_PROFILE_IMAGES", "COR_PRF_MONITOR_ENTERLEAVE", "COR_PRF_MONITOR_CODE_TRANSITIONS",
			"COR_PRF_DISABLE_INLINING", "COR_PRF_DISABLE_OPTIMIZATIONS", "does not describe a release"}},
		{"of the process asked for", `
			1 method start 100 800000+100 71 A 28
			1 method start 200 900000+100 71 C 28`, Options{Processes: []string{"tool"}}, "SPT1020", []string{"1 1 methods of tool.exe (200) with 1 samples"}},
		{"of the process id asked for", `
			1 method start 100 800000+100 71 A 28`, Options{PIDs: []uint32{200}}, "", nil},
		{"ReadyToRun code rejected", `
			1 method start 100 800000+100 71 A 48`, Options{}, "SPT1021", []string{"1 1 methods of app.exe (100) with 2 samples", "0x40", "COR_PRF_"}},
		{"ReJIT", `
			1 method start 100 800000+100 71 A 8 rejit=3`, Options{}, "SPT1022", []string{"1 1 methods of app.exe (100) with 2 samples", "ReJIT id", "COR_PRF_ENABLE_REJIT"}},
		{"never optimised", `
			1 method start 100 800000+100 71 A 88
			1 method start 100 801000+100 71 B 188
			1 method start 200 900000+100 71 C 88
			1 method start 200 901000+100 71 D 108`, Options{}, "SPT1023", []string{"2 2 methods of app.exe (100) with 2 samples", "lowest optimisation tier", "COR_PRF_DISABLE_OPTIMIZATIONS", "COR_PRF_DISABLE_INLINING"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), machineLines+tc.script+"\n"+samples, nil)
			_, facts, _ := logOutcome(t, tc.options, path)
			var about []string
			for _, c := range strings.Fields(codes(facts[0])) {
				if strings.HasPrefix(c, "SPT102") {
					about = append(about, c)
				}
			}
			if got := strings.Join(about, " "); got != tc.codes {
				t.Fatalf("warnings %q, want %q", got, tc.codes)
			}
			if tc.codes != "" {
				contains(t, warning(t, facts[0], diag.Code(tc.codes)), tc.parts...)
			}
		})
	}
}
