package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/spt"
)

const sptText = `spt 1
program 0 {04030201-0605-0807-090A-0B0C0D0E0F10} age 7 "app.exe"
program 1 {00000000-0000-0000-0000-000000000000} age 0 "lib.so (file offsets)"
binary 0
  UNHALT_CYCLE repeat 4 0x1000 0x1010
  ETW_INSTR 0x1020
  LBR repeat 1 0x1030->0x1040 0x1050->0x1060
  ETW_CALLSTACK 0x1000 0x1070 0x1080
binary 1
  RETIRE_BR_INSTR 0x10
  ETW_CALLSTACK 0x20
  LBR 0x30->0x40
binary 0
  UNHALT_CYCLE 0x1000
`

// sptWant is what the text above comes to.
const sptWant = `ip app.exe+1000 x5
ip app.exe+1010 x5
ip app.exe+1020 op=41
lbr app.exe 1030>1040 1050>1060 x2
chain app.exe 1000 1070 1080
ip lib.so+10 op=03
lbr lib.so 30>40
ip app.exe+1000
`

func sptBytes(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := spt.ParseText(&b, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdPacked(t *testing.T, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

// readSPTBytes reads an input of the name from a file, or from standard input
// if the name is -.
func readSPTBytes(t *testing.T, name string, data []byte, o Options) (string, *Facts, *registry, error) {
	t.Helper()
	var stdin io.Reader
	if name == "-" {
		stdin = bytes.NewReader(data)
	} else {
		name = filepath.Join(writeFiles(t, map[string][]byte{name: data}), name)
	}
	return journalOf(name, stdin, o)
}

func journalOf(name string, stdin io.Reader, o Options) (string, *Facts, *registry, error) {
	reg := newRegistry()
	j := &journal{registry: reg}
	facts, err := Read(context.Background(), name, stdin, &o, reg, func() sample.Sink { return j })
	return strings.Join(append(j.lines, ""), "\n"), facts, reg, err
}

func TestSPTInputs(t *testing.T) {
	plain := sptBytes(t, sptText)
	for _, tc := range []struct {
		name string
		data []byte
	}{
		{"a.spt", plain}, {"a.spt.gz", gzipped(t, plain)}, {"a.spt.zst", zstdPacked(t, plain)}, {"whatever", gzipped(t, plain)},
		{"-", plain}, {"-", gzipped(t, plain)}, {"-", zstdPacked(t, plain)},
	} {
		got, f, reg, err := readSPTBytes(t, tc.name, tc.data, Options{})
		if err != nil || got != sptWant {
			t.Errorf("%s: %v\ngot\n%s\nwant\n%s", tc.name, err, got, sptWant)
		}
		checkTotals(t, f)
		if f.Format != "spt" || f.Samples != 13 || f.BranchEntries != 5 || f.CallchainFrames != 4 || f.Damage != nil || codes(f) != "" {
			t.Errorf("%s: %+v", tc.name, f)
		}
		for what, a := range map[string]struct{ got, want string }{
			"samples": {account(&f.Stats.Samples), "used:13"}, "branches": {account(&f.Stats.Branches), "used:5"},
			"frames": {account(&f.Stats.Frames), "used:3 single_frame:1"}, "LBR": {account(&f.Stats.Kinds[sample.LBR]), "used:3"},
			"PMC": {account(&f.Stats.Kinds[sample.PMC]), "used:12"}, "timer": {account(&f.Stats.Kinds[sample.Timer]), "used:1"},
			"stack": {account(&f.Stats.Kinds[sample.Stack]), "used:1 single_frame:1"},
		} {
			if a.got != a.want {
				t.Errorf("%s: %s: %s, want %s", tc.name, what, a.got, a.want)
			}
		}
		if ids := identities(reg); ids != "app.exe 01020304 program id of an SPT; lib.so none program id of an SPT offsets" || reg.binaries[0].Age != 7 {
			t.Errorf("%s: binaries %s", tc.name, ids)
		}
	}
}

// TestSPTFromPipe reads an SPT through a pipe that has a name, as shells make
// for <(command).
func TestSPTFromPipe(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("no folder of open files here")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data := gzipped(t, sptBytes(t, sptText))
	go func() {
		w.Write(data)
		w.Close()
	}()
	got, _, _, err := journalOf("/dev/fd/"+strconv.Itoa(int(r.Fd())), nil, Options{})
	if err != nil || got != sptWant {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, sptWant)
	}
}

// TestSPTAddsUp reads two inputs into one registry, as folding does.
func TestSPTAddsUp(t *testing.T) {
	reg := newRegistry()
	sum := newTally()
	data := sptBytes(t, sptText)
	for range 2 {
		_, err := Read(context.Background(), "-", bytes.NewReader(data), &Options{}, reg, func() sample.Sink { return sum })
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(reg.binaries) != 2 {
		t.Errorf("%d binaries, want 2", len(reg.binaries))
	}
	if n := sum.ips[ipHit{0, byte(spt.OpUnhaltCycle), 0x1000}]; n != 12 {
		t.Errorf("%d hits, want 12", n)
	}
	if n := sum.pairs[arcPair{arc{0, 0x1030, 0x1040}, arc{0, 0x1050, 0x1060}}]; n != 4 {
		t.Errorf("%d pairs, want 4", n)
	}
	if n := sum.calls[call{0, 0x1070, 0x1080}]; n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

func TestSPTFilters(t *testing.T) {
	data := sptBytes(t, sptText)
	for _, tc := range []struct {
		options             Options
		want, samples, code string
	}{
		{Options{Binaries: []string{"LIB.so"}}, "ip lib.so+10 op=03\nlbr lib.so 30>40\n", "used:1 binary_filter:12", ""},
		{Options{Processes: []string{"app"}}, sptWant, "used:13", "SPT1011"},
		{Options{PIDs: []uint32{1}}, sptWant, "used:13", "SPT1011"},
		{Options{Time: &TimeRange{From: 1}}, sptWant, "used:13", "SPT1011"},
	} {
		got, f, _, err := readSPTBytes(t, "-", data, tc.options)
		if err != nil || got != tc.want || account(&f.Stats.Samples) != tc.samples || codes(f) != tc.code {
			t.Errorf("%+v: %v: got\n%s%s %s\nwant\n%s%s %s", tc.options, err, got, account(&f.Stats.Samples), codes(f), tc.want, tc.samples, tc.code)
		}
		checkTotals(t, f)
	}
}

// TestSPTIndexFromOne reads a file whose program id indices count from 1.
func TestSPTIndexFromOne(t *testing.T) {
	data := sptBytes(t, "spt 1\nprogram 0 {04030201-0605-0807-090A-0B0C0D0E0F10} age 7 \"app.exe\"\nbinary 0\n  UNHALT_CYCLE 0x1000\n")
	at := bytes.Index(data, []byte{0x81, 0, 0, 0, 10, 0, 0, 0})
	if at < 0 {
		t.Fatal("no BINARY_ID")
	}
	data[at+2] = 1
	for _, name := range []string{"-", "a.spt"} {
		got, f, _, err := readSPTBytes(t, name, data, Options{})
		if err != nil || got != "ip app.exe+1000\n" || codes(f) != "SPT1011" {
			t.Errorf("%s: %v: %s %s", name, err, got, codes(f))
		}
	}
}

// TestSPTDamage checks that damage costs a segment at most and is told.
func TestSPTDamage(t *testing.T) {
	plain := sptBytes(t, sptText)
	first := bytes.Index(plain, []byte{0x81, 0, 0, 0})
	second := first + bytes.Index(plain[first:], []byte{0x81, 0, 1, 0})
	last := second + bytes.Index(plain[second:], []byte{0x81, 0, 0, 0})
	lines := strings.SplitAfter(sptWant, "\n")
	edit := func(at int, b byte) []byte {
		data := bytes.Clone(plain)
		data[at] = b
		return data
	}
	for _, tc := range []struct {
		name      string
		data      []byte
		want      string
		code      diag.Code
		truncated bool
		losses    string
	}{
		{"cut in the last segment", plain[:len(plain)-2], strings.Join(lines[:7], ""), diag.Truncated, true, "segment past the end of the file"},
		{"cut between segments", plain[:last+5], strings.Join(lines[:7], ""), diag.Truncated, true, "BINARY_ID past the end of the file"},
		{"unknown opcode", edit(second+8, 0x77), strings.Join(lines[:5], "") + lines[7], diag.Corrupt, false, "unknown opcode"},
		{"program id out of range", edit(second+2, 9), strings.Join(lines[:5], "") + lines[7], diag.Corrupt, false, "program id out of range"},
	} {
		for _, name := range []string{"a.spt", "-"} {
			got, f, _, err := readSPTBytes(t, name, tc.data, Options{})
			if err != nil || got != tc.want {
				t.Errorf("%s %s: %v\ngot\n%s\nwant\n%s", tc.name, name, err, got, tc.want)
			}
			if f.Damage == nil || f.Damage.Code != tc.code || f.Damage.Offset == nil || f.Truncated != tc.truncated || f.Losses[tc.losses] != 1 {
				t.Errorf("%s %s: damage %v, truncated %v, losses %v", tc.name, name, f.Damage, f.Truncated, f.Losses)
			}
			checkTotals(t, f)
		}
	}
}

// TestSPTUnusable checks the errors of inputs of which nothing is read, and of
// compressed ones that are cut.
func TestSPTUnusable(t *testing.T) {
	plain := sptBytes(t, sptText)
	big := []byte(sptText)
	for i := range 20000 {
		big = append(big, strings.Replace("  UNHALT_CYCLE 0xADDR\n", "ADDR", strconv.Itoa(i*7919%1000003), 1)...)
	}
	packed := gzipped(t, sptBytes(t, string(big)))
	newer := bytes.Clone(plain)
	newer[4] = 2
	for _, tc := range []struct {
		name string
		data []byte
		code diag.Code
	}{
		{"cut in its tables", plain[:100], diag.Truncated},
		{"newer version", newer, diag.BadVersion},
		{"empty", nil, diag.Truncated},
		{"text", []byte("nothing of this kind"), diag.UnknownFormat},
		{"cut in its gzip header", packed[:8], diag.Truncated},
		{"cut gzip", packed[:len(packed)/2], diag.Truncated},
	} {
		for _, name := range []string{"a.spt", "-"} {
			_, f, _, err := readSPTBytes(t, name, tc.data, Options{})
			if err == nil {
				t.Errorf("%s %s: no error", tc.name, name)
				continue
			}
			e := diag.Of(err)
			if e.Code != tc.code || !strings.HasSuffix(e.File, name) {
				t.Errorf("%s %s: %v", tc.name, name, e)
			}
			if tc.name == "cut gzip" {
				if f.Samples < 1000 || f.Stats.Samples.Total() != f.Samples {
					t.Errorf("%s: %d samples", name, f.Samples)
				}
			} else if f.Samples != 0 {
				t.Errorf("%s %s: %d samples", tc.name, name, f.Samples)
			}
		}
	}
	if _, f, _, err := journalOf(filepath.Join(t.TempDir(), "missing.spt"), nil, Options{}); err == nil || diag.Of(err).Code != diag.CannotOpen || f == nil {
		t.Errorf("missing file: %v", err)
	}
}
