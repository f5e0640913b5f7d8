package collect

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// snapshot describes a process that ran before the sampling began, as perf
// does: its threads' names and its executable mappings. A process that ended
// meanwhile gives nothing.
func snapshot(pid int, emit func(perfdata.Event) error) error {
	tasks, err := threadsOf(pid)
	if err != nil {
		return nil
	}
	for _, tid := range tasks {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
		if err != nil {
			continue
		}
		comm := &perfdata.Comm{PID: int32(pid), TID: int32(tid), Name: strings.TrimSuffix(string(name), "\n")}
		if tid != pid {
			if err := emit(&perfdata.Task{Synthesized: true, PID: int32(pid), PPID: int32(pid), TID: int32(tid), PTID: int32(pid)}); err != nil {
				return err
			}
		}
		if err := emit(comm); err != nil {
			return err
		}
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m, ok := parseMap(lines.Text()); ok {
			m.PID, m.TID = int32(pid), int32(pid)
			if err := emit(m); err != nil {
				return err
			}
		}
	}
	return nil // what cannot be read of a process that ends is not there any more
}

// parseMap reads a line of /proc/PID/maps:
//
//	7f1c00-7f2c00 r-xp 00001000 fd:01 1234   /lib/x.so
//
// It is false for a mapping that is not executable.
func parseMap(line string) (*perfdata.Mmap, bool) {
	field := func() string {
		line = strings.TrimLeft(line, " ")
		f, rest, _ := strings.Cut(line, " ")
		line = rest
		return f
	}
	first, last, _ := strings.Cut(field(), "-")
	prot, offset, device, inode := field(), field(), field(), field()
	start, err1 := strconv.ParseUint(first, 16, 64)
	end, err2 := strconv.ParseUint(last, 16, 64)
	pgoff, err3 := strconv.ParseUint(offset, 16, 64)
	ino, err4 := strconv.ParseUint(inode, 10, 64)
	major, minor, _ := strings.Cut(device, ":")
	maj, err5 := strconv.ParseUint(major, 16, 32)
	min, err6 := strconv.ParseUint(minor, 16, 32)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || err5 != nil || err6 != nil || end <= start || len(prot) < 4 || prot[2] != 'x' {
		return nil, false
	}
	m := &perfdata.Mmap{Mode: perfdata.ModeUser, V2: true, Addr: start, Len: end - start, PgOff: pgoff,
		Major: uint32(maj), Minor: uint32(min), Inode: ino, Name: strings.TrimLeft(line, " ")}
	for i, bit := range []uint32{1, 2, 4} {
		if prot[i] != '-' {
			m.Prot |= bit
		}
	}
	m.Flags = 2
	if prot[3] == 's' {
		m.Flags = 1
	}
	if m.Name == "" {
		m.Name, m.PgOff = "//anon", start
	}
	return m, true
}

// threadsOf lists the threads of a process.
func threadsOf(pid int) ([]int, error) {
	return numbers(fmt.Sprintf("/proc/%d/task", pid))
}

// processes lists all processes.
func processes() ([]int, error) { return numbers("/proc") }

// numbers lists the names in a folder that are numbers, ascending.
func numbers(dir string) ([]int, error) {
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	var ns []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			ns = append(ns, n)
		}
	}
	slices.Sort(ns)
	return ns, nil
}
