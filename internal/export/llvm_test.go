package export

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// TestClangDiscriminators decodes what LLVM 19 encodes.
func TestClangDiscriminators(t *testing.T) {
	const clang, gcc = "Debian clang version 19.1.7", "GNU C17 12.2.0 -O2"
	for _, x := range []struct {
		producer       string
		d              uint32
		number, copies uint32
	}{
		{clang, 0, 0, 1},
		{clang, 1, 0, 1},
		{clang, 2, 1, 1},
		{clang, 2 | 1<<7, 1, 1},
		{clang, 31 << 1, 31, 1},
		{clang, 0xc0, 32, 1},       // 6 bits and more take the long form
		{clang, 0x20c0, 2080, 1},   // the highest bit of the long form
		{clang, 2 | 4<<1<<7, 1, 4}, // block 1 in four copies
		{clang, 1 | 8<<1<<1, 0, 8}, // block 0 in eight copies
		{gcc, 6, 6, 1},
		{"", 6, 6, 1},
		{"clang LLVM (rustc version 1.80.0)", 4, 2, 1},
	} {
		if number, copies := clangDiscriminators(x.producer, x.d); number != x.number || copies != x.copies {
			t.Errorf("%s: %#x: got block %d in %d copies, want %d in %d", x.producer, x.d, number, copies, x.number, x.copies)
		}
	}
}

// TestLLVMTools has llvm-profdata read both forms: they say the same, and are
// nearly what llvm-profgen makes of the same recording.
func TestLLVMTools(t *testing.T) {
	profdata := corpus.Tool(t, "llvm-profdata-19", "llvm-profdata")
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			in := sampledProgram(t, name)
			text, _ := written(t, LLVM, in)
			binary, _ := written(t, LLVMBinary, in)
			ours, ext := save(t, "text.prof", text), save(t, "binary.prof", binary)
			if a, b := run(t, profdata, "show", "--sample", "--detailed-summary", ours), run(t, profdata, "show", "--sample", "--detailed-summary", ext); a != b {
				t.Errorf("the forms differ:\n%s\n%s", a, b)
			}
			again := t.TempDir() + "/again"
			run(t, profdata, "merge", "--sample", "--text", ext, "-o", again)
			if got := read(t, again); !bytes.Equal(got, text) {
				t.Errorf("llvm-profdata writes the profile as\n%s\nwant\n%s", got, text)
			}
			similar(t, profdata, save(t, "theirs", profgenProfile(t, name, recording(t, name))), ours)
		})
	}
}

// similar compares two profiles as llvm-profdata does.
func similar(t *testing.T, profdata, theirs, ours string) {
	t.Helper()
	similarity := regexp.MustCompile(`profile similarity: ([0-9.]+)%`).FindStringSubmatch(run(t, profdata, "overlap", "--sample", theirs, ours))
	if similarity == nil {
		t.Fatal("llvm-profdata states no similarity")
	}
	t.Logf("similarity with llvm-profgen's profile: %s %%", similarity[1])
	if v, err := strconv.ParseFloat(similarity[1], 64); err != nil || v < 99 {
		t.Errorf("similarity with llvm-profgen's profile is %s %%", similarity[1])
	}
}

// TestDiscriminators compares profiles of a program whose debug information
// tells blocks and their copies apart.
func TestDiscriminators(t *testing.T) {
	profdata := corpus.Tool(t, "llvm-profdata-19", "llvm-profdata")
	profgen := corpus.Tool(t, "llvm-profgen-19", "llvm-profgen")
	clang := corpus.Tool(t, "clang-19", "clang")
	for name, options := range map[string][]string{
		"blocks":         {"-gline-tables-only"},
		"flow-sensitive": {"-g", "-mllvm", "-enable-fs-discriminator=true"},
	} {
		t.Run(name, func(t *testing.T) {
			path, recording := traced(t, clang, append(options, "-O3", "-fdebug-info-for-profiling", "-no-pie", corpus.Path(t, "programs", "wordstat.c"))...)
			in := sampled(t, path, recording)
			theirs := t.TempDir() + "/theirs"
			run(t, profgen, "--binary="+path, "--perfdata="+recording, "--output="+theirs, "--format=extbinary")
			for _, format := range []Format{LLVM, LLVMBinary} {
				data, _ := written(t, format, in)
				if format == LLVMBinary || name == "blocks" { // the text form cannot say that it is flow-sensitive
					similar(t, profdata, theirs, save(t, "ours", data))
				}
				if format == LLVM && len(regexp.MustCompile(`(?m)^ +[0-9]+\.[0-9]+: `).FindAll(data, -1)) < 5 {
					t.Errorf("there are hardly any discriminators:\n%s", data)
				}
			}
		})
	}
}

// TestClang compiles programs with their profiles: without a warning, and with
// the same result for both forms.
func TestClang(t *testing.T) {
	clang := corpus.Tool(t, "clang-19", "clang")
	compile := func(name string, options ...string) []byte {
		out := t.TempDir() + "/out.s"
		args := append(options, "-O2", "-g", "-Wall", "-Werror", "-S", "-o", out, corpus.Path(t, "programs", name+".c"))
		if said := run(t, clang, args...); said != "" {
			t.Errorf("%s: clang says %s", name, said)
		}
		return read(t, out)
	}
	for _, name := range []string{"wordstat", "minivm"} {
		in := sampledProgram(t, name)
		text, _ := written(t, LLVM, in)
		binary, _ := written(t, LLVMBinary, in)
		a := compile(name, "-fprofile-sample-use="+save(t, "a.prof", text))
		b := compile(name, "-fprofile-sample-use="+save(t, "b.prof", binary))
		if !bytes.Equal(a, b) || bytes.Equal(a, compile(name)) {
			t.Errorf("%s: the forms give different code, or the code that no profile gives", name)
		}
	}
}

// TestUniqueNames compiles a program whose static functions have unique names:
// both forms give the same code, and llvm-profdata sets the same flags.
func TestUniqueNames(t *testing.T) {
	clang, profdata := corpus.Tool(t, "clang-19", "clang"), corpus.Tool(t, "llvm-profdata-19", "llvm-profdata")
	options := []string{"-O2", "-g", "-fdebug-info-for-profiling", "-funique-internal-linkage-names", corpus.Path(t, "programs", "minivm.c")}
	path, recording := traced(t, clang, append(options, "-no-pie")...)
	in := sampled(t, path, recording)
	text, _ := written(t, LLVM, in)
	binary, _ := written(t, LLVMBinary, in)
	if !bytes.Contains(text, []byte(uniqueSuffix)) {
		t.Fatalf("no name is unique:\n%s", text)
	}
	ext := save(t, "b.prof", binary)
	compile := func(profile string) []byte {
		out := t.TempDir() + "/out.s"
		run(t, clang, append(options, "-S", "-o", out, "-fprofile-sample-use="+profile)...)
		return read(t, out)
	}
	if !bytes.Equal(compile(save(t, "a.prof", text)), compile(ext)) {
		t.Error("the forms give different code")
	}
	again := t.TempDir() + "/again"
	run(t, profdata, "merge", "--sample", "--extbinary", ext, "-o", again)
	flags := regexp.MustCompile(`NameTableSection.*Flags: (.*)`)
	nameFlags := func(name string) string {
		match := flags.FindStringSubmatch(run(t, profdata, "show", "--sample", "--show-sec-info-only", name))
		if match == nil {
			t.Fatalf("llvm-profdata shows no table of names in %s", name)
		}
		return match[1]
	}
	if got, want := nameFlags(ext), nameFlags(again); got != want {
		t.Errorf("flags of the names are %s, llvm-profdata sets %s", got, want)
	}
}
