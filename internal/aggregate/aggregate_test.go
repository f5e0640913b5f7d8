package aggregate

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/spgo-tools/spgo/internal/golden"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// event is one call of a sink.
type event struct {
	binary int
	op     byte // an opcode of addresses, spt.OpLBR or spt.OpETWCallStack
	rva    uint32
	stack  []sample.Branch
	frames []uint32
	n      uint64
}

var testBinaries = []sample.Binary{
	{Name: "app", Path: "/bin/app", GUID: binfmt.GUID{1}, Age: 1, Identity: sample.IdentityFile},
	{Name: "lib.so", Path: "/lib/lib.so", Identity: sample.IdentityNone, FileOffsets: true},
	{Name: "lib.so", Path: "/lib/lib.so", GUID: binfmt.GUID{2}, Identity: sample.IdentityMMAP2},
}

// randomEvents makes walks on a random flow graph, as programs do.
func randomEvents(rng *rand.Rand, count int) []event {
	nodes := 2 + rng.IntN(60)
	step := func(at uint32) uint32 { return (at*7 + uint32(rng.IntN(1+rng.IntN(4)))*13 + 1) % uint32(nodes) }
	var events []event
	for range count {
		e := event{binary: rng.IntN(len(testBinaries)), n: 1}
		if rng.IntN(5) == 0 {
			e.n = 1 + rng.Uint64N(1000)
		}
		switch rng.IntN(4) {
		case 0:
			e.op = []byte{1, 2, 3, 4, 5, 0x41}[rng.IntN(6)]
			e.rva = rng.Uint32N(2000)
		case 1:
			e.op = byte(spt.OpETWCallStack)
			at := rng.Uint32N(uint32(nodes))
			for range 1 + rng.IntN(400) {
				e.frames = append(e.frames, at*16)
				at = step(at)
			}
		default:
			e.op = byte(spt.OpLBR)
			at := rng.Uint32N(uint32(nodes))
			depth := []int{16, 32, 64}[rng.IntN(3)]
			for range 1 + rng.IntN(depth) {
				next := step(at)
				e.stack = append(e.stack, sample.Branch{To: at * 16, From: next*16 + 8})
				at = next
			}
		}
		events = append(events, e)
	}
	return events
}

// sums are the multisets that must survive.
type sums map[string]uint64

func (s sums) add(n uint64, format string, args ...any) {
	key := fmt.Sprintf(format, args...)
	s[key] = binfmt.SatAdd(s[key], n)
}

func (s sums) stack(binary string, stack []sample.Branch, n uint64) {
	for i, b := range stack {
		s.add(n, "%s branch %v", binary, b)
		if i > 0 {
			s.add(n, "%s pair %v %v", binary, stack[i-1], b)
		}
	}
}

func (s sums) calls(binary string, frames []uint32, n uint64) {
	for i := 1; i < len(frames); i++ {
		s.add(n, "%s arc %d %d", binary, frames[i-1], frames[i])
	}
}

func binaryName(b sample.Binary) string {
	return fmt.Sprint(b.ProgramName(), b.GUID, b.Age)
}

func expected(events []event) sums {
	s := sums{}
	for _, e := range events {
		name := binaryName(testBinaries[e.binary])
		switch {
		case e.stack != nil:
			s.stack(name, e.stack, e.n)
		case e.frames != nil:
			s.calls(name, e.frames, e.n)
		default:
			s.add(e.n, "%s ip %d %d", name, e.op, e.rva)
		}
	}
	return s
}

// decode reads an SPT with the reader of package spt and adds it up.
func decode(t *testing.T, data []byte, depth int) sums {
	t.Helper()
	r, err := spt.NewReader(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := sums{}
	for r.Next() {
		rec := r.Record()
		p := r.Programs()[rec.Program]
		name := fmt.Sprint(p.Name, p.GUID, p.Age)
		switch rec.Op {
		case spt.OpLBR:
			if len(rec.Pairs) > depth {
				t.Fatalf("a record of %d branches, more than %d", len(rec.Pairs), depth)
			}
			var stack []sample.Branch
			for _, pair := range rec.Pairs {
				stack = append(stack, sample.Branch{To: pair.To, From: pair.From})
			}
			s.stack(name, stack, rec.Hits())
		case spt.OpETWCallStack:
			if len(rec.RVAs) < 2 {
				t.Fatal("a call stack of one frame was written")
			}
			s.calls(name, rec.RVAs, rec.Hits())
		default:
			for _, rva := range rec.RVAs {
				s.add(rec.Hits(), "%s ip %d %d", name, byte(rec.Op), rva)
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// aggregate feeds events to shards in turn, merges them and writes.
func aggregateEvents(t *testing.T, events []event, shards, depth int) ([]byte, Written) {
	t.Helper()
	p := New(depth)
	workers := make([]*Shard, shards)
	for i := range workers {
		workers[i] = p.NewShard()
	}
	for i, e := range events {
		feed(p, workers[i%shards], e)
	}
	for _, w := range workers {
		p.Merge(w)
	}
	return write(t, p)
}

func feed(p *Profile, s *Shard, e event) {
	b := p.Register(testBinaries[e.binary])
	switch {
	case e.stack != nil:
		s.Branches(b, e.stack, e.n)
	case e.frames != nil:
		s.Calls(b, e.frames, e.n)
	default:
		s.IP(b, e.op, e.rva, e.n)
	}
}

// write writes a profile with one worker and with several, which must not make a
// difference.
func write(t *testing.T, p *Profile) ([]byte, Written) {
	t.Helper()
	var one, several bytes.Buffer
	w, err := p.Write(&one)
	if err != nil {
		t.Fatal(err)
	}
	p.Workers = 2
	again, err := p.Write(&several)
	if err != nil || again != w || !bytes.Equal(one.Bytes(), several.Bytes()) {
		t.Errorf("two workers write %+v, want %+v: %v", again, w, err)
	}
	p.Workers = 0
	return one.Bytes(), w
}

// fold aggregates SPTs.
func fold(t *testing.T, depth int, inputs ...[]byte) []byte {
	t.Helper()
	p := New(depth)
	s := p.NewShard()
	for _, data := range inputs {
		r, err := spt.NewReader(bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			rec := r.Record()
			prog := r.Programs()[rec.Program]
			b := p.Register(sample.FromProgram(prog.Name, prog.GUID, prog.Age))
			switch rec.Op {
			case spt.OpLBR:
				var stack []sample.Branch
				for _, pair := range rec.Pairs {
					stack = append(stack, sample.Branch{To: pair.To, From: pair.From})
				}
				s.Branches(b, stack, rec.Hits())
			case spt.OpETWCallStack:
				s.Calls(b, rec.RVAs, rec.Hits())
			default:
				for _, rva := range rec.RVAs {
					s.IP(b, byte(rec.Op), rva, rec.Hits())
				}
			}
		}
	}
	p.Merge(s)
	out, _ := write(t, p)
	return out
}

func TestExactAndDeterministic(t *testing.T) {
	for seed := uint64(0); seed < 25; seed++ {
		rng := rand.New(rand.NewPCG(seed, 1))
		events := randomEvents(rng, 1+rng.IntN(300))
		want := expected(events)
		data, written := aggregateEvents(t, events, 1, 255)
		if written.PairsCut != 0 {
			t.Errorf("seed %d: %d pairs were cut", seed, written.PairsCut)
		}
		if got := decode(t, data, 255); !maps.Equal(got, want) {
			t.Fatalf("seed %d: the sums differ: %v", seed, difference(want, got))
		}
		rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		if again, _ := aggregateEvents(t, events, 8, 255); !bytes.Equal(again, data) {
			t.Fatalf("seed %d: other bytes with 8 shards and another order", seed)
		}
		half := len(events) / 2
		a, _ := aggregateEvents(t, events[:half], 2, 255)
		b, _ := aggregateEvents(t, events[half:], 3, 255)
		if folded := fold(t, 255, b, a); !bytes.Equal(folded, data) {
			t.Fatalf("seed %d: other bytes when parts are aggregated first", seed)
		}
		if again := fold(t, 255, data); !bytes.Equal(again, data) {
			t.Fatalf("seed %d: folding a single file changes it", seed)
		}
	}
}

// TestDepth covers bounded records: exact where no stack is longer, and the
// pairs that had to be cut are counted where some are.
func TestDepth(t *testing.T) {
	for seed := uint64(0); seed < 10; seed++ {
		rng := rand.New(rand.NewPCG(seed, 2))
		events := randomEvents(rng, 100)
		var tooLong uint64
		want := expected(events)
		for _, e := range events {
			for at := 32; at < len(e.stack); at += 32 {
				tooLong += e.n
			}
		}
		data, written := aggregateEvents(t, events, 3, 32)
		if written.PairsCut != tooLong {
			t.Errorf("seed %d: %d pairs cut, want %d", seed, written.PairsCut, tooLong)
		}
		got := decode(t, data, 32)
		var missing uint64
		for _, lost := range difference(want, got) {
			missing += lost
		}
		if missing != tooLong {
			t.Errorf("seed %d: the sums differ by %d, want the %d pairs cut", seed, missing, tooLong)
		}
		if again := fold(t, 32, data); !bytes.Equal(again, data) {
			t.Errorf("seed %d: folding changes a file of bounded records", seed)
		}
	}
}

func difference(want, got sums) sums {
	d := sums{}
	for k, n := range want {
		if g := got[k]; g != n {
			d[k] = n - g
		}
	}
	for k, n := range got {
		if want[k] == 0 {
			d[k] = -n
		}
	}
	return d
}

func TestSaturation(t *testing.T) {
	p := New(255)
	s := p.NewShard()
	b := p.Register(testBinaries[0])
	stack := []sample.Branch{{To: 16, From: 32}, {To: 48, From: 64}}
	for range 3 {
		s.IP(b, 1, 16, math.MaxUint64-1)
		s.Branches(b, stack, math.MaxUint64-1)
		s.Calls(b, []uint32{16, 32}, math.MaxUint64-1)
	}
	p.Merge(s)
	data, _ := write(t, p)
	got := decode(t, data, 255)
	want := sums{}
	name := binaryName(testBinaries[0])
	want.add(math.MaxUint64, "%s ip 1 16", name)
	want.stack(name, stack, math.MaxUint64)
	want.calls(name, []uint32{16, 32}, math.MaxUint64)
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBinariesJoinByIdentity(t *testing.T) {
	p := New(255)
	same := p.Register(sample.Binary{Name: "b.exe", Path: "/x/b.exe", GUID: binfmt.GUID{9}, Age: 2, Identity: sample.IdentitySPT})
	if p.Register(sample.Binary{Name: "a.exe", Path: "/x/a.exe", GUID: binfmt.GUID{9}, Age: 2, Identity: sample.IdentityPE}) != same {
		t.Error("one identity under two names is two binaries")
	}
	if b := p.Binary(same); b.Name != "a.exe" || b.Identity != sample.IdentityPE {
		t.Errorf("joined binary is %+v", b)
	}
	for _, other := range []sample.Binary{
		{Name: "b.exe", GUID: binfmt.GUID{9}, Age: 3},
		{Name: "b.exe", GUID: binfmt.GUID{9}, Age: 2, FileOffsets: true},
		{Name: "b.exe"},
		{Name: "a.exe"},
		{Name: "a.exe", FileOffsets: true},
	} {
		if p.Register(other) == same {
			t.Errorf("%+v joins another identity", other)
		}
	}
	if p.Register(sample.Binary{Name: "a.exe", Path: "/y/a.exe"}) != p.Register(sample.Binary{Name: "a.exe", Path: "/x/a.exe"}) {
		t.Error("one name without identity is two binaries")
	}
}

func TestTooManyNames(t *testing.T) {
	p := New(255)
	s := p.NewShard()
	for i := range 700 {
		s.IP(p.Register(sample.Binary{Name: fmt.Sprintf("%0100d", i)}), 1, 16, 1)
	}
	p.Merge(s)
	var out bytes.Buffer
	if _, err := p.Write(&out); err == nil || out.Len() > 0 {
		t.Errorf("names of 70,700 bytes: error %v after %d bytes", err, out.Len())
	}
}

func TestSinkAllocatesNothing(t *testing.T) {
	p := New(255)
	s := p.NewShard()
	b := p.Register(testBinaries[0])
	events := randomEvents(rand.New(rand.NewPCG(5, 6)), 200)
	for _, e := range events {
		feed(p, s, e)
	}
	stack, frames := events[0].stack, events[0].frames
	for _, e := range events {
		if len(e.stack) > len(stack) {
			stack = e.stack
		}
		if len(e.frames) > len(frames) {
			frames = e.frames
		}
	}
	s.Branches(b, stack, 1)
	s.Calls(b, frames, 1)
	if n := testing.AllocsPerRun(100, func() {
		s.IP(b, 1, 16, 1)
		s.Branches(b, stack, 1)
		s.Calls(b, frames, 1)
	}); n != 0 || len(stack) < 16 || len(frames) < 100 {
		t.Errorf("%v allocations for known keys", n)
	}
}

// TestSizes keeps how large the SPTs of given samples are.
func TestSizes(t *testing.T) {
	var table bytes.Buffer
	fmt.Fprintln(&table, "events\tdepth\tbytes\trecords")
	for _, count := range []int{10, 1000, 4000} {
		events := randomEvents(rand.New(rand.NewPCG(9, uint64(count))), count)
		for _, depth := range []int{32, 255} {
			data, written := aggregateEvents(t, events, 1, depth)
			fmt.Fprintf(&table, "%d\t%d\t%d\t%d\n", count, depth, len(data), written.Records)
		}
	}
	golden.Check(t, "testdata/sizes.golden", table.Bytes())
}

func BenchmarkBranches(b *testing.B) {
	p := New(255)
	s := p.NewShard()
	bin := p.Register(testBinaries[0])
	var stacks [][]sample.Branch
	for _, e := range randomEvents(rand.New(rand.NewPCG(7, 8)), 2000) {
		if len(e.stack) >= 16 {
			stacks = append(stacks, e.stack[:16])
		}
	}
	b.SetBytes(16 * 24) // of a perf.data file
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Branches(bin, stacks[i%len(stacks)], 1)
	}
}
