package image

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// memFS holds files by path and counts how often each folder is listed and
// each file opened.
type memFS struct {
	files          map[string][]byte
	listed, opened map[string]int
}

func (m memFS) ReadDir(name string) ([]DirEntry, error) {
	m.listed[name]++
	seen := map[string]bool{} // whether it is a folder
	for file := range m.files {
		if rest, ok := strings.CutPrefix(file, name+"/"); ok {
			base, _, isDir := strings.Cut(rest, "/")
			seen[base] = isDir
		}
	}
	if len(seen) == 0 {
		return nil, fs.ErrNotExist
	}
	var out []DirEntry
	for base, isDir := range seen {
		out = append(out, DirEntry{base, isDir})
	}
	slices.SortFunc(out, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (m memFS) Open(name string) (io.ReaderAt, int64, error) {
	m.opened[name]++
	b, ok := m.files[name]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	return bytes.NewReader(b), int64(len(b)), nil
}

func (m memFS) RealPath(name string) (string, error) { return path.Clean(name), nil }

func elfWithID(id []byte) []byte {
	s := elfSpec{is64: true, typ: elf.ET_DYN, machine: elf.EM_X86_64}
	s.sections = []sectionSpec{{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: s.note("GNU", 3, id, 4)}}
	return s.bytes()
}

func testFinder() (*Finder, memFS) {
	id8 := []byte{0xe9, 0x2f, 0x46, 0xd2, 0x10, 0x8b, 0x8d, 0xf2}
	id20 := bytes.Repeat([]byte{0xab}, 20)
	other := testPE(true)
	other.stamp++
	older := testPE(true)
	older.debug[2].data = rsds(ID{testID.GUID, 16}, "app.pdb")
	m := memFS{listed: map[string]int{}, opened: map[string]int{}, files: map[string][]byte{
		"a/sub/deep/libx.so": elfWithID([]byte("12345678")),
		"a/sub/libx.so":      elfWithID(id8),
		"a/z/LIBX.so":        elfWithID(id8),
		"a/.build-id/ab/" + strings.Repeat("ab", 19) + ".debug": elfWithID(id20),
		"a/bin/app.exe":                     other.bytes(),
		"b/bin/APP.EXE":                     testPE(true).bytes(),
		"b/old/App.exe":                     older.bytes(),
		"b/text/app.exe":                    []byte("hello"),
		"b/.build-id/e9/2f46d2108b8df2/elf": elfWithID(id8),
		"c/renamed.bin":                     elfWithID(id20),
		"single.dll":                        testPE(false).bytes(),
	}}
	return &Finder{Dirs: []string{"a", "b", "c", "single.dll", "nowhere"}, FS: m}, m
}

func TestFinder(t *testing.T) {
	id8 := []byte{0xe9, 0x2f, 0x46, 0xd2, 0x10, 0x8b, 0x8d, 0xf2}
	id20 := bytes.Repeat([]byte{0xab}, 20)
	buildIDExe := "b/.build-id/e9/2f46d2108b8df2/elf"
	for _, tc := range []struct {
		name string
		want Want
		path string
		how  How
	}{
		{"name alone: the nearest", Want{Name: "/usr/lib/libx.so"}, "a/sub/libx.so", ByName},
		{"name and case", Want{Name: "LIBX.so"}, "a/z/LIBX.so", ByName},
		{"deleted file", Want{Name: "/x/libx.so (deleted)"}, "a/sub/libx.so", ByName},
		{"path of the build id", Want{Name: "libx.so", BuildID: id8}, buildIDExe, ByBuildID},
		{"padded build id", Want{Name: "libx.so", BuildID: append(id8[:8:8], make([]byte, 12)...)}, buildIDExe, ByBuildID},
		{"debug file", Want{Name: "/nowhere", BuildID: id20}, "a/.build-id/ab/" + strings.Repeat("ab", 19) + ".debug", ByBuildID},
		{"Windows name", Want{Name: `C:\x\App.exe`, Windows: true}, "a/bin/app.exe", ByName},
		{"time stamp", Want{Name: `C:\x\app.exe`, Windows: true, TimeDateStamp: 0x6b0d2531, SizeOfImage: 0x5000}, "b/bin/APP.EXE", ByName},
		{"RSDS", Want{Name: "APP.exe", Windows: true, ID: testID}, "a/bin/app.exe", ByName},
		{"older age", Want{Name: "app.exe", Windows: true, ID: ID{testID.GUID, 16}}, "b/old/App.exe", ByName},
		{"predicate", Want{Name: "app.exe", Windows: true, Accept: func(f *File) error {
			if f.PE.CodeView.Age != 16 {
				return errors.New("not that age")
			}
			return nil
		}}, "b/old/App.exe", ByName},
		{"folder given as file", Want{Name: "single.DLL", Windows: true}, "single.dll", ByName},
		{"renamed, a file that is named first", Want{Name: "other.exe", Windows: true, ID: testID}, "single.dll", ByScan},
		{"renamed, older age", Want{Name: "other.exe", Windows: true, ID: ID{testID.GUID, 16}}, "b/old/App.exe", ByScan},
		{"renamed, time stamp", Want{Name: "other.exe", Windows: true, TimeDateStamp: 0x6b0d2532, SizeOfImage: 0x5000}, "a/bin/app.exe", ByScan},
		{"renamed, build id", Want{Name: "/bin/prog", BuildID: []byte("12345678")}, "a/sub/deep/libx.so", ByScan},
		{"renamed, padded build id", Want{Name: "/bin/prog", BuildID: append([]byte("12345678"), make([]byte, 12)...)}, "a/sub/deep/libx.so", ByScan},
		{"renamed ELF", Want{Name: "x", ID: ID{GUID: GUIDFromBuildID([]byte("12345678"))}}, "a/sub/deep/libx.so", ByScan},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, _ := testFinder()
			got, err := f.Find(tc.want)
			if err != nil {
				t.Fatal(err)
			}
			if got.Path != tc.path || got.How != tc.how {
				t.Errorf("found %s by %v, want %s by %v", got.Path, got.How, tc.path, tc.how)
			}
			if err := got.File.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFinderReasons(t *testing.T) {
	f, _ := testFinder()
	_, err := f.Find(Want{Name: `D:\app.exe`, Windows: true, ID: ID{testID.GUID, 18}})
	const want = `D:\app.exe: no image matches` +
		`; a/bin/app.exe: GUID {884C945B-FE84-B717-4C4C-44205044422E} agrees, age differs: have 17, want 18` +
		`; b/bin/APP.EXE: GUID {884C945B-FE84-B717-4C4C-44205044422E} agrees, age differs: have 17, want 18` +
		`; b/old/App.exe: GUID {884C945B-FE84-B717-4C4C-44205044422E} agrees, age differs: have 16, want 18` +
		`; b/text/app.exe: signature: offset 0x0: want "\x7fELF" or "MZ", got "hell": wrong signature`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	for _, tc := range []struct {
		want Want
		text string
	}{
		{Want{Name: "libx.so", BuildID: []byte("abcdefgh")}, "libx.so: no image matches; a/sub/libx.so: build id differs: have e92f46d2108b8df2, want 6162636465666768" +
			"; a/sub/deep/libx.so: build id differs: have 3132333435363738, want 6162636465666768"},
		{Want{Name: "single.dll", BuildID: []byte("abcdefgh")}, "single.dll: no image matches; single.dll: is PE, want ELF with build id 6162636465666768"},
		{Want{Name: "LIBX.so", SizeOfImage: 1}, "LIBX.so: no image matches; a/z/LIBX.so: is ELF, want PE"},
		{Want{Name: "single.dll", SizeOfImage: 0x6000}, "single.dll: no image matches; single.dll: size of image differs: have 0x5000, want 0x6000"},
		{Want{Name: "single.dll", CheckSum: 1}, "single.dll: no image matches; single.dll: checksum differs: have 0x1234, want 0x1"},
		{Want{Name: "single.dll", ID: ID{Age: 3}}, "single.dll: no image matches; single.dll: pe-rsds differs: have {884C945B-FE84-B717-4C4C-44205044422E} age 17, want {00000000-0000-0000-0000-000000000000} age 3"},
		{Want{Name: "nothing"}, "nothing: no image of this name or identity found"},
	} {
		if _, err := f.Find(tc.want); err == nil || err.Error() != tc.text {
			t.Errorf("got  %v\nwant %s", err, tc.text)
		}
	}
	if p := f.Problems(); len(p) != 1 || !errors.Is(p[0], fs.ErrNotExist) || !strings.Contains(p[0].Error(), "nowhere") {
		t.Errorf("problems %v", p)
	}
}

func TestFinderWalksOnce(t *testing.T) {
	f, m := testFinder()
	for range 3 {
		if got := f.Paths("app.EXE", true); !slices.Equal(got, []string{"a/bin/app.exe", "b/bin/APP.EXE", "b/old/App.exe", "b/text/app.exe"}) {
			t.Errorf("paths %v", got)
		}
		if _, err := f.Find(Want{Name: "gone", ID: ID{Age: 99}}); err == nil {
			t.Error("found an image that is not there")
		}
	}
	for dir, n := range m.listed {
		if n != 1 {
			t.Errorf("%s listed %d times", dir, n)
		}
	}
}

// TestFinderReadsOnce searches for many renamed images.
func TestFinderReadsOnce(t *testing.T) {
	f, m := testFinder()
	for i := range 5 {
		if _, err := f.Find(Want{Name: "gone", BuildID: []byte{1, 2, 3, byte(i + 4)}}); err == nil {
			t.Error("found an image that is not there")
		}
	}
	for file := range m.files {
		most := 1
		if file == "single.dll" {
			most = 3 // also to tell that it is a file, and among the files that are named
		}
		if n := m.opened[file]; n < 1 || n > most {
			t.Errorf("%s opened %d times", file, n)
		}
	}
}

// TestFinderMaxScan finds only what lies near.
func TestFinderMaxScan(t *testing.T) {
	want := Want{Name: "gone", BuildID: []byte("12345678")}
	f, m := testFinder()
	f.MaxScan = 6
	if found, err := f.Find(want); err != nil || found.Path != "a/sub/deep/libx.so" || f.Unread() != len(m.files)-6 {
		t.Errorf("%v, %v, %d files not read", found.Path, err, f.Unread())
	}
	f, m = testFinder()
	f.MaxScan = 1
	if _, err := f.Find(want); err == nil || f.Unread() != len(m.files)-1 {
		t.Errorf("%v, %d files not read", err, f.Unread())
	}
	f, m = testFinder()
	f.MaxScan = 1
	if _, err := f.Find(Want{Name: "other.exe", ID: testID}); err != nil || len(m.opened) > 6 {
		t.Errorf("a file that is named: %v, opened %v", err, m.opened)
	}
}

// TestFinderPrefersCode finds the image before a separate debug file of the
// same build that comes first.
func TestFinderPrefersCode(t *testing.T) {
	s := elfSpec{is64: true, typ: elf.ET_DYN, machine: elf.EM_X86_64}
	s.sections = []sectionSpec{
		{typ: elf.SHT_NOTE, segment: elf.PT_NOTE, align: 4, data: s.note("GNU", 3, []byte("12345678"), 4)},
		{typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: 0x1000, align: 16, data: []byte{0xc3}},
	}
	m := memFS{listed: map[string]int{}, opened: map[string]int{}, files: map[string][]byte{"r/a.debug": elfWithID([]byte("12345678")), "r/prog-2": s.bytes()}}
	f := &Finder{Dirs: []string{"r"}, FS: m}
	if found, err := f.Find(Want{Name: "prog", BuildID: []byte("12345678")}); err != nil || found.Path != "r/prog-2" {
		t.Errorf("found %q, %v", found.Path, err)
	}
}

func TestFinderLimits(t *testing.T) {
	f, _ := testFinder()
	f.MaxFiles = 6
	paths := f.Paths("app.exe", false)
	if p := f.Problems(); len(paths) != 1 || len(p) != 1 || !errors.Is(p[0], binfmt.ErrLimit) {
		t.Errorf("%v, problems %v", paths, p)
	}
	m := memFS{listed: map[string]int{}, opened: map[string]int{}, files: map[string][]byte{"r" + strings.Repeat("/d", 70) + "/x": nil}}
	f = &Finder{Dirs: []string{"r"}, FS: m}
	if p := f.Problems(); len(p) != 1 || !errors.Is(p[0], binfmt.ErrLimit) {
		t.Errorf("deep folders: problems %v", p)
	}
	var many *NotFoundError
	m = memFS{listed: map[string]int{}, opened: map[string]int{}, files: map[string][]byte{}}
	for i := range 20 {
		m.files["r/"+string(rune('a'+i))+"/x"] = nil
	}
	f = &Finder{Dirs: []string{"r"}, FS: m}
	if _, err := f.Find(Want{Name: "x"}); !errors.As(err, &many) || len(many.Misses) != maxMisses || many.MissCount != 20 || !strings.HasSuffix(err.Error(), "; and 4 more") {
		t.Errorf("many misses: %v", err)
	}
}

// On disk: links that loop, links to files, links to nothing, and a link to a
// folder that is searched anyway.
func TestFinderOnDisk(t *testing.T) {
	root := t.TempDir()
	write := func(name string, b []byte) {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("lib/real.so", elfWithID([]byte("12345678")))
	write("lib/cut.so", elfWithID([]byte("12345678"))[:100])
	for name, target := range map[string]string{"lib/loop": "..", "lib/self": "self", "lib/link.so": "real.so", "lib/gone.so": "missing", "usr": "lib"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
	}
	f := &Finder{Dirs: []string{filepath.ToSlash(root), filepath.ToSlash(root) + "/lib"}}
	for _, tc := range []struct {
		name string
		want []string
	}{
		{"real.so", []string{"/lib/real.so"}},
		{"link.so", []string{"/lib/link.so"}},
		{"gone.so", nil},
	} {
		var got []string
		for _, p := range f.Paths(tc.name, false) {
			got = append(got, strings.TrimPrefix(p, filepath.ToSlash(root)))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	found, err := f.Find(Want{Name: "link.so", BuildID: []byte("12345678")})
	if err != nil {
		t.Fatal(err)
	}
	if err := found.File.Close(); err != nil {
		t.Error(err)
	}
	if f.Problems() != nil {
		t.Errorf("problems %v", f.Problems())
	}
	if _, err := Open(filepath.Join(root, "lib")); err == nil {
		t.Error("a folder opened")
	}
	var e *binfmt.Error
	cut := filepath.Join(root, "lib/cut.so")
	if _, err := Open(cut); !errors.As(err, &e) || e.File != cut || !errors.Is(err, binfmt.ErrTruncated) {
		t.Errorf("cut file: %v", err)
	}
	if _, err := Open(filepath.Join(root, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}
