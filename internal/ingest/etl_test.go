package ingest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// TestETL reads recordings of a machine in all forms in which Windows and its
// tools write them. All have to give exactly the hits and the accounts that the
// samples stand for.
func TestETL(t *testing.T) {
	everything := etl.AllClasses &^ etl.ClassLogFile
	one := func(change func(*etl.Trace)) func(*testing.T, string, *etl.Trace) []string {
		return func(t *testing.T, dir string, trace *etl.Trace) []string {
			change(trace)
			return []string{writeLog(t, filepath.Join(dir, "run.etl"), trace)}
		}
	}
	// rewritten writes the trace and then rewrites it, into one file for each
	// change.
	rewritten := func(prepare func(*etl.Trace), changes map[string]func(*etl.Record, func(*etl.Record))) func(*testing.T, string, *etl.Trace) []string {
		return func(t *testing.T, dir string, trace *etl.Trace) []string {
			prepare(trace)
			whole := writeLog(t, filepath.Join(t.TempDir(), "whole.etl"), trace)
			var names []string
			for _, name := range sortedNames(changes) {
				names = append(names, rewrite(t, whole, filepath.Join(dir, name), changes[name]))
			}
			return names[:1] // the others are found beside it
		}
	}
	asItIs := func(*etl.Trace) {}
	for _, tc := range []struct {
		name    string
		ptr     int
		write   func(t *testing.T, dir string, trace *etl.Trace) []string
		options Options
		images  bool // give the images
	}{
		{name: "merged", ptr: 8, write: one(asItIs)},
		{name: "32 bit", ptr: 4, write: one(asItIs)},
		{name: "unmerged", ptr: 8, write: one(func(tr *etl.Trace) { tr.Merged = false }), images: true},
		{name: "compressed", ptr: 8, write: one(func(tr *etl.Trace) { tr.Compress = true })},
		{name: "rundown at the end", ptr: 8, write: one(func(tr *etl.Trace) { tr.EndRundown = true })},
		{name: "stack keys", ptr: 8, write: one(func(tr *etl.Trace) { tr.StackKeys = true })},
		{name: "32 bit, compressed, rundown at the end, stack keys", ptr: 4,
			write: one(func(tr *etl.Trace) { tr.Compress, tr.EndRundown, tr.StackKeys = true, true, true })},
		{name: "eight workers", ptr: 8, write: one(func(tr *etl.Trace) { tr.StackKeys = true }), options: Options{Workers: 8}},
		{name: "one buffer for each processor", ptr: 8, write: func(t *testing.T, dir string, trace *etl.Trace) []string {
			trace.BufferSize = 1 << 20
			return []string{writeLog(t, filepath.Join(dir, "run.etl"), trace)}
		}},
		{name: "shuffled buffers", ptr: 8, write: func(t *testing.T, dir string, trace *etl.Trace) []string {
			return []string{shuffled(t, writeLog(t, filepath.Join(dir, "run.etl"), trace))}
		}},
		{name: "packed", ptr: 8, write: func(t *testing.T, dir string, trace *etl.Trace) []string {
			data, err := os.ReadFile(writeLog(t, filepath.Join(t.TempDir(), "run.etl"), trace))
			if err != nil {
				t.Fatal(err)
			}
			return []string{writeFile(t, filepath.Join(dir, "run.bin"), zstdPacked(t, data))}
		}},
		{name: "processes and images in another file", ptr: 8, write: rewritten(asItIs, map[string]func(*etl.Record, func(*etl.Record)){
			"run.etl": keep(resolving), "run.kernel.etl": keep(everything &^ resolving)})},
		{name: "stacks and branches in another file", ptr: 8, write: rewritten(func(tr *etl.Trace) { tr.StackKeys = true }, map[string]func(*etl.Record, func(*etl.Record)){
			"run.etl": keep(everything &^ joining), "run.kernel.etl": keep(joining)})},
		{name: "loads were lost", ptr: 8, write: rewritten(func(tr *etl.Trace) { tr.EndRundown = true }, map[string]func(*etl.Record, func(*etl.Record)){
			"run.etl": func(r *etl.Record, emit func(*etl.Record)) {
				// Where two images share an address the beginning of the later one has to be known.
				if r.Hook != etl.HookImageLoad || r.Time == 5_000_000+500*moment+1 {
					emit(r)
				}
			}})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(tc.ptr)
			samples, want := m.script(uint64(tc.ptr))
			o := tc.options
			if tc.images {
				o.ImagePath = []string{m.files(t)}
			}
			got := readLogs(t, o, tc.write(t, t.TempDir(), m.trace(samples))...)
			m.check(t, got, want)
			identity := sample.IdentityTrace
			if tc.images {
				identity = sample.IdentityImageFound
			}
			for _, b := range got.binaries {
				if b.Identity != identity {
					t.Errorf("%s is identified by %q, want %q", b.Path, b.Identity, identity)
				}
			}
		})
	}
}

// files writes the images of the machine as PE files.
func (m *machine) files(t *testing.T) string {
	files := map[string][]byte{}
	add := func(folder string, images []machineImage) {
		for _, x := range images {
			files[folder+"/"+sample.BaseName(x.Path)] = peImage{sizeOfImage: uint32(x.Size), guid: x.PDBGUID, age: x.PDBAge,
				codeAt: 0x600, codeSize: 0x1000}.bytes()
		}
	}
	add("kernel", m.kernel)
	for _, p := range m.processes {
		add(p.Name, p.images[:2])
		add(p.Name+" more", p.images[2:])
	}
	return writeFiles(t, files)
}

// shuffled puts the buffers of a file, but for the first, into random order.
func shuffled(t *testing.T, path string) string {
	t.Helper()
	recs, err := etl.OpenAll([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer recs[0].Close()
	buffers := recs[0].Files[0].Buffers()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := data[:buffers[0].Size:buffers[0].Size]
	for _, i := range rand.New(rand.NewPCG(5, 5)).Perm(len(buffers) - 1) {
		b := buffers[1+i]
		out = append(out, data[b.Offset:b.Offset+int64(b.Size)]...)
	}
	return writeFile(t, path, out)
}
