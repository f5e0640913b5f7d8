package export

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// The extensible binary form: a magic number and version, a table of sections,
// and the sections. Numbers are ULEB128 but for those of the table.
//
// Source: LLVM's llvm/ProfileData/SampleProf.h.

const (
	llvmMagic   = 0x5350524f46343204 // "SPROF42" and 4, the extensible binary form
	llvmVersion = 103

	sectionSummary   = 1
	sectionNames     = 2
	sectionOffsets   = 4
	sectionFunctions = 32

	flagFlowSensitive = 1 << 34 // of the summary: what discriminators are
	flagUnique        = 1 << 34 // of the names: some have uniqueSuffix, which is part of the name
)

// uniqueSuffix, and a digest of the module, is what -funique-internal-linkage-names
// puts behind the names of static functions. LLVM strips it before it looks for a
// profile, unless flagUnique is set; the text form needs no flag.
const uniqueSuffix = ".__uniq."

// summaryCutoffs are the millionths of the total for which the summary says
// how many of the greatest counts make them up.
var summaryCutoffs = []uint64{10000, 100000, 200000, 300000, 400000, 500000, 600000, 700000, 800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999}

// writeLLVMBinary writes the extensible binary form.
func (p *program) writeLLVMBinary(w io.Writer) error {
	functions := p.lineProfile(p.llvmDiscriminators())
	e := newEncoder(functions, strings.Clone)
	body, offsets := e.functions(functions)
	var flags uint64
	if p.flowSensitive() {
		flags = flagFlowSensitive
	}
	sections := []struct {
		kind, flags uint64
		data        []byte
	}{
		{sectionSummary, flags, summary(functions)},
		{sectionNames, e.nameFlags(), e.nameTable()},
		{sectionOffsets, 0, offsets},
		{sectionFunctions, 0, body},
	}
	out := binary.AppendUvarint(nil, llvmMagic)
	out = binary.AppendUvarint(out, llvmVersion)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(sections)))
	at := uint64(len(out) + 32*len(sections))
	for _, s := range sections {
		for _, v := range []uint64{s.kind, s.flags, at, uint64(len(s.data))} {
			out = binary.LittleEndian.AppendUint64(out, v)
		}
		at += uint64(len(s.data))
	}
	for _, s := range sections {
		out = append(out, s.data...)
	}
	_, err := w.Write(out)
	return err
}

// encoder knows the number of each name.
type encoder struct {
	names  []string
	number map[string]uint64
}

// newEncoder numbers the names of the functions, each as spell writes it.
func newEncoder(functions []*lines, spell func(string) string) *encoder {
	e := &encoder{number: make(map[string]uint64)}
	for _, f := range functions {
		e.collect(f)
	}
	for name := range e.number {
		e.names = append(e.names, spell(name))
	}
	slices.Sort(e.names)
	e.names = slices.Compact(e.names)
	for name := range e.number {
		k, _ := slices.BinarySearch(e.names, spell(name))
		e.number[name] = uint64(k)
	}
	return e
}

// collect notes all names of a function.
func (e *encoder) collect(f *lines) {
	e.number[f.name] = 0
	for _, x := range f.body {
		for name := range x.calls {
			e.number[name] = 0
		}
	}
	for _, inner := range f.inlined {
		e.collect(inner)
	}
}

func (e *encoder) nameTable() []byte {
	b := binary.AppendUvarint(nil, uint64(len(e.names)))
	for _, name := range e.names {
		b = append(append(b, name...), 0)
	}
	return b
}

// nameFlags returns the flags of the name table.
func (e *encoder) nameFlags() uint64 {
	if slices.ContainsFunc(e.names, func(name string) bool { return strings.Contains(name, uniqueSuffix) }) {
		return flagUnique
	}
	return 0
}

// functions encodes the functions, and the table of where each one begins.
func (e *encoder) functions(list []*lines) (body, offsets []byte) {
	offsets = binary.AppendUvarint(nil, uint64(len(list)))
	for _, f := range list {
		offsets = binary.AppendUvarint(offsets, e.number[f.name])
		offsets = binary.AppendUvarint(offsets, uint64(len(body)))
		body = binary.AppendUvarint(body, f.entries)
		body = e.append(body, f)
	}
	return body, offsets
}

// append encodes a function without its entries.
func (e *encoder) append(b []byte, f *lines) []byte {
	b = binary.AppendUvarint(b, e.number[f.name])
	b = binary.AppendUvarint(b, f.total)
	b = binary.AppendUvarint(b, uint64(len(f.body)))
	for _, at := range f.places() {
		x := f.body[at]
		b = appendPlace(b, at)
		b = binary.AppendUvarint(b, x.count)
		targets := x.targets()
		b = binary.AppendUvarint(b, uint64(len(targets)))
		for _, t := range targets {
			b = binary.AppendUvarint(b, e.number[t.name])
			b = binary.AppendUvarint(b, t.count)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(f.inlined)))
	for _, s := range f.sites() {
		b = appendPlace(b, s.place)
		b = e.append(b, f.inlined[s])
	}
	return b
}

func appendPlace(b []byte, at place) []byte {
	b = binary.AppendUvarint(b, uint64(at.offset))
	return binary.AppendUvarint(b, uint64(at.discriminator))
}

// summary encodes the sum of all counts, the greatest ones, and for each cutoff
// the least count that is needed to reach it and how many counts that takes.
func summary(functions []*lines) []byte {
	d := distribute(functions)
	var entries uint64
	for _, f := range functions {
		entries = max(entries, f.entries)
	}
	var b []byte
	for _, v := range []uint64{d.total, d.greatest(), entries, uint64(len(d.counts)), uint64(len(functions)), uint64(len(summaryCutoffs))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, cutoff := range summaryCutoffs {
		least, n := d.reach(cutoff, 1e6)
		for _, v := range []uint64{cutoff, least, uint64(n)} {
			b = binary.AppendUvarint(b, v)
		}
	}
	return b
}

// distribution holds the counts of all lines of a profile, descending.
type distribution struct {
	counts []uint64
	total  uint64

	// What reach took the last time.
	taken int
	sum   uint64
}

func distribute(functions []*lines) *distribution {
	d := &distribution{}
	for _, f := range functions {
		d.counts = f.appendCounts(d.counts)
	}
	slices.SortFunc(d.counts, func(a, b uint64) int { return cmp.Compare(b, a) })
	for _, n := range d.counts {
		d.total = binfmt.SatAdd(d.total, n)
	}
	return d
}

func (d *distribution) greatest() uint64 {
	if len(d.counts) == 0 {
		return 0
	}
	return d.counts[0]
}

// reach returns how many of the greatest counts are needed to make up part of
// whole of the total, all equal ones included, and the least of them. The share
// must not be less than the last time.
func (d *distribution) reach(part, whole uint64) (least uint64, n int) {
	wanted := d.total/whole*part + d.total%whole*part/whole
	for d.sum < wanted && d.taken < len(d.counts) {
		for least := d.counts[d.taken]; d.taken < len(d.counts) && d.counts[d.taken] == least; d.taken++ {
			d.sum = binfmt.SatAdd(d.sum, least)
		}
	}
	if d.taken > 0 {
		least = d.counts[d.taken-1]
	}
	return least, d.taken
}

// appendCounts appends the counts of all lines.
func (l *lines) appendCounts(list []uint64) []uint64 {
	for _, at := range l.places() {
		list = append(list, l.body[at].count)
	}
	for _, s := range l.sites() {
		list = l.inlined[s].appendCounts(list)
	}
	return list
}
