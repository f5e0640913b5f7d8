package export

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/build"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/profile"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// programs have branch samples and exact counts.
var programs = []string{"wordstat", "minivm", "shapes"}

// unsampled builds the database of an image.
func unsampled(t *testing.T, path string) Input {
	t.Helper()
	img, err := image.Open(path) // open until the process ends, as others use it
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := funcs.Find(img, funcs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := debuginfo.Open(img, "", "")
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := build.Build(img, list, build.Options{Name: filepath.Base(path), Inlines: info.Inlines, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	return Input{Profile: f, Image: img, Debug: info}
}

// sampled builds the database of an image and imports a recording of it.
func sampled(t *testing.T, path, recording string) Input {
	t.Helper()
	in := unsampled(t, path)
	samples := correlate.NewSamples(in.Profile)
	if _, err := samples.Add(aggregated(t, path, recording), func(spt.ProgramID) bool { return true }, 1); err != nil {
		t.Fatal(err)
	}
	counts, err := correlate.Infer(context.Background(), samples, correlate.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	profile.Add(in.Profile, counts.Functions)
	return in
}

// aggregated returns the samples of an image in a recording.
func aggregated(t *testing.T, path, recording string) *spt.Reader {
	t.Helper()
	sums := aggregate.New(spt.MaxEntries)
	var shards []*aggregate.Shard
	newSink := func() sample.Sink {
		shards = append(shards, sums.NewShard())
		return shards[len(shards)-1]
	}
	o := &ingest.Options{Workers: 1, Binaries: []string{filepath.Base(path)}, ImagePath: []string{path}}
	ingest.ReadAll(t.Context(), []string{recording}, nil, o, sums, newSink, func(_ []*ingest.Facts, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range shards {
			sums.Merge(s)
		}
	})
	var b bytes.Buffer
	if _, err := sums.Write(&b); err != nil {
		t.Fatal(err)
	}
	r, err := spt.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// known holds the databases of the programs, which tests must not change.
var known = make(map[string]Input)

// sampledProgram samples one of the programs with known counts.
func sampledProgram(t *testing.T, name string) Input {
	t.Helper()
	if in, ok := known[name]; ok {
		return in
	}
	in := sampled(t, corpus.Path(t, "programs", name+".elf"), recording(t, name))
	known[name] = in
	return in
}

// traced compiles a program and runs it. It returns the path of the executable
// and a recording of branch stacks.
func traced(t *testing.T, compiler string, args ...string) (path, recording string) {
	t.Helper()
	python := corpus.Tool(t, "python3")
	corpus.Tool(t, "valgrind")
	path = filepath.Join(t.TempDir(), "app")
	run(t, compiler, append(args, "-o", path)...)
	run(t, python, corpus.Path(t, "oracle", "lbrsim.py"), path, "97:499", path)
	return path, path + ".data"
}

// peers holds what other tools made of the recordings of the programs.
var peers = make(map[string][]byte)

// recording is the path of the branch stacks of a program.
func recording(t *testing.T, name string) string { return corpus.Path(t, "programs", name+".data") }

// profgenProfile is llvm-profgen's profile of a program, as text.
func profgenProfile(t *testing.T, name, recording string) []byte {
	t.Helper()
	profgen := corpus.Tool(t, "llvm-profgen-19", "llvm-profgen")
	key := recording + " profgen"
	if peers[key] == nil {
		out := filepath.Join(t.TempDir(), "theirs")
		run(t, profgen, "--binary="+corpus.Path(t, "programs", name+".elf"), "--perfdata="+recording, "--output="+out, "--format=text")
		peers[key] = read(t, out)
	}
	return peers[key]
}

// perf2boltProfile is perf2bolt's profile of a program.
func perf2boltProfile(t *testing.T, name, recording string) []byte {
	t.Helper()
	perf2bolt := boltTool(t, "perf2bolt")
	key := recording + " perf2bolt"
	if peers[key] == nil {
		out := filepath.Join(t.TempDir(), "theirs")
		run(t, perf2bolt, "-p", recording, "-o", out, corpus.Path(t, "programs", name+".elf"))
		peers[key] = read(t, out)
	}
	return peers[key]
}

// copied returns the database after a trip through a file.
func copied(t *testing.T, f *spd.File) *spd.File {
	t.Helper()
	var b bytes.Buffer
	if err := spd.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	f, err := spd.ReadFile(save(t, "a.spd", b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// written returns a profile and what was reported.
func written(t *testing.T, format Format, in Input) ([]byte, *Report) {
	t.Helper()
	var b bytes.Buffer
	r, err := Write(&b, format, in)
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.Bytes(), r
}

// save writes a file and returns its path.
func save(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a program and returns all that it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestSame writes every profile twice, the second time from a database that
// went through a file.
func TestSame(t *testing.T) {
	in := sampledProgram(t, "shapes")
	again := in
	again.Profile = copied(t, in.Profile)
	for _, format := range Formats {
		first, r := written(t, format, in)
		second, _ := written(t, format, again)
		if !bytes.Equal(first, second) {
			t.Errorf("%s: not the same twice", format)
		}
		if r.Exported == 0 || r.Records == 0 || r.Kept == 0 || r.Kept != r.Exportable || r.LostWeight*1000 > r.Weight {
			t.Errorf("%s: %+v", format, r)
		}
		for _, other := range Formats {
			if Is(other, bytes.NewReader(first)) != (format == other) {
				t.Errorf("a %s profile is taken for %s, or not for itself", format, other)
			}
		}
	}
}

// TestTrim keeps a part of the weight, and no more functions or stacks than it
// takes.
func TestTrim(t *testing.T) {
	in := sampledProgram(t, "shapes")
	for _, format := range Formats {
		_, whole := written(t, format, in)
		last := 0
		for _, percent := range []float64{50, 90, 99.9, 100} {
			in.Trim = percent
			_, r := written(t, format, in)
			if kept := 100 * float64(r.Kept) / float64(whole.Kept); kept < percent || r.Exportable != whole.Kept {
				t.Errorf("%s: %v %% kept of %v", format, kept, percent)
			}
			if r.Exported < last || r.Exported > whole.Exported || r.Records > whole.Records {
				t.Errorf("%s: %v %%: %+v, whole %+v", format, percent, r, whole)
			}
			if percent < 99 && (r.Trimmed == 0 || r.Records >= whole.Records) {
				t.Errorf("%s: nothing was trimmed to %v %%", format, percent)
			}
			last = r.Exported
		}
		in.Trim = 0
	}
}

// TestUnusable exports images without debug information and without symbols.
func TestUnusable(t *testing.T) {
	in := sampledProgram(t, "minivm")
	bare := filepath.Join(t.TempDir(), "minivm.elf")
	run(t, corpus.Tool(t, "strip", "llvm-strip-19"), "-o", bare, corpus.Path(t, "programs", "minivm.elf"))
	img, err := image.Open(bare)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	info, err := debuginfo.Open(img, "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer info.Close()
	in.Image, in.Debug, in.Profile = img, info, copied(t, in.Profile)
	for _, format := range []Format{LLVM, LLVMBinary, GCOV} {
		if _, r := written(t, format, in); r.Exported != 0 || r.WithoutLines != r.Functions || r.LostWeight != r.Weight {
			t.Errorf("%s: %+v", format, r)
		}
	}
	if _, r := written(t, BOLT, in); r.Exported != 0 || r.WithoutSymbol != r.Functions || r.LostWeight != r.Weight {
		t.Errorf("bolt: %+v", r)
	}
	if _, r := written(t, Pprof, in); r.Exported != r.Functions || r.WithoutLines != r.Functions {
		t.Errorf("pprof: %+v", r)
	}
	for m := range in.Profile.Modules {
		for k := range in.Profile.Modules[m].Functions {
			in.Profile.Modules[m].Functions[k].RVA += 1 << 30
		}
	}
	if _, r := written(t, BOLT, in); r.Exported != 0 || r.WithoutCode != r.Functions {
		t.Errorf("code elsewhere: %+v", r)
	}
}
