package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/export"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// counted makes a folder with an image and its SPD: fresh.spd without counts
// and minivm.spd, in which every block of each function has been executed
// as often as the function has instructions.
func counted(t *testing.T) (dir, image string) {
	t.Helper()
	dir = t.TempDir()
	image = filepath.Join(dir, "minivm.elf")
	data, err := os.ReadFile(corpus.Path(t, "programs/minivm.elf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(image, data, 0o755); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(dir, "fresh.spd")
	if code, _, errors := execute("/build:"+image, fresh); code != 0 {
		t.Fatal(errors)
	}
	f, err := spd.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	f.Header.Flags |= spd.HeaderImported
	for k := range f.Modules[0].Functions {
		fn := &f.Modules[0].Functions[k]
		var size uint64
		for b := range fn.Blocks {
			size += uint64(fn.Blocks[b].Instructions)
		}
		for b := range fn.Blocks {
			fn.Blocks[b].Count = 256 * size
			for e := range fn.Blocks[b].Edges {
				fn.Blocks[b].Edges[e].Count = 256 * size / uint64(len(fn.Blocks[b].Edges))
			}
		}
	}
	f.Header.Statistics = f.ComputeStatistics()
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "minivm.spd"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, image
}

func TestExport(t *testing.T) {
	dir, image := counted(t)
	database := filepath.Join(dir, "minivm.spd")
	for _, format := range export.Formats {
		output := filepath.Join(dir, "out."+string(format))
		code, out, errors := execute("/export:"+string(format), "--json", database, output)
		var r report.Exported
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
			t.Fatalf("%s: exit code %d, %v: %s", format, code, err, errors)
		}
		if r.SPD != database || r.Image != image || r.Output != output || r.Format != string(format) ||
			r.Functions < 10 || r.Exported < 4 || r.Records < 20 || r.Kept != r.Whole || r.KeptShare != 100 || r.Trimmed != 0 {
			t.Errorf("%s: %+v", format, r)
		}
		first, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}

		// Once more over it, with less.
		code, out, errors = execute("/export:"+string(format), "--image", image, "--trim", "80%", database, output)
		if code != 0 || !strings.Contains(out, "kept weight    ") || !strings.Contains(out, " left out") {
			t.Errorf("%s: exit code %d: %s%s", format, code, out, errors)
		}
		less, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		if len(less) >= len(first) || len(less) == 0 {
			t.Errorf("%s: %d bytes, trimmed %d", format, len(first), len(less))
		}

		code, out, errors = execute("/export:"+string(format), database, "-")
		if code != 0 || out != string(first) || !strings.Contains(errors, string(format)+" profile of ") {
			t.Errorf("%s to standard output: exit code %d: %d bytes, %s", format, code, len(out), errors)
		}
	}
}

// TestExportWindows exports an SPD of a Windows program by the lines of its PDB.
func TestExportWindows(t *testing.T) {
	image, pdb := corpus.Path(t, "programs/pe/minivm.exe"), corpus.Path(t, "programs/pe/minivm.pdb")
	database := filepath.Join(t.TempDir(), "minivm.spd")
	if code, _, errors := execute("/build:"+image, "/pdb:"+pdb, database); code != 0 {
		t.Fatal(errors)
	}
	f, err := spd.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	f.Header.Flags |= spd.HeaderImported
	for k := range f.Modules[0].Functions {
		fn := &f.Modules[0].Functions[k]
		if strings.HasPrefix(fn.Name, "trap_") || fn.Name == "main" {
			for b := range fn.Blocks {
				fn.Blocks[b].Count = 256 * 7
			}
		}
	}
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(database, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errors := execute("/export:llvm", "--image", image, "/pdb:"+pdb, database, "-")
	if code != 0 {
		t.Fatal(errors)
	}
	// The lines of the source: trap_odd adds 1 on the line where it begins,
	// run is inlined into main on the 8th line, and calls the traps.
	for _, line := range []string{"trap_odd:", " 0: 7\n", " 8: run:", "  4: push:"} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
	data, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "minivm.exe") // its PDB would be found beside it
	if err := os.WriteFile(alone, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errors := execute("/export:llvm", "--image", alone, database, "-"); code != 4 || !strings.Contains(errors, "Name its PDB") {
		t.Errorf("without the PDB: exit code %d: %s", code, errors)
	}
}

func TestExportErrors(t *testing.T) {
	dir, image := counted(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("notes.txt"), []byte("keep me\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	other := corpus.Path(t, "programs/wordstat.elf")
	for _, x := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"unknown format", []string{"/export:gprof", in("minivm.spd"), in("out")}, 2, "the formats are"},
		{"no output", []string{"/export:llvm", in("minivm.spd")}, 2, "1 files are named"},
		{"image of another build", []string{"/export:llvm", "--image", other, in("minivm.spd"), in("out")}, 3, "the SPD is of another build"},
		{"no image", []string{"/export:llvm", "--image", in("none"), in("minivm.spd"), in("out")}, 1, "none"},
		{"PDB of no image", []string{"/export:llvm", "/pdb:" + other, in("minivm.spd"), in("out")}, 3, "another image"},
		{"no counts", []string{"/export:llvm", in("fresh.spd"), in("out")}, 4, "holds no counts"},
		{"over another file", []string{"/export:llvm", in("minivm.spd"), in("notes.txt")}, 2, "is no llvm profile"},
		{"over the SPD", []string{"/export:llvm", in("minivm.spd"), in("minivm.spd")}, 2, "the output is the input"},
		{"over the image", []string{"/export:bolt", in("minivm.spd"), image}, 2, "the output is the input"},
		{"over another SPD", []string{"/export:llvm", in("minivm.spd"), in("fresh.spd")}, 2, "is no llvm profile"},
		{"no percentage", []string{"/export:llvm", "--trim", "0", in("minivm.spd"), in("out")}, 2, "a percentage"},
		{"not a number", []string{"/export:llvm", "--trim", "NaN", in("minivm.spd"), in("out")}, 2, "a percentage"},
		{"trim without export", []string{"--trim", "90", in("minivm.spd")}, 2, "--trim is for /export"},
		{"another option", []string{"/export:llvm", "/retire:3", in("minivm.spd"), in("out")}, 2, "no meaning with /export"},
		{"another form", []string{"/export:llvm", "/reset", in("minivm.spd"), in("out")}, 2, "do not go together"},
	} {
		code, _, errors := execute(x.args...)
		if code != x.code || !strings.Contains(errors, x.says) {
			t.Errorf("%s: exit code %d, want %d: %s", x.name, code, x.code, errors)
		}
	}
	if b, err := os.ReadFile(in("notes.txt")); err != nil || string(b) != "keep me\n" {
		t.Errorf("the other file is %q, %v", b, err)
	}
	if _, err := os.Stat(in("out")); err == nil {
		t.Error("a failed export wrote something")
	}
	windows := corpus.Path(t, "programs/pe/minivm.exe")
	if code, _, errors := execute("/build:"+windows, "/pdb:"+corpus.Path(t, "programs/pe/minivm.pdb"), in("windows.spd")); code != 0 {
		t.Fatal(errors)
	}
	if code, _, errors := execute("/export:bolt", "--image", windows, in("windows.spd"), in("out")); code != 1 || !strings.Contains(errors, "BOLT optimizes ELF images only") {
		t.Errorf("a PE image for BOLT: exit code %d: %s", code, errors)
	}
	if err := os.Remove(image); err != nil {
		t.Fatal(err)
	}
	if code, _, errors := execute("/export:llvm", in("minivm.spd"), in("out")); code != 1 || !strings.Contains(errors, "--image") {
		t.Errorf("without the image: exit code %d: %s", code, errors)
	}
	if code, _, errors := execute("/export:llvm", "--image-path", corpus.Path(t, "programs"), in("minivm.spd"), in("out")); code != 0 {
		t.Errorf("with its folder: exit code %d: %s", code, errors)
	}
}
