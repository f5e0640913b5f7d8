package ingest

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// net452 is a recording of a managed program, with timer samples and stacks.
const net452 = "microsoft_perfview__net.4.5.2.x64__net.4.5.2.x64.etl"

// TestETLCorpus reads all recordings of the corpus: none may fail, and what
// was made by hand has to come out as it was put in, in whatever form.
func TestETLCorpus(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus.Path(t, "corpus", "etl"), "*.etl"))
	if err != nil || len(paths) < 18 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	made := map[string]*etlReading{}
	for _, path := range paths {
		name := filepath.Base(path)
		one, eight := readLogs(t, Options{Workers: 1}, path), readLogs(t, Options{Workers: 8}, path)
		if len(one.errs) > 0 {
			t.Errorf("%s: %v", name, one.errs)
		}
		if diff := cmp.Diff(text(t, one), text(t, eight)); diff != "" {
			t.Errorf("%s: eight workers differ from one (-one +eight):\n%s", name, diff)
		}
		var records uint64
		for _, f := range one.facts {
			if f.Damage != nil || f.Truncated {
				t.Errorf("%s: %v", f.File, f.Damage)
			}
			for _, n := range f.Records {
				records += n
			}
		}
		if records < 2 {
			t.Errorf("%s: %d records", name, records)
		}
		if strings.HasPrefix(name, "k") {
			made[name] = one
		}
	}
	const packed32, packed64 = "k32_packed_extra.etl", "k64_packed.etl"
	for name, r := range made {
		f := r.facts[0]
		if f.Samples != 40 || f.BranchEntries != 442 || f.CallchainFrames != 30 || f.Stats.Samples.Used() != 40 ||
			f.Stats.Branches.Used() != 442 || f.Stats.Frames.Used() != 30 || len(r.pairs) != 0 {
			t.Errorf("%s: %+v", name, f)
		}
		like := made["k64.etl"]
		if strings.HasPrefix(name, "k32") {
			like = made["k32.etl"]
		}
		for what, n := range map[string][2]int{"addresses": {len(r.ips), same(t, name+" addresses", like.ips, r.ips)},
			"branches": {len(r.arcs), same(t, name+" branches", like.arcs, r.arcs)}, "calls": {len(r.calls), same(t, name+" calls", like.calls, r.calls)}} {
			if n[0] == 0 || n[0] != n[1] {
				t.Errorf("%s: %d %s, want %d", name, n[0], what, n[1])
			}
		}
	}
	if made[packed32] == nil || made[packed64] == nil {
		t.Errorf("recordings made by hand: %v", sortedNames(made))
	}
}

// text prints what was read, without what depends on the order of workers.
func text(t *testing.T, r *etlReading) string {
	var b strings.Builder
	for _, f := range r.facts {
		b.WriteString(printed(t, f))
	}
	names := func(binary int32) string { return fmt.Sprint(r.binaries[binary].Path, r.binaries[binary].GUID) }
	lines := map[string]uint64{}
	for k, n := range r.ips {
		lines[fmt.Sprint(names(k.binary), k.opcode, k.rva)] += n
	}
	for k, n := range r.pairs {
		lines[fmt.Sprint(names(k.newer.binary), k)] += n
	}
	for k, n := range r.arcs {
		lines[fmt.Sprint(names(k.binary), k.from, k.to)] += n
	}
	for k, n := range r.calls {
		lines[fmt.Sprint(names(k.binary), "call", k.callee, k.caller)] += n
	}
	for _, l := range sortedNames(lines) {
		fmt.Fprintln(&b, l, lines[l])
	}
	return b.String()
}

// TestETLRealShares compares the recording of a managed program with what is
// known of it: 79,528 samples of which 73,208 are of the idle loop; of the 6,215
// samples of threads other than the idle loops', 24.7 % in images, 72.3 % in
// methods compiled at run time and 3.0 % in neither. The 105 samples that are
// left are of interrupts and deferred calls on idle processors.
func TestETLRealShares(t *testing.T) {
	path := corpus.Path(t, "corpus", "etl", net452)
	got := readLogs(t, Options{Workers: 2}, path)
	f := got.facts[0]
	timer := f.Stats.Kinds[sample.Timer]
	if f.Samples != 79528 || timer[sample.Idle] != 73208 || f.Stats.Samples[sample.Idle] != 73208 {
		t.Errorf("%d samples, %d idle", f.Samples, timer[sample.Idle])
	}
	idleProcess := f.Stats.Processes["Idle"]
	threads := timer.Total() - timer[sample.Idle] - idleProcess
	outside := timer[sample.Unmapped] + timer[sample.KernelUnmapped] + timer[sample.UnknownProcess]
	images := timer.Used() - idleProcess // all of those 105 are in the kernel's images
	if idleProcess != 105 || threads != 6215 || images+timer[sample.JIT]+outside != threads {
		t.Errorf("%d samples of threads and %d beside the idle loop: %s", threads, idleProcess, account(&timer))
	}
	for what, share := range map[string][2]float64{"images": {float64(images), 24.7}, "JIT": {float64(timer[sample.JIT]), 72.3}, "neither": {float64(outside), 3.0}} {
		if p := 100 * share[0] / float64(threads); math.Abs(p-share[1]) > 0.051 {
			t.Errorf("%s: %.2f %%, want %.1f %%", what, p, share[1])
		}
	}
	if f.Managed == nil || f.Managed.JIT != timer[sample.JIT] || len(f.Managed.Methods) != shownMethods || !strings.HasPrefix(f.Managed.Methods[0].Name, "System.DateTime.GetDatePart") {
		t.Errorf("managed code: %+v", f.Managed)
	}
	naive := newNaiveLog(t, path)
	byPath := map[string]uint64{}
	for k, n := range got.ips {
		byPath[fmt.Sprintf("%s+%x", pathInVolume(got.binaries[k.binary].Path), k.rva)] += n
	}
	if n := same(t, "addresses", naive.hits, byPath); n < 500 {
		t.Errorf("only %d addresses were compared", n)
	}
	for _, b := range got.binaries {
		if id := naive.ids[pathInVolume(b.Path)]; b.Identity == sample.IdentityTrace && !id[identity{b.GUID, b.Age}] || b.Identity == sample.IdentityNone && len(id) > 0 {
			t.Errorf("%s has %v age %d (%s), the records say %v", b.Path, b.GUID, b.Age, b.Identity, id)
		}
	}
}

type identity struct {
	guid binfmt.GUID
	age  uint32
}

// naiveLog resolves the samples of a recording in one walk in the order of
// time, with what is loaded at each moment in plain maps.
type naiveLog struct {
	hits map[string]uint64            // samples that are not idle, by path and RVA
	ids  map[string]map[identity]bool // native identities by path
}

func newNaiveLog(t *testing.T, path string) *naiveLog {
	recs, err := etl.OpenAll([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer recs[0].Close()
	n := &naiveLog{hits: map[string]uint64{}, ids: map[string]map[identity]bool{}}
	type slot struct {
		pid  uint32
		base uint64
	}
	where := func(m *etl.Image) slot {
		if m.Base>>63 != 0 {
			return slot{0, m.Base}
		}
		return slot{m.PID, m.Base}
	}
	loaded := map[uint32]map[uint64]etl.Image{} // by process and base
	load := func(at slot, m etl.Image) {
		if loaded[at.pid] == nil {
			loaded[at.pid] = map[uint64]etl.Image{}
		}
		loaded[at.pid][at.base] = m
	}
	process := map[uint32]uint32{} // by thread
	// What only an end or a rundown at the end tells of was there before.
	begun, begunThread := map[slot]bool{}, map[uint32]bool{}
	each := func(visit func(r *etl.Record)) {
		for m := etl.NewMerge(recs[0].Files, etl.SideBand|etl.ClassSample); m.Next(); {
			visit(m.Record())
		}
	}
	each(func(r *etl.Record) {
		switch r.Class {
		case etl.ClassImage:
			var m etl.Image
			if etl.DecodeImage(r, &m) != nil {
				t.Fatal("image")
			}
			at := where(&m)
			begins := r.Hook == etl.HookImageLoad || r.Hook == etl.HookImageDCStart
			if _, there := loaded[at.pid][at.base]; !begins && !begun[at] && !there {
				load(at, m)
			}
			begun[at] = begun[at] || begins
		case etl.ClassThread:
			var th etl.Thread
			if etl.DecodeThread(r, &th) != nil {
				t.Fatal("thread")
			}
			begins := r.Hook == etl.HookThreadStart || r.Hook == etl.HookThreadDCStart
			if _, there := process[th.TID]; !begins && !begunThread[th.TID] && !there {
				process[th.TID] = th.PID
			}
			begunThread[th.TID] = begunThread[th.TID] || begins
		}
	})
	waiting := map[slot]identity{} // what an ImageID record says of the image event behind it
	each(func(r *etl.Record) {
		switch r.Class {
		case etl.ClassImageID:
			var id etl.ImageID
			if r.Opcode == etl.ImageIDRSDS && etl.DecodeImageID(r, &id) == nil {
				waiting[where(&etl.Image{PID: id.PID, Base: id.Base})] = identity{id.GUID, id.Age}
			}
		case etl.ClassImage:
			var m etl.Image
			etl.DecodeImage(r, &m)
			at := where(&m)
			if id, ok := waiting[at]; ok {
				name := pathInVolume(m.Name)
				if n.ids[name] == nil {
					n.ids[name] = map[identity]bool{}
				}
				n.ids[name][id] = true
				delete(waiting, at)
			}
			if r.Hook == etl.HookImageUnload {
				delete(loaded[at.pid], at.base)
			} else {
				load(at, m)
			}
		case etl.ClassThread:
			var th etl.Thread
			etl.DecodeThread(r, &th)
			if r.Hook == etl.HookThreadEnd {
				delete(process, th.TID)
			} else {
				process[th.TID] = th.PID
			}
		case etl.ClassSample:
			var s etl.Sample
			if etl.DecodeSample(r, &s) != nil || s.Idle() {
				return
			}
			pid := process[s.TID]
			if s.IP>>63 != 0 {
				pid = 0
			}
			for _, m := range loaded[pid] {
				if s.IP >= m.Base && s.IP < m.Base+m.Size {
					n.hits[fmt.Sprintf("%s+%x", pathInVolume(m.Name), s.IP-m.Base)]++
				}
			}
		}
	})
	return n
}
