package perfdata

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// layouts are sample types that together have every field with every
// neighbour that moves it.
func layouts() []*Attr {
	var list []*Attr
	add := func(a Attr) {
		a.Flags |= FlagSampleIDAll
		a.Name = fmt.Sprintf("event%d", len(list))
		list = append(list, &a)
	}
	for i := range sampleTypeNames {
		add(Attr{SampleType: 1 << i, RegsUser: 0xff, SamplePeriod: 1000})
		add(Attr{SampleType: SampleAll &^ (1 << i) &^ SampleWeight, RegsUser: 7, RegsIntr: 1, BranchSampleType: BranchHWIndex})
	}
	add(Attr{SampleType: SampleAll &^ SampleWeightStruct, BranchSampleType: BranchCounters})
	add(Attr{SampleType: SampleAll, BranchSampleType: BranchHWIndex | BranchCounters, SamplePeriod: 4000, Flags: FlagFreq})
	for format := range uint64(32) {
		add(Attr{SampleType: SampleIP | SampleRead | SampleCallChain, ReadFormat: format})
	}
	return list
}

// randomSample fills all fields that samples of a hold.
func randomSample(r *rand.Rand, a *Attr) Sample {
	words := func(n int) []uint64 {
		v := make([]uint64, r.IntN(n))
		for i := range v {
			v[i] = r.Uint64()
		}
		return v
	}
	s := Sample{Attr: a, Misc: uint16(r.IntN(6)) | MiscExactIP, IP: r.Uint64(), PID: int32(r.Uint32()), TID: -1, Time: r.Uint64(),
		Addr: r.Uint64(), ID: r.Uint64(), StreamID: r.Uint64(), CPU: r.Uint32(), Period: r.Uint64(), CallChain: words(130),
		HWIndex: r.Uint64(), Counters: words(40), Weight: r.Uint64(), DataSrc: r.Uint64(), Transaction: r.Uint64(),
		PhysAddr: r.Uint64(), Cgroup: r.Uint64(), DataPageSize: r.Uint64(), CodePageSize: r.Uint64(),
		Aux: bytes.Repeat([]byte{byte(r.Uint32())}, 8*r.IntN(5))}
	for range 4 * r.IntN(10) {
		s.Raw = append(s.Raw, byte(r.Uint32()))
	}
	if n := len(s.Raw); n%8 == 0 {
		s.Raw = append(s.Raw, 1, 2, 3, 4) // so that no padding is needed
	}
	for range r.IntN(70) {
		s.Branches = append(s.Branches, Branch{r.Uint64(), r.Uint64(), BranchFlags(r.Uint64() >> 30)})
	}
	return s
}

// stored is what of s comes back for samples of a: a sample without the
// fields that are not recorded.
func stored(a *Attr, s Sample, want SampleType) Sample {
	if want&SampleID != 0 {
		want |= SampleIdentifier
	}
	has := a.SampleType & want
	o := Sample{Fields: has, Attr: a, Misc: s.Misc, Period: a.period()}
	set := func(field SampleType, set func()) {
		if has&field != 0 {
			set()
		}
	}
	set(SampleIP, func() { o.IP = s.IP })
	set(SampleTID, func() { o.PID, o.TID = s.PID, s.TID })
	set(SampleTime, func() { o.Time = s.Time })
	set(SampleAddr, func() { o.Addr = s.Addr })
	set(SampleID|SampleIdentifier, func() { o.ID = s.ID })
	set(SampleStreamID, func() { o.StreamID = s.StreamID })
	set(SampleCPU, func() { o.CPU = s.CPU })
	set(SamplePeriod, func() { o.Period = s.Period })
	set(SampleCallChain, func() { o.CallChain = s.CallChain })
	set(SampleRaw, func() { o.Raw = s.Raw })
	set(SampleBranchStack, func() {
		o.Branches = s.Branches
		if a.BranchSampleType&BranchHWIndex != 0 {
			o.HWIndex = s.HWIndex
		}
		if a.BranchSampleType&BranchCounters != 0 {
			o.Counters = append(append([]uint64(nil), s.Counters...), make([]uint64, len(s.Branches))...)[:len(s.Branches)]
		}
	})
	set(SampleWeight, func() { o.Weight = s.Weight })
	set(SampleWeightStruct, func() { o.Weight, o.Weight2, o.Weight3 = s.Weight&0xffffffff, s.Weight2, s.Weight3 })
	set(SampleDataSrc, func() { o.DataSrc = s.DataSrc })
	set(SampleTransaction, func() { o.Transaction = s.Transaction })
	set(SamplePhysAddr, func() { o.PhysAddr = s.PhysAddr })
	set(SampleCgroup, func() { o.Cgroup = s.Cgroup })
	set(SampleDataPageSize, func() { o.DataPageSize = s.DataPageSize })
	set(SampleCodePageSize, func() { o.CodePageSize = s.CodePageSize })
	set(SampleAux, func() { o.Aux = s.Aux })
	return o
}

var compareSamples = cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Sample{}),
	cmpopts.IgnoreFields(Sample{}, "Offset", "Segment", "Attr")}

// sampleText prints the fields that compareSamples compares.
func sampleText(s *Sample) string {
	o := *s
	o.Offset, o.Segment, o.Attr, o.layout = 0, 0, nil, nil
	return fmt.Sprint(o)
}

// variants are all ways to write a recording.
func variants() map[string]WriterOptions {
	m := make(map[string]WriterOptions)
	for _, big := range []bool{false, true} {
		for _, pipe := range []bool{false, true} {
			for _, packing := range []Packing{PackNone, PackZstd, PackZstd2} {
				m[fmt.Sprintf("big=%v/pipe=%v/packing=%d", big, pipe, packing)] =
					WriterOptions{BigEndian: big, Pipe: pipe, Packing: packing}
			}
		}
	}
	return m
}

// writeBytes writes a recording with what fill adds to it.
func writeBytes(t testing.TB, opts WriterOptions, fill func(w *Writer)) []byte {
	t.Helper()
	m := new(memFile)
	w, err := NewWriter(m, opts)
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// TestSampleRoundTrip writes samples of every layout in both byte orders, and
// of the two largest layouts in all kinds of recordings, and reads them back
// from the walk and from the chunks.
func TestSampleRoundTrip(t *testing.T) {
	for name, opts := range variants() {
		t.Run(name, func(t *testing.T) {
			list := layouts()
			if opts.Pipe || opts.Packing != PackNone {
				list = slices.DeleteFunc(list, func(a *Attr) bool { return bits.OnesCount64(uint64(a.SampleType)) < 24 })[:2]
			}
			for _, a := range list {
				r := rand.New(rand.NewPCG(1, 2))
				samples := make([]Sample, 10)
				if opts.Packing != PackNone {
					samples = make([]Sample, 100) // several pieces
				}
				for i := range samples {
					samples[i] = randomSample(r, a)
				}
				opts.Attrs = []*Attr{a}
				f := openBytes(t, writeBytes(t, opts, func(w *Writer) {
					for i := range samples {
						if err := w.WriteSample(&samples[i]); err != nil {
							t.Fatal(err)
						}
					}
				}))
				for _, want := range []SampleType{SampleAll, SampleIP | SampleCallChain, SampleBranchStack | SampleCPU, 0} {
					compareWalk(t, f, samples, a, want)
				}
			}
		})
	}
}

func compareWalk(t *testing.T, f *File, samples []Sample, a *Attr, want SampleType) {
	t.Helper()
	check := func(from string, i int, got *Sample) {
		if i >= len(samples) {
			t.Fatalf("%v: more samples from the %s than written", a.SampleType, from)
		}
		// Comparing the texts is much faster than cmp.
		wrote := stored(a, samples[i], want)
		if sampleText(&wrote) != sampleText(got) {
			diff := cmp.Diff(wrote, *got, compareSamples)
			t.Fatalf("%v, want %v: sample %d from the %s (-wrote +read):\n%s", a.SampleType, want, i, from, diff)
		}
	}
	dec := f.NewDecoder(want)
	rs := f.Records()
	var s Sample
	n := 0
	for rs.Next() {
		if r := rs.Record(); r.Type == TypeSample {
			if d := dec.Decode(r, &s); d != DefectNone {
				t.Fatalf("%v: sample %d: %v", a.SampleType, n, d)
			}
			check("walk", n, &s)
			n++
		}
	}
	if stops := rs.Index().Stops; rs.Err() != nil || len(stops) > 0 || n != len(samples) {
		t.Fatalf("%v: %d samples, err %v, stops %v", a.SampleType, n, rs.Err(), stops)
	}
	src := f.Chunks(rs.Index())
	var c Chunk
	n = 0
	for src.Next(&c) {
		for dec.Reset(&c); dec.Next(); n++ {
			check("chunks", n, dec.Sample())
		}
	}
	if src.Err() != nil || n != len(samples) {
		t.Fatalf("%v: %d samples in chunks, err %v", a.SampleType, n, src.Err())
	}
}

// TestMixedLayouts has two events whose samples differ, told apart by their
// ids in each of the two places.
func TestMixedLayouts(t *testing.T) {
	for _, idField := range []SampleType{SampleIdentifier, SampleID} {
		for name, opts := range variants() {
			base := SampleIP | SampleTID | SampleTime | idField
			plain := &Attr{SampleType: base, IDs: []uint64{10, 11}, Name: "plain", Flags: FlagSampleIDAll}
			lbr := &Attr{SampleType: base | SampleBranchStack | SamplePeriod, IDs: []uint64{20, 21}, Name: "lbr", Flags: FlagSampleIDAll}
			opts.Attrs = []*Attr{plain, lbr}
			f := openBytes(t, writeBytes(t, opts, func(w *Writer) {
				for i := range 100 {
					id := opts.Attrs[i%2].IDs[i/2%2]
					w.WriteSample(&Sample{ID: id, IP: uint64(i), Branches: []Branch{{1, uint64(i), 2}}})
				}
				w.WriteSample(&Sample{ID: 99, Attr: plain}) // of nobody
				w.WriteSample(&Sample{ID: 0, IP: 1000, Attr: plain})
				w.WriteEvent(&Comm{PID: 1, Name: "x"}, SampleIDs{ID: 21, TID: 5, Time: 77})
			}))
			if len(f.Attrs) != 2 || f.Attrs[1].Name != "lbr" || f.Attrs[0].String() != "plain" {
				t.Fatalf("%s: attributes %v", name, f.Attrs)
			}
			dec := f.NewDecoder(SampleAll)
			var s Sample
			i := 0
			for rs := f.Records(); rs.Next(); {
				switch r := rs.Record(); r.Type {
				case TypeSample:
					d := dec.Decode(r, &s)
					switch {
					case i == 100:
						if d != DefectNoAttr {
							t.Errorf("%s: sample of nobody: %v", name, d)
						}
					case i == 101:
						if d != DefectNone || s.Attr != f.Attrs[0] || s.IP != 1000 {
							t.Errorf("%s: sample without id: %v, %+v", name, d, s)
						}
					case d != DefectNone || s.Attr != f.Attrs[i%2] || s.IP != uint64(i) || len(s.Branches) != i%2:
						t.Fatalf("%s: sample %d: %v, %+v", name, i, d, s)
					}
					i++
				case TypeComm:
					var m Comm
					ids, err := f.Decode(r, &m)
					if err != nil || ids.ID != 21 || ids.Time != 77 || ids.TID != 5 || m.Name != "x" {
						t.Errorf("%s: COMM %+v, ids %+v, %v", name, m, ids, err)
					}
				}
			}
			if i != 102 || dec.Defects[DefectNoAttr] != 1 || dec.Defects[DefectNone] != 101 {
				t.Errorf("%s: %d samples, defects %v", name, i, dec.Defects)
			}
		}
	}
}

// TestNoAllocations: the decoder is made once, samples cost no memory.
func TestNoAllocations(t *testing.T) {
	a := &Attr{SampleType: SampleAll &^ SampleWeight, BranchSampleType: BranchHWIndex | BranchCounters}
	f := openBytes(t, writeBytes(t, WriterOptions{Attrs: []*Attr{a}}, func(w *Writer) {
		r := rand.New(rand.NewPCG(3, 4))
		for range 1000 {
			s := randomSample(r, a)
			if err := w.WriteSample(&s); err != nil {
				t.Fatal(err)
			}
		}
	}))
	rs := f.Records()
	for rs.Next() {
	}
	var c Chunk
	src := f.Chunks(rs.Index())
	if !src.Next(&c) {
		t.Fatal("no chunk")
	}
	dec := f.NewDecoder(SampleAll)
	pass := func() {
		for dec.Reset(&c); dec.Next(); {
		}
	}
	pass() // the slices of the sample grow
	if n := testing.AllocsPerRun(10, pass); n != 0 {
		t.Errorf("%v allocations in a chunk, want none", n)
	}
	if dec.Defects[DefectNone] < 1000 {
		t.Errorf("decoded %v", dec.Defects)
	}
}

// TestNewerKernel has a field that this package does not know: the fields
// before it are good, what follows is left alone, and a warning tells.
func TestNewerKernel(t *testing.T) {
	a := &Attr{SampleType: SampleIP | SampleTransaction | SampleCgroup | SampleAux | 1<<40}
	f := openBytes(t, writeBytes(t, WriterOptions{Attrs: []*Attr{a}}, func(w *Writer) {
		e := newEncoder(false)
		for _, v := range []uint64{11, 12, 13, 1 << 50, 8, 15} { // the fourth is new
			e.u64(v)
		}
		w.WriteRecord(TypeSample, 0, e.b)
		w.WriteRecord(TypeSample, 0, e.b[:16]) // too short for the known ones
	}))
	dec := f.NewDecoder(SampleAll)
	var s Sample
	var got []Defect
	for rs := f.Records(); rs.Next(); {
		got = append(got, dec.Decode(rs.Record(), &s))
		if len(got) == 1 && (s.IP != 11 || s.Transaction != 12 || s.Cgroup != 13 || s.Aux != nil || s.Fields != SampleIP|SampleTransaction|SampleCgroup) {
			t.Errorf("%+v", s)
		}
	}
	if diff := cmp.Diff([]Defect{DefectNone, DefectShort}, got); diff != "" {
		t.Error(diff)
	}
	if len(f.Warnings) != 1 || f.Warnings[0].Got != "0x10000000000" {
		t.Errorf("warnings %v", f.Warnings)
	}
}

// TestSampleDefects has samples that do not fit their record.
func TestSampleDefects(t *testing.T) {
	words := func(v ...uint64) []byte {
		e := newEncoder(false)
		e.u64s(v)
		return e.b
	}
	const big = 1 << 62
	for _, tt := range []struct {
		attr Attr
		body []byte
		want Defect
	}{
		{Attr{SampleType: SampleIP | SampleTID}, words(1, 2), DefectNone},
		{Attr{SampleType: SampleIP | SampleTID}, words(1), DefectShort},
		{Attr{SampleType: SampleIP | SampleTID}, words(1, 2, 3), DefectLeftover},
		{Attr{SampleType: SampleIP | SampleTID}, append(words(1, 2), 0), DefectLeftover},
		{Attr{SampleType: SampleRead}, nil, DefectRead},
		{Attr{SampleType: SampleRead, ReadFormat: 4}, words(1), DefectRead},
		{Attr{SampleType: SampleRead, ReadFormat: readGroup}, words(2, 1), DefectRead},
		{Attr{SampleType: SampleRead, ReadFormat: readGroup | readID}, words(big, 1), DefectRead},
		{Attr{SampleType: SampleCallChain}, nil, DefectShort},
		{Attr{SampleType: SampleCallChain}, words(2, 1), DefectChain},
		{Attr{SampleType: SampleCallChain}, words(big|1, 1), DefectChain},
		{Attr{SampleType: SampleRaw}, nil, DefectShort},
		{Attr{SampleType: SampleRaw}, words(5), DefectRaw},
		{Attr{SampleType: SampleBranchStack}, nil, DefectBranches},
		{Attr{SampleType: SampleBranchStack}, words(1, 1, 1), DefectBranches},
		{Attr{SampleType: SampleBranchStack}, words(1<<61, 1, 1), DefectBranches},
		{Attr{SampleType: SampleBranchStack, BranchSampleType: BranchHWIndex}, words(0), DefectBranches},
		{Attr{SampleType: SampleBranchStack, BranchSampleType: BranchCounters}, words(1, 1, 1, 1), DefectBranches},
		{Attr{SampleType: SampleRegsUser, RegsUser: 3}, words(1, 1), DefectShort},
		{Attr{SampleType: SampleRegsUser, RegsUser: 3}, words(0), DefectNone},
		{Attr{SampleType: SampleStackUser}, words(16, 1), DefectStack},
		{Attr{SampleType: SampleStackUser}, words(8, 1), DefectShort},
		{Attr{SampleType: SampleStackUser}, words(8, 1, 8), DefectNone},
		{Attr{SampleType: SampleRegsIntr, RegsIntr: 1}, words(2, 1), DefectNone},
		{Attr{SampleType: SamplePhysAddr}, nil, DefectShort},
		{Attr{SampleType: SampleAux}, words(9, 1), DefectAux},
	} {
		f := openBytes(t, writeBytes(t, WriterOptions{Attrs: []*Attr{&tt.attr}}, func(w *Writer) { w.WriteRecord(TypeSample, 0, tt.body) }))
		dec := f.NewDecoder(SampleAll)
		var s Sample
		rs := f.Records()
		rs.Next()
		if got := dec.Decode(rs.Record(), &s); got != tt.want || dec.Defects[got] != 1 {
			t.Errorf("%v, %d bytes: %v, want %v", tt.attr.SampleType, len(tt.body), got, tt.want)
		}
		rs.Close()
	}
}

// TestPlainLoads compares the loops for big-endian machines with the copies.
func TestPlainLoads(t *testing.T) {
	e := newEncoder(false)
	word := func(i uint64) uint64 { return i * 0x0123456789abcdef }
	for i := range uint64(30) {
		e.u64(word(i))
	}
	load := func() ([]Branch, []uint64) {
		b, w := make([]Branch, 10), make([]uint64, 30)
		loadBranches(b, e.b)
		loadWords(w, e.b)
		return b, w
	}
	b1, w1 := load()
	defer func(v bool) { hostIsLittle = v }(hostIsLittle)
	hostIsLittle = false
	b2, w2 := load()
	if diff := cmp.Diff(b1, b2) + cmp.Diff(w1, w2); diff != "" || b2[3].To != word(10) {
		t.Error(diff, b2[3])
	}
}

// TestBranchFlags checks each field in both byte orders.
func TestBranchFlags(t *testing.T) {
	for _, tt := range []struct {
		little, big uint64
		get         func(f BranchFlags) uint64
	}{
		{1, 1 << 63, func(f BranchFlags) uint64 { return one(f.Mispred()) }},
		{1 << 1, 1 << 62, func(f BranchFlags) uint64 { return one(f.Predicted()) }},
		{1 << 2, 1 << 61, func(f BranchFlags) uint64 { return one(f.InTx()) }},
		{1 << 3, 1 << 60, func(f BranchFlags) uint64 { return one(f.Abort()) }},
		{0xffff << 4, 0xffff << 44, func(f BranchFlags) uint64 { return uint64(f.Cycles()) / 0xffff }},
		{15 << 20, 15 << 40, func(f BranchFlags) uint64 { return uint64(f.Type() / BranchExtended) }},
		{3 << 24, 3 << 38, func(f BranchFlags) uint64 { return uint64(f.Spec()) / SpecRightPath }},
		{15 << 26, 15 << 34, func(f BranchFlags) uint64 { return uint64(f.NewType()) / 15 }},
		{7 << 30, 7 << 31, func(f BranchFlags) uint64 { return uint64(f.Priv()) / 7 }},
		{1 << 33, 1 << 30, func(f BranchFlags) uint64 { return one(f.NotTaken()) }},
	} {
		f := BranchFlags(tt.little)
		if tt.get(f) != 1 || tt.get(^f) != 0 || f.toBig() != tt.big || flagsFromBig(tt.big) != f {
			t.Errorf("flags %#x: field %d, big endian %#x, back %#x", tt.little, tt.get(f), f.toBig(), flagsFromBig(tt.big))
		}
	}
}

func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
