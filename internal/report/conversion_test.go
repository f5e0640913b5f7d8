package report

import (
	"fmt"
	"strings"
	"testing"
)

// TestIncompatibleBounds: the recording of a machine has hundreds of programs,
// of which the nearest and those with most samples are of help, and names that
// nobody chose.
func TestIncompatibleBounds(t *testing.T) {
	in := Programs{File: "run.spt"}
	for i := range 30 {
		in.Programs = append(in.Programs, Program{Identity: Identity{Name: fmt.Sprintf("p%d.dll", i)}, Samples: uint64(i), Relation: "other program"})
	}
	in.Programs[1].Nearest, in.Programs[29].Name = true, "\x1b[2J"
	var b strings.Builder
	if err := (&Incompatible{Inputs: []Programs{in}}).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, want := range map[int]string{3: "  p1.dll  age 0: 1 samples (other program, nearest)", 4: `  \x1b[2J  age 0: 29 samples (other program)`,
		22: "  p11.dll  age 0: 11 samples (other program)", 23: "  10 others: 54 samples; --json lists all"} {
		if i >= len(lines) || lines[i] != want {
			t.Errorf("line %d: want %q in\n%s", i, want, b.String())
		}
	}
	if in.Programs[0].Name != "p0.dll" {
		t.Error("the order of JSON changed")
	}
}
