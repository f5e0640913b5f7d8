package collect

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

func words(ws ...int32) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.NativeEndian.AppendUint32(b, uint32(w))
	}
	return b
}

func mapBody(pid int32, name string) []byte {
	body := append(words(pid, pid), make([]byte, mmap2Name-8)...)
	return append(append(body, name...), 0)
}

// TestSideband lives through forks, execs and exits and asks each time what a
// new piece would begin with.
func TestSideband(t *testing.T) {
	s := newSideband()
	fork := func(pid, parent int32) {
		s.note(perfdata.TypeFork, 0, append(words(pid, parent, pid, parent), make([]byte, 8)...))
	}
	exit := func(pid, tid int32) {
		s.note(perfdata.TypeExit, 0, append(words(pid, 1, tid, 1), make([]byte, 8)...))
	}
	exec := func(pid int32) {
		s.note(perfdata.TypeComm, perfdata.MiscCommExec, append(words(pid, pid), "app\x00"...))
	}
	want := func(when string, want ...string) {
		t.Helper()
		s.prune()
		var got []string
		s.replay(func(typ perfdata.Type, _ uint16, body []byte) error {
			text := fmt.Sprintf("%v %d", typ, pidOf(body))
			if name, ok := mapName(typ, body); ok {
				text += " " + name
			}
			got = append(got, text)
			return nil
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	s.note(perfdata.TypeMmap2, 0, mapBody(10, "/bin/sh"))
	s.note(perfdata.TypeSample, 0, words(10, 10))
	want("one process", "MMAP2 10 /bin/sh")
	fork(11, 10)
	exit(10, 99) // a thread
	want("a child", "MMAP2 10 /bin/sh", "FORK 11")
	exit(10, 10)
	want("a dead parent whose mappings the child inherited", "MMAP2 10 /bin/sh", "EXIT 10", "FORK 11")
	s.note(perfdata.TypeMmap2, 0, mapBody(11, "/lib/old"))
	exec(11)
	s.note(perfdata.TypeMmap2, 0, mapBody(11, "/bin/app"))
	want("the child runs another program", "MMAP2 10 /bin/sh", "EXIT 10", "FORK 11", "COMM 11", "MMAP2 11 /bin/app")
	exit(11, 11)
	want("all are dead")
	if len(s.byPID) != 0 {
		t.Errorf("%d processes are still known", len(s.byPID))
	}
	for _, short := range [][]byte{nil, words(1)} {
		for typ := range perfdata.Type(23) {
			s.note(typ, 0, short)
		}
	}
	want("records that are too short")
}

func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		options Options
		vendor  string
		want    string
	}{
		{Options{}, "GenuineIntel", "[br_inst_retired.near_taken:u+ cycles:u+ instructions:u cycles:u cpu-clock:u]"},
		{Options{}, "AuthenticAMD", "[ex_ret_brn_tkn:u+ cycles:u+ instructions:u cycles:u cpu-clock:u]"},
		{Options{}, "", "[cycles:u+ instructions:u cycles:u cpu-clock:u]"},
		{Options{Branches: Yes}, "", "[cycles:u+]"},
		{Options{Branches: No}, "GenuineIntel", "[instructions:u cycles:u cpu-clock:u]"},
		{Options{Event: "cycles"}, "", "[cycles:u+ cycles:u]"},
		{Options{Event: "CYCLES:u", Branches: No}, "", "[cycles:u]"},
		{Options{Event: "cpu-clock"}, "", "[cpu-clock:u]"},
		{Options{Event: "r1c4", Branches: Yes}, "", "[r1c4:u+]"},
		{Options{Event: "taken-branches"}, "AuthenticAMD", "[ex_ret_brn_tkn:u+ ex_ret_brn_tkn:u]"},
		{Options{Event: "taken-branches"}, "", "error"},
		{Options{Event: "nonsense"}, "", "error"},
		{Options{Event: "r12zz"}, "", "error"},
	} {
		list, err := candidates(&c.options, c.vendor)
		var names []string
		for _, e := range list {
			name := e.name
			if e.branches {
				name += "+"
			}
			names = append(names, name)
		}
		got := fmt.Sprint(names)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%+v on %q: %s, want %s", c.options, c.vendor, got, c.want)
		}
	}
}
