package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// execute runs the command and returns its exit code and output.
func execute(args ...string) (code int, out, errors string) {
	var o, e bytes.Buffer
	code = command().Execute(args, cli.Streams{In: bytes.NewReader(nil), Out: &o, Err: &e})
	return code, o.String(), e.String()
}

func TestBuild(t *testing.T) {
	for _, x := range []struct {
		image, pdb, guid string
		age              uint32
	}{
		{"minivm.elf", "", "{51D79EBB-8A0A-4731-85F7-1BC6F5F39728}", 0},
		{"pe/minivm.exe", "pe/minivm.pdb", "{008B8BD7-179D-C6AB-4C4C-44205044422E}", 1},
	} {
		image := corpus.Path(t, "programs", x.image)
		output := filepath.Join(t.TempDir(), "out.spd")
		args := []string{"/build:" + image, "--json", output}
		if x.pdb != "" {
			args = append(args, "/pdb:"+corpus.Path(t, "programs", x.pdb))
		}
		code, out, errors := execute(args...)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", x.image, code, errors)
		}
		var r report.Built
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if r.GUID != x.guid || r.Age != x.age || r.Functions < 15 || r.Tables < 1 || r.Unresolved != 0 {
			t.Errorf("%s: got %+v", x.image, r)
		}
		f, err := spd.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		if f.Header.Binary != filepath.Base(image) || f.Header.GUID.String() != x.guid || f.Header.Age != x.age {
			t.Errorf("%s: header %+v", x.image, f.Header)
		}
		for v := range f.Violations() {
			t.Errorf("%s: %v", x.image, v)
		}
	}
}

// TestBuildMissing imports into an SPD that is not there yet.
func TestBuildMissing(t *testing.T) {
	image := corpus.Path(t, "programs/minivm.elf")
	folder := t.TempDir()
	name := func(s string) string { return filepath.Join(folder, s) }
	code, text, errors := execute("/build:"+image, name("fresh.spd"))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errors)
	}
	for _, line := range []string{
		"minivm.elf {51D79EBB-8A0A-4731-85F7-1BC6F5F39728} age 0\n",
		"\nfunctions      18 (12 symtab, 5 plt, 1 eh-frame)\n",
		"\njump tables    1 with 9 entries; 0 jumps have unknown targets\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in the output:\n%s", line, text)
		}
	}
	f, err := spd.ReadFile(name("fresh.spd"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name("run.spt"), walks(t, f, true), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := execute(name("new.spd"), name("run.spt")); code != 1 {
		t.Errorf("without an image: exit code %d, want 1", code)
	}
	if code, _, errors := execute(name("new.spd"), name("run.spt"), "--image", image, "--provenance", name("new.json")); code != 0 {
		t.Fatalf("exit code %d: %s", code, errors)
	}
	code, text, errors = execute(name("fresh.spd"), name("run.spt"))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errors)
	}
	// What is said of linked programs is not said of all code of an image.
	for line, want := range map[string]bool{
		"\n  functions with counts : ": true, "\nHot functions           : ": true, "Coverage verdict": false, "Compiled for speed": false,
	} {
		if strings.Contains(text, line) != want {
			t.Errorf("%q is in the output: %v, want %v:\n%s", line, !want, want, text)
		}
	}
	if _, text, _ := execute("/summary", "--json", name("fresh.spd")); !strings.Contains(text, `"machine_code": true`) || !strings.Contains(text, `"verdict": "none"`) {
		t.Error(text)
	}
	got, err := os.ReadFile(name("new.spd"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(name("fresh.spd"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the SPD is another one than that of two steps")
	}
	var p provenance
	written, err := os.ReadFile(name("new.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(written, &p); err != nil || p.SPD == nil || p.SPD.File != filepath.ToSlash(image) {
		t.Errorf("provenance %s: %v", written, err)
	}
}

func TestBuildErrors(t *testing.T) {
	folder := t.TempDir()
	image := corpus.Path(t, "programs/pe/minivm.exe")
	for _, x := range []struct {
		name string
		args []string
		code int
	}{
		{"no output", []string{"/build:" + image}, 2},
		{"two outputs", []string{"/build:" + image, "a.spd", "b.spd"}, 2},
		{"no image", []string{"/build:" + filepath.Join(folder, "none"), filepath.Join(folder, "a.spd")}, 1},
		{"no program", []string{"/build:" + corpus.Path(t, "programs/minivm.c"), filepath.Join(folder, "a.spd")}, 1},
		{"PDB of another image", []string{"/build:" + image, "/pdb:" + corpus.Path(t, "programs/pe/wordstat.pdb"), filepath.Join(folder, "a.spd")}, 3},
		{"another option", []string{"/build:" + image, "/retire:3", filepath.Join(folder, "a.spd")}, 2},
		{"PDB without image", []string{"/pdb:a.pdb", filepath.Join(folder, "a.spd")}, 2},
		{"another form", []string{"/build:" + image, "/reset", filepath.Join(folder, "a.spd")}, 2},
		{"over the image", []string{"/build:" + image, image}, 2},
	} {
		if code, _, errors := execute(x.args...); code != x.code {
			t.Errorf("%s: exit code %d, want %d: %s", x.name, code, x.code, errors)
		}
	}
}

// TestBuildOfPoorImages tells what an image lacks and how to get it.
func TestBuildOfPoorImages(t *testing.T) {
	whole, err := os.ReadFile(corpus.Path(t, "programs", "minivm.elf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		image []byte
		code  int
		want  string
	}{
		{"without build id", bytes.ReplaceAll(whole, []byte("GNU\x00"), []byte("???\x00")), 0, "--build-id"},
		{"without code", whole[:0x400], 6, "a file that ends before it"},
		{"without section table", whole[:len(whole)*3/4], 6, "an SPD of it has only the functions that were found"},
		{"with code that it claims", claimCode(whole), 0, ""},
	} {
		dir := t.TempDir()
		image := filepath.Join(dir, "poor.elf")
		if err := os.WriteFile(image, x.image, 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, errors := execute("/build:"+image, filepath.Join(dir, "out.spd"))
		if code != x.code || !strings.Contains(errors, x.want) {
			t.Errorf("%s: exit code %d, want %d and %q: %s", x.name, code, x.code, x.want, errors)
		}
	}
}

// claimCode makes the sections of an ELF image that have no data code of 2 GB.
func claimCode(image []byte) []byte {
	b := bytes.Clone(image)
	le := binary.LittleEndian
	table := b[le.Uint64(b[0x28:]):]
	for range le.Uint16(b[0x3C:]) {
		const noBits, executable = 8, 4
		if le.Uint32(table[4:]) == noBits {
			le.PutUint64(table[8:], le.Uint64(table[8:])|executable)
			le.PutUint64(table[0x20:], 0x7FFF0000)
		}
		table = table[0x40:]
	}
	return b
}

// TestJobs takes any number of jobs from 1 on, and makes the same of all.
func TestJobs(t *testing.T) {
	image := corpus.Path(t, "programs/minivm.elf")
	folder := t.TempDir()
	var first []byte
	for _, jobs := range []string{"1", "7", "1000000000"} {
		output := filepath.Join(folder, jobs+".spd")
		if code, _, errors := execute("/build:"+image, "-j"+jobs, output); code != 0 {
			t.Fatalf("-j%s: exit code %d: %s", jobs, code, errors)
		}
		got, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if !bytes.Equal(got, first) {
			t.Errorf("-j%s makes another SPD than -j1", jobs)
		}
	}
	for _, args := range [][]string{
		{"/build:" + image}, {"/export:llvm", "1.spd"}, {"/merge", "1.spd", "2.spd"}, {"1.spd", "1.spt"},
	} {
		for _, jobs := range []string{"0", "-1"} {
			code, _, errors := execute(append(args, filepath.Join(folder, "none"), "--jobs="+jobs)...)
			if code != 2 || !strings.Contains(errors, "-j takes a number of workers from 1 on") {
				t.Errorf("%v with %s jobs: exit code %d: %s", args, jobs, code, errors)
			}
		}
	}
}
