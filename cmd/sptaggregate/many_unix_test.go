//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// manyInputs writes a list of different inputs of all kinds.
func manyInputs(t *testing.T, dir string, count int) {
	t.Helper()
	recording, err := os.ReadFile("../../testdata/demo/collatz.data")
	if err != nil {
		t.Fatal(err)
	}
	image := etl.TraceImage{Path: `\Device\HarddiskVolume3\app\app.exe`, Base: 0x400000, Size: 1 << 20, PDB: "app.pdb", PDBAge: 1, PDBGUID: binfmt.GUID{1}}
	var list strings.Builder
	for i := range count {
		var content bytes.Buffer
		var err error
		name := fmt.Sprintf("%03d", i)
		switch i % 4 {
		case 0:
			name += ".data"
			content.Write(recording)
		case 1:
			name += ".etl"
			const hour = 36_000_000_000
			err = etl.WriteTrace(&content, &etl.Trace{Start: 133_500_000_000_000_000 + int64(i)*hour, Processors: 1, BufferSize: 16 << 10, Merged: true, Arch: etl.ArchX64, Duration: 1000,
				Processes: []etl.TraceProcess{{PID: 4000, Name: "app.exe", Images: []etl.TraceImage{image}, Threads: []uint32{4004}}},
				Samples: func(yield func(etl.TraceSample) bool) {
					yield(etl.TraceSample{Time: 500, PID: 4000, TID: 4004, IP: image.Base + uint64(i), Source: etl.SourceTimer})
				}})
		default:
			name += ".spt"
			var w *spt.Writer
			w, err = spt.NewWriter(&content, []spt.ProgramID{{GUID: binfmt.GUID{1}, Age: 1, Name: "app.exe"}}, nil)
			if err == nil {
				err = errors.Join(w.BeginBinary(0), w.LBR([]spt.Pair{{To: uint32(i), From: 0x2000}}, uint64(i)), w.Close())
			}
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content.Bytes(), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&list, name)
	}
	if err := os.WriteFile(filepath.Join(dir, "list"), []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMoreInputsThanHandles reads more inputs than a process may have open, in
// one run, with --resume, and in shares that are folded: the bytes are those of
// a run with one worker and without a bound.
func TestMoreInputsThanHandles(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	const inputs, handles = 160, 64
	dir := t.TempDir()
	manyInputs(t, dir, inputs)
	run := func(before, args, out string) []byte {
		t.Helper()
		c := exec.Command("sh", "-c", before+"exec sptaggregate -q "+args+" -o "+out)
		c.Dir = dir
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s%s: %v\n%s", before, args, err, text)
		}
		data, err := os.ReadFile(filepath.Join(dir, out))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	bound := fmt.Sprintf("ulimit -n %d && ", handles)
	want := run("", "@list -j1", "want.spt")
	for _, args := range []string{"@list -j4", "@list -j4 --resume", "@list -j4 --max-memory 64M"} {
		if !bytes.Equal(run(bound, args, "got.spt"), want) {
			t.Errorf("%s: other bytes than with one worker", args)
		}
	}
	for i := 1; i <= 3; i++ {
		run(bound, fmt.Sprintf("@list -j4 --shard %d/3", i), fmt.Sprintf("part%d.spt", i))
	}
	if !bytes.Equal(run(bound, "part1.spt part2.spt part3.spt", "got.spt"), want) {
		t.Error("shares: other bytes than of the whole list")
	}
}
