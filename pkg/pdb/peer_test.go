package pdb_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

func run(t testing.TB, tool string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
	return string(out)
}

func pdbutil(t testing.TB) string { return corpus.Tool(t, "llvm-pdbutil-19", "llvm-pdbutil") }

func programPDBs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "programs", "pe"), "*.pdb"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no PDBs: %v", err)
	}
	return files
}

// morePDBs are those of the folder that SPGO_PDBS names, for comparing with
// what other linkers write.
func morePDBs(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv("SPGO_PDBS")
	if dir == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.pdb"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no PDBs in %s: %v", dir, err)
	}
	return files
}

const sourceA = `int data[64];
struct S { virtual int f(int); int g; };
int S::f(int x) { return x * g; }
static __declspec(noinline) int helper(int x) {
  int s = 0;
  for (int i = 0; i < x; i++)
    s += data[i & 63] * x;
  return s;
}
template <class T> __declspec(noinline) T twice(T a) { return a + a; }
extern "C" int other(int);
int ext(int x) { return helper(x) + twice<int>(x) + (int)twice<double>(x) + other(x); }
extern "C" int _fltused;
int _fltused = 1;
`

const sourceB = `static int square(int x);
#line 100 "included.h"
static int square(int x) {
  return x * x;
}
#line 4 "b.c"
int other(int x) {
  int y = square(x) ^ 5;
  return square(y + data_b());
}
#line 200 "included.h"
int data_b(void) { return 7; }
`

// linkedPDBs links a program for three machines and with blocks of three sizes.
func linkedPDBs(t testing.TB) []string {
	t.Helper()
	clang, link := corpus.Tool(t, "clang-19", "clang"), corpus.Tool(t, "lld-link-19", "lld-link")
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := write("a.cpp", sourceA), write("b.c", "int data_b(void);\n"+sourceB)
	var out []string
	for _, tc := range []struct{ target, blockSize string }{{"x86_64", "4096"}, {"i686", "8192"}, {"aarch64", "32768"}} {
		base := filepath.Join(dir, tc.target)
		flags := []string{"--target=" + tc.target + "-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-c"}
		run(t, clang, append(flags, "-gcolumn-info", "-ffunction-sections", "-o", base+"a.obj", a)...)
		run(t, clang, append(flags, "-o", base+"b.obj", b)...)
		run(t, link, "/dll", "/noentry", "/debug", "/opt:noref", "/out:"+base+".dll", "/pdb:"+base+".pdb", "/pdbpagesize:"+tc.blockSize,
			base+"a.obj", base+"b.obj")
		out = append(out, base+".pdb")
	}
	return out
}

// Everything that llvm-pdbutil prints as well, over linked programs and over
// the synthetic one of these tests.
func TestAgainstPdbutil(t *testing.T) {
	tool := pdbutil(t)
	synthetic := filepath.Join(t.TempDir(), "synthetic.pdb")
	p := program()
	p.Age = p.DBIAge // the peer shows one of them only
	if err := os.WriteFile(synthetic, p.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(programPDBs(t), linkedPDBs(t), morePDBs(t), []string{synthetic}) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := pdb.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			compareSummary(t, f, run(t, tool, "dump", "-summary", "-streams", name))
			compareModules(t, f, run(t, tool, "dump", "-modules", name))
			compareSections(t, f, run(t, tool, "dump", "-section-headers", name))
			compareContributions(t, f, run(t, tool, "dump", "-section-contribs", name))
			compareProcs(t, f, run(t, tool, "dump", "-symbols", name))
			if name != synthetic { // it has no hash table of publics
				comparePublics(t, f, run(t, tool, "dump", "-publics", name))
			}
			compareLines(t, f, run(t, tool, "dump", "-l", name))
		})
	}
}

func compareSummary(t *testing.T, f *pdb.File, text string) {
	info, err := f.Info()
	if err != nil {
		t.Fatal(err)
	}
	id, err := f.Identity()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("  Block Size: %d\n", f.BlockSize()), fmt.Sprintf("  Number of blocks: %d\n", f.NumBlocks()),
		fmt.Sprintf("  Number of streams: %d\n", f.NumStreams()), fmt.Sprintf("  Signature: %d\n", info.Signature),
		fmt.Sprintf("  Age: %d\n", id.InfoAge), fmt.Sprintf("  GUID: %v\n", id.GUID),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if id.Age != id.InfoAge || id.Age != id.DBIAge {
		t.Errorf("ages %+v of a PDB that was written once", id)
	}
	streams := regexp.MustCompile(`(?m)^  Stream +(\d+) \( *(\d+) bytes\)`).FindAllStringSubmatch(text, -1)
	if len(streams) != f.NumStreams() {
		t.Errorf("%d streams, %d listed", f.NumStreams(), len(streams))
	}
	for _, m := range streams {
		i, _ := strconv.Atoi(m[1])
		if size := fmt.Sprint(f.StreamSize(i)); size != m[2] {
			t.Errorf("stream %d has %s bytes, want %s", i, size, m[2])
		}
	}
	for _, n := range info.Named {
		if want := fmt.Sprintf("[Named Stream \"%s\"]", n.Name); !regexp.MustCompile(fmt.Sprintf(`Stream +%d \(.*`, n.Stream) + regexp.QuoteMeta(want)).MatchString(text) {
			t.Errorf("stream %d %q is not in\n%s", n.Stream, n.Name, text)
		}
	}
}

func compareModules(t *testing.T, f *pdb.File, text string) {
	modules, err := f.Modules()
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for i, m := range modules {
		stream := m.Stream
		if stream < 0 {
			stream = 0xffff
		}
		got = append(got, fmt.Sprintf("%04d %s %s %d", i, m.Name, m.Object, stream))
	}
	for _, m := range regexp.MustCompile("Mod (\\d+) \\| `(.*)`: *\n *Obj: `(.*)`: *\n *debug stream: (\\d+)").FindAllStringSubmatch(text, -1) {
		want = append(want, strings.Join(m[1:], " "))
	}
	if diff := gocmp.Diff(want, got); diff != "" || len(got) == 0 {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
}

func compareSections(t *testing.T, f *pdb.File, text string) {
	m, err := f.Addresses()
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for i, s := range m.Sections {
		got = append(got, fmt.Sprintf("%d %X %X %X %X %X", i+1, s.VirtualSize, s.VirtualAddress, s.SizeOfRawData, s.PointerToRawData, s.Characteristics))
	}
	for _, part := range strings.Split(text, "SECTION HEADER #")[1:] {
		fields := []string{part[:strings.IndexByte(part, '\n')]}
		for _, what := range []string{"virtual size", "virtual address", "size of raw data", "file pointer to raw data", "flags"} {
			m := regexp.MustCompile(`(?m)^ *([0-9A-F]+) ` + what + `$`).FindStringSubmatch(part)
			if m == nil {
				t.Fatalf("no %s in %s", what, part)
			}
			fields = append(fields, m[1])
		}
		want = append(want, strings.Join(fields, " "))
	}
	if diff := gocmp.Diff(want, got); diff != "" || len(got) == 0 {
		t.Errorf("section headers (-want +got):\n%s", diff)
	}
}

func compareContributions(t *testing.T, f *pdb.File, text string) {
	var got, want []string
	for _, c := range collect(t, f.Contributions()) {
		got = append(got, fmt.Sprintf("%d %04d:%04d %d %d %d", c.Module, c.Section, c.Offset, c.Size, c.DataCRC, c.RelocCRC))
	}
	re := regexp.MustCompile(`\| mod = (\d+), (\d+:\d+), size = (\d+), data crc = (\d+), reloc crc = (\d+)`)
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		want = append(want, strings.Join(m[1:], " "))
	}
	if diff := gocmp.Diff(want, got); diff != "" || len(got) == 0 {
		t.Errorf("section contributions (-want +got):\n%s", diff)
	}
}

func compareProcs(t *testing.T, f *pdb.File, text string) {
	kinds := map[pdb.SymbolKind]string{pdb.SymGProc32: "S_GPROC32", pdb.SymLProc32: "S_LPROC32", pdb.SymLProc32ID: "S_LPROC32_ID", pdb.SymGProc32ID: "S_GPROC32_ID"}
	var got, want []string
	for _, p := range collect(t, f.Procs()) {
		got = append(got, fmt.Sprintf("%d %s %s %04d:%04d %d %d %d", p.Pos, kinds[p.Kind], p.Name, p.Section, p.Offset, p.Length, p.DebugStart, p.DebugEnd))
	}
	re := regexp.MustCompile("(\\d+) \\| (S_[GL]PROC32(?:_ID)?) \\[size = \\d+\\] `(.*)`\n.*addr = (\\d+:\\d+), code size = (\\d+)\n.*debug start = (\\d+), debug end = (\\d+)")
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		want = append(want, strings.Join(m[1:], " "))
	}
	if diff := gocmp.Diff(want, got); diff != "" || len(got) == 0 {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
}

func comparePublics(t *testing.T, f *pdb.File, text string) {
	flags := map[uint32]string{0: "none", pdb.PublicCode: "code", pdb.PublicFunction: "function", pdb.PublicCode | pdb.PublicFunction: "code | function"}
	var got, want []string
	for _, p := range collect(t, f.Publics()) {
		got = append(got, fmt.Sprintf("%s %s %04d:%04d", p.Name, flags[p.Flags], p.Section, p.Offset))
	}
	re := regexp.MustCompile("S_PUB32 \\[size = \\d+\\] `(.*)`\n *flags = (.*), addr = (\\d+:\\d+)")
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		want = append(want, strings.Join(m[1:], " "))
	}
	slices.Sort(got) // the peer goes by hash
	slices.Sort(want)
	if diff := gocmp.Diff(want, got); diff != "" || len(got) == 0 {
		t.Errorf("publics (-want +got):\n%s", diff)
	}
}

var (
	fileRow    = regexp.MustCompile(`^(\S.*) \((?:MD5|SHA1|SHA-1|SHA-256|no checksum).*\)$|^(\S.*) \(\)$`)
	contribRow = regexp.MustCompile(`^  ([0-9A-F]{4}):([0-9A-F]{8})-`)
	entryRow   = regexp.MustCompile(`(\d+|ASI|NSI) ([0-9A-F]{8})`)
)

// compareLines leaves out the modules without a stream, for which the peer
// repeats the lines of the module before.
func compareLines(t *testing.T, f *pdb.File, text string) {
	modules, err := f.Modules()
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile("(?m)^ *Mod \\d+ \\| `.*$").Split(text, -1)[1:]
	if len(parts) != len(modules) {
		t.Fatalf("%d modules, %d listed", len(modules), len(parts))
	}
	type line struct {
		Section uint16
		Offset  uint32
		File    string
		Line    uint32
	}
	order := func(a, b line) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	}
	total := 0
	for i, m := range modules {
		if m.Stream < 0 {
			continue
		}
		var got, want []line
		for _, l := range collect(t, f.ModuleLines(i)) {
			got = append(got, line{l.Section, l.Offset, l.File, l.Line})
		}
		var file string
		var section uint64
		for _, row := range strings.Split(parts[i], "\n") {
			if m := fileRow.FindStringSubmatch(row); m != nil {
				file = m[1] + m[2]
				continue
			}
			if m := contribRow.FindStringSubmatch(row); m != nil {
				section, err = strconv.ParseUint(m[1], 16, 16)
				if err != nil {
					t.Fatal(err)
				}
				continue
			}
			if !strings.HasPrefix(row, "  ") {
				continue
			}
			for _, m := range entryRow.FindAllStringSubmatch(row, -1) {
				off, err := strconv.ParseUint(m[2], 16, 32)
				if err != nil {
					t.Fatal(err)
				}
				n, ok := map[string]uint32{"ASI": pdb.LineAlwaysStepInto, "NSI": pdb.LineNeverStepInto}[m[1]]
				if !ok {
					v, err := strconv.ParseUint(m[1], 10, 32)
					if err != nil {
						t.Fatal(err)
					}
					n = uint32(v)
				}
				want = append(want, line{uint16(section), uint32(off), file, n})
			}
		}
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("lines of module %d (-want +got):\n%s", i, diff)
		}
		total += len(got)
	}
	if total < 6 {
		t.Errorf("%d lines in all", total)
	}
}

// The two ages of a PDB that a tool wrote after linking, as llvm-pdbutil finds
// them.
func TestSyntheticAges(t *testing.T) {
	tool := pdbutil(t)
	name := filepath.Join(t.TempDir(), "ntdll.pdb")
	p := msftest.PDB{GUID: guid(t, "168bc37b-40eb-c0d8-1526-21ee552a7823"), Age: 3, DBIAge: 1}
	if err := os.WriteFile(name, p.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	text := run(t, tool, "dump", "-summary", name)
	for _, want := range []string{"  Age: 3\n", "  GUID: {168BC37B-40EB-C0D8-1526-21EE552A7823}\n", "  Has Debug Info: true\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if yaml := run(t, tool, "pdb2yaml", "-dbi-stream", name); !regexp.MustCompile(`DbiStream:(?s:.*)  Age: +1\n`).MatchString(yaml) {
		t.Errorf("no DBI age 1 in\n%s", yaml)
	}
}
