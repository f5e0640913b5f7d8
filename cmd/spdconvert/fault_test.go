package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spgo-tools/spgo/internal/filelock"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// folder makes a folder with app.spd of many functions, a.spt and b.spt.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	f := app()
	first := f.Modules[0].Functions[1]
	f.Modules[0].Functions = f.Modules[0].Functions[:0]
	const functions = 3000
	var a, b []uint32
	for i := range uint32(functions) {
		fn := first
		fn.Name = fmt.Sprintf("function%d", i)
		fn.ID, fn.Ordinal, fn.RVA = spd.FunctionID(fn.Name), 2*i, 0x1000+0x40*i
		fn.Callees = nil
		fn.Blocks = nil
		for _, block := range first.Blocks {
			block.Edges = append([]spd.Edge(nil), block.Edges...)
			fn.Blocks = append(fn.Blocks, block)
		}
		f.Modules[0].Functions = append(f.Modules[0].Functions, fn)
		if i%2 == 0 {
			a = append(a, fn.RVA, fn.RVA+0x10, fn.RVA+0x18)
		}
		if i%3 == 0 {
			b = append(b, fn.RVA, fn.RVA, fn.RVA+0x18)
		}
	}
	var buf bytes.Buffer
	if err := spd.Write(&buf, f); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("app.spd", buf.Bytes())
	for name, rvas := range map[string][]uint32{"a.spt": a, "b.spt": b} {
		buf.Reset()
		w, err := spt.NewWriter(&buf, []spt.ProgramID{{GUID: f.Header.GUID, Age: f.Header.Age, Name: f.Header.Binary}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.BeginBinary(0); err != nil {
			t.Fatal(err)
		}
		if err := w.IP(spt.OpRetireInstr, rvas, 7); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		write(name, buf.Bytes())
	}
	return dir
}

func content(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// convert runs the command in a folder.
func convert(dir string, args ...string) *exec.Cmd {
	c := exec.Command("spdconvert", args...)
	c.Dir = dir
	return c
}

func mustConvert(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := convert(dir, args...).CombinedOutput(); err != nil {
		t.Fatalf("spdconvert %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// leftovers are the files of a folder that no run should leave.
func leftovers(t *testing.T, dir string, expected ...string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.Contains(" "+strings.Join(expected, " ")+" ", " "+e.Name()+" ") {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestKilled kills imports at random moments: the SPD is the old or the new
// one, and the next run removes what a killed one left.
func TestKilled(t *testing.T) {
	kills := 20
	if os.Getenv("SPGO_LONG") == "1" {
		kills = 200
	}
	dir := folder(t)
	old := content(t, dir, "app.spd")
	begin := time.Now()
	mustConvert(t, dir, "app.spd", "a.spt", "-o", "new.spd")
	duration := time.Since(begin)
	imported := content(t, dir, "new.spd")
	rnd := rand.New(rand.NewPCG(1, 1))
	outcomes, left := map[string]int{}, 0
	for range kills {
		if err := os.WriteFile(filepath.Join(dir, "app.spd"), old, 0o644); err != nil {
			t.Fatal(err)
		}
		c := convert(dir, "app.spd", "a.spt")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rnd.Int64N(int64(duration) * 5 / 4)))
		c.Process.Kill()
		c.Wait()
		switch got := content(t, dir, "app.spd"); {
		case bytes.Equal(got, old):
			outcomes["old"]++
		case bytes.Equal(got, imported):
			outcomes["new"]++
		default:
			t.Fatalf("the SPD is neither the old nor the new one: %d bytes", len(got))
		}
		left += len(leftovers(t, dir, "app.spd", "new.spd", "a.spt", "b.spt"))
	}
	mustConvert(t, dir, "/retire:0", "app.spd")
	if names := leftovers(t, dir, "app.spd", "new.spd", "a.spt", "b.spt"); len(names) > 0 {
		t.Errorf("the next run leaves %v", names)
	}
	t.Logf("%d kills: %v; temporary files seen %d times", kills, outcomes, left)
}

// TestConcurrentImports runs imports into one SPD at the same time: none is
// lost.
func TestConcurrentImports(t *testing.T) {
	dir := folder(t)
	old := content(t, dir, "app.spd")
	mustConvert(t, dir, "/retire:0", "app.spd", "a.spt")
	mustConvert(t, dir, "/retire:0", "app.spd", "b.spt")
	both := content(t, dir, "app.spd")
	for range 3 {
		if err := os.WriteFile(filepath.Join(dir, "app.spd"), old, 0o644); err != nil {
			t.Fatal(err)
		}
		var running []*exec.Cmd
		for _, samples := range []string{"a.spt", "b.spt"} {
			c := convert(dir, "/retire:0", "app.spd", samples)
			c.Stderr = os.Stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, c)
		}
		for _, c := range running {
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(content(t, dir, "app.spd"), both) {
			t.Fatal("an import was lost")
		}
	}
	if names := leftovers(t, dir, "app.spd", "a.spt", "b.spt"); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

// TestWaiting says that it waits, and ends when it is interrupted.
func TestWaiting(t *testing.T) {
	dir := folder(t)
	old := content(t, dir, "app.spd")
	lock, err := filelock.Acquire(context.Background(), filepath.Join(dir, "app.spd"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	c := convert(dir, "app.spd", "a.spt")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	const want = "spdconvert: waiting for another program that works on app.spd\n"
	text := make([]byte, len(want))
	if _, err := io.ReadFull(stderr, text); err != nil || string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		c.Process.Kill() // Windows has no such signal
	}
	rest, _ := io.ReadAll(stderr)
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() == 1 && !strings.Contains(string(rest), "SPT0006") {
		t.Errorf("%v: %s", err, rest)
	}
	if !bytes.Equal(content(t, dir, "app.spd"), old) {
		t.Error("the SPD changed")
	}
}
