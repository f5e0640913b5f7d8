package export

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// lengthsInBytes turns a profile with names as GCC 11 reads them, with lengths
// in words, into one for GCC 12.
func lengthsInBytes(t *testing.T, data []byte) []byte {
	t.Helper()
	const header = 24 // magic number, version, 0, tag, length, number of names
	out := gcovWriter(slices.Clone(data[:header]))
	rest := data[header:]
	for range binary.LittleEndian.Uint32(data[header-4:]) {
		n := 4 * int(binary.LittleEndian.Uint32(rest))
		out.name(string(bytes.TrimRight(rest[4:4+n], "\x00")))
		rest = rest[4+n:]
	}
	return append(out, rest...)
}

// lengthsInWords does the reverse, for tools that know only that.
func lengthsInWords(t *testing.T, data []byte) []byte {
	t.Helper()
	const header = 24
	out := gcovWriter(slices.Clone(data[:header]))
	rest := data[header:]
	for range binary.LittleEndian.Uint32(data[header-4:]) {
		n := int(binary.LittleEndian.Uint32(rest))
		words := (n + 3) / 4
		out.words(uint32(words))
		out = append(append(out, rest[4:4+n]...), make([]byte, 4*words-n)...)
		rest = rest[4+n:]
	}
	return append(out, rest...)
}

// What GCC explains decisions with, and the numbers of its functions.
var (
	explained = regexp.MustCompile(` which now has time .*| \(header execution count .*`)
	clone     = regexp.MustCompile(`/[0-9]+`)
)

// decisions are what GCC did with a profile, without the numbers that led to
// it.
func decisions(t *testing.T, gcc, source string, profile []byte) []string {
	t.Helper()
	dir := t.TempDir()
	run(t, gcc, "-O2", "-g", "-fauto-profile="+save(t, "a.gcov", profile), "-fopt-info-all="+dir+"/info", "-S", "-o", dir+"/a.s", source)
	var list []string
	for line := range strings.Lines(string(read(t, dir+"/info"))) {
		line = strings.TrimPrefix(line, filepath.Dir(source)+"/")
		if strings.Contains(line, "optimized:") || strings.Contains(line, "inlin") {
			list = append(list, clone.ReplaceAllString(explained.ReplaceAllString(line, ""), ""))
		}
	}
	slices.Sort(list)
	return list
}

// TestCreateGCOV compares with create_gcov's profile of the same recording:
// GCC does the same with both.
func TestCreateGCOV(t *testing.T) {
	create := corpus.Tool(t, "create_gcov")
	gcc := corpus.Tool(t, "gcc-12", "gcc")
	if v := strings.TrimSpace(run(t, gcc, "-dumpversion")); !strings.HasPrefix(v, "12") {
		corpus.Unavailable(t, "GCC 12 is wanted, %s is %s", gcc, v)
	}
	const source = "testdata/step.c"
	// create_gcov knows the debug information of DWARF 4.
	path, recording := traced(t, gcc, "-O2", "-g", "-gdwarf-4", "-no-pie", source)
	theirs := filepath.Join(t.TempDir(), "theirs")
	run(t, create, "--binary="+path, "--profile="+recording, "--gcov="+theirs, "--gcov_version=2")
	ours, r := written(t, GCOV, sampled(t, path, recording))
	if r.WithoutLines > 0 && r.LostWeight*100 > r.Weight {
		t.Errorf("%+v", r)
	}
	got, want := decisions(t, gcc, source, ours), decisions(t, gcc, source, lengthsInBytes(t, read(t, theirs)))
	if !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("GCC does not decide the same: %s", cmp.Diff(got, want))
	}
	if none := decisions(t, gcc, source, emptyGCOV()); slices.Equal(got, none) {
		t.Error("the profile makes no difference")
	}

	// Its tools read ours, once names have the lengths that they know.
	dump := corpus.Tool(t, "dump_gcov")
	text := run(t, dump, "--gcov_version=2", save(t, "a.gcov", lengthsInWords(t, ours)))
	peer := run(t, dump, "--gcov_version=2", theirs)
	heads := func(s string) []string {
		list := regexp.MustCompile(`(?m)^\w+ total`).FindAllString(s, -1)
		slices.Sort(list)
		return list
	}
	if a, b := heads(text), heads(peer); !slices.Equal(a, b) || len(a) < 3 {
		t.Errorf("dump_gcov reads\n%s\nof create_gcov's profile\n%s", text, peer)
	}
}

// emptyGCOV is a profile without functions.
func emptyGCOV() []byte {
	out := gcovWriter(gcovMagic)
	out.words(gcovVersion, 0, tagNames, 2, 1)
	out.name("")
	out.words(tagFunctions, 1, 0, tagModules, 0, 0)
	return out
}

func TestSymbolOf(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN4NodeD4Ev":     "_ZN4NodeD2Ev",
		"_ZN4NodeC4Ev":     "_ZN4NodeC2Ev",
		"_ZN4NodeD2Ev":     "_ZN4NodeD2Ev",
		"_ZN4NodeC4ElPS_":  "_ZN4NodeC4ElPS_",
		"_ZN4Node3fooE4Ev": "_ZN4Node3fooE4Ev",
		"main":             "main",
	} {
		if got := symbolOf(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
