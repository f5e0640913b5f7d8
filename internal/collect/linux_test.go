//go:build linux

package collect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

func TestParseMap(t *testing.T) {
	for _, c := range []struct {
		line string
		want *perfdata.Mmap
	}{
		{"55d0c0a000-55d0c0b000 r-xp 00001000 fd:01 1234                       /opt/my app/x (deleted)",
			&perfdata.Mmap{Mode: perfdata.ModeUser, V2: true, Addr: 0x55d0c0a000, Len: 0x1000, PgOff: 0x1000, Major: 0xfd, Minor: 1, Inode: 1234, Prot: 5, Flags: 2, Name: "/opt/my app/x (deleted)"}},
		{"7ffd10-7ffd20 rwxs 00000000 00:00 0 ",
			&perfdata.Mmap{Mode: perfdata.ModeUser, V2: true, Addr: 0x7ffd10, Len: 0x10, PgOff: 0x7ffd10, Prot: 7, Flags: 1, Name: "//anon"}},
		{"7ffd10-7ffd20 r-xp 00000000 00:00 0                  [vdso]",
			&perfdata.Mmap{Mode: perfdata.ModeUser, V2: true, Addr: 0x7ffd10, Len: 0x10, Prot: 5, Flags: 2, Name: "[vdso]"}},
		{"55d0c0a000-55d0c0b000 rw-p 00001000 fd:01 1234 /opt/x", nil},
		{"55d0c0b000-55d0c0a000 r-xp 00001000 fd:01 1234 /opt/x", nil},
		{"nonsense", nil},
		{"", nil},
	} {
		got, ok := parseMap(c.line)
		if ok != (c.want != nil) || ok && !cmp.Equal(got, c.want) {
			t.Errorf("%q: %+v", c.line, got)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	for list, want := range map[string]string{"0": "[0]", "0-3": "[0 1 2 3]", "0,2-3,8": "[0 2 3 8]", "3-1": "error", "": "error", "x": "error", "0-99999999": "error"} {
		cpus, err := parseCPUs(list)
		got := fmt.Sprint(cpus)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", list, got, want)
		}
	}
}

func TestRefusal(t *testing.T) {
	for _, c := range []struct {
		errno   unix.Errno
		options Options
		cause   string
		next    string
	}{
		{unix.EACCES, Options{Command: []string{"app"}}, "perf_event_paranoid is", "perf_event_paranoid=2"},
		{unix.EPERM, Options{}, "perf_event_paranoid is", "perf_event_paranoid=0"},
		{unix.ENOSYS, Options{}, "no perf events", "seccomp"},
		{unix.EMFILE, Options{}, "open file", "ulimit"},
		{unix.ESRCH, Options{PIDs: []int{1}}, "ended before", "process id"},
		{unix.EOPNOTSUPP, Options{Branches: Yes}, "virtual machines", "--branches"},
		{unix.ENOENT, Options{}, "container", "perf"},
	} {
		err := fmt.Errorf("perf_event_open: %w", os.NewSyscallError("x", c.errno))
		e := diag.Of(refusal(err, &c.options, []Attempt{{"cycles:u", reason(err)}}))
		if e.Code != diag.CannotSample || !strings.Contains(e.Error(), reason(err)) {
			t.Errorf("%v: %v", c.errno, e)
		}
		cause, next := e.Cause, e.Next
		if !strings.Contains(cause, c.cause) || !strings.Contains(next, c.next) {
			t.Errorf("%v: cause %q, next %q; want %q and %q", c.errno, cause, next, c.cause, c.next)
		}
	}
}

// TestForbidden tells a system that forbids sampling from a process of another
// user.
func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		level string
		root  bool
		pids  []int
		want  string
	}{
		{"2", false, []int{1}, "another user"},
		{"-1", false, []int{1}, "another user"},
		{"3", false, []int{os.Getpid()}, "perf_event_paranoid is 3"},
		{"unknown", false, []int{os.Getpid()}, "perf_event_paranoid is unknown"},
		{"2", true, []int{1}, "perf_event_paranoid is 2"},
		{"2", false, nil, "perf_event_paranoid is 2"},
	} {
		e := forbidden(diag.New(diag.CannotSample, "x"), c.level, c.root, &Options{PIDs: c.pids})
		if !strings.Contains(e.Cause, c.want) {
			t.Errorf("%+v: %q", c, e.Cause)
		}
	}
}

func TestArmAdvice(t *testing.T) {
	devices := t.TempDir()
	if e := armAdvice(devices); !strings.Contains(e.Cause, "arm_spe_pmu") {
		t.Errorf("without the device: %+v", e)
	}
	if err := os.Mkdir(filepath.Join(devices, "arm_spe_0"), 0o755); err != nil {
		t.Fatal(err)
	}
	if e := armAdvice(devices); !strings.Contains(e.Next, "perf record -e arm_spe/branch_filter=1,jitter=1/u") {
		t.Errorf("with the device: %+v", e)
	}
}
