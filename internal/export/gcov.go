package export

import (
	"encoding/binary"
	"io"
	"strings"
)

// GCC's AutoFDO profile, of 32-bit little-endian words; a counter is two of
// them, the low one first.
//
//	"adcg" version 0
//	tag aa000000, length, number of names, names
//	tag ac000000, length, number of functions, functions
//	tag ae000000, 0, 0    modules, of which GCC knows none
//	tag af000000, length, 128 x (number of counts, least count (counter))
//
// The last section says which of the greatest counts make up each 128th of the
// total. GCC does not read it, but AutoFDO's tools want it.
//
// Nobody looks at the lengths of the sections, which count words. A name is its
// length in bytes, the terminating NUL included, and the bytes; the first one
// is empty. A function is
//
//	entries (counter), only of one that is not inlined
//	name, number of lines, number of inlined calls
//	lines: place, number of callees, count (counter), callees
//	callees: kind, name (counter), count (counter)
//	inlined calls: place, function
//
// where a name is a number of the table and a place is the distance from the
// function's first line in the upper 16 bits.
//
// This is version 2, of GCC 12 and later. Version 1 counts the length of a name
// in words. These compilers leave discriminators out of account: of several
// lines with the same distance they take the last one. So all blocks of a line
// are one here, with the count of the greatest.
//
// Source: GCC's gcov-io and auto-profile, AutoFDO's profile_writer.
const (
	gcovMagic   = "adcg"
	gcovVersion = 2

	tagNames     = 0xaa000000
	tagFunctions = 0xac000000
	tagModules   = 0xae000000
	tagShares    = 0xaf000000

	shares = 128

	indirectCall = 7 // the kind of callees that AutoFDO writes
)

// writeGCOV writes the profile.
func (p *program) writeGCOV(w io.Writer) error {
	functions := p.lineProfile(withoutDiscriminators)
	e := newEncoder(functions, symbolOf)
	var names, body gcovWriter
	names.words(uint32(len(e.names) + 1))
	names.name("")
	for _, name := range e.names {
		names.name(name)
	}
	body.words(uint32(len(functions)))
	for _, f := range functions {
		body.counter(f.entries)
		body.function(e, f)
	}
	out := gcovWriter(gcovMagic)
	out.words(gcovVersion, 0)
	out.section(tagNames, names)
	out.section(tagFunctions, body)
	out.section(tagModules, nil)
	out.words(0)
	out.section(tagShares, greatest(functions))
	_, err := w.Write(out)
	return err
}

// symbolOf makes the name of a constructor or destructor that stands for all its
// variants (C4, D4), as GCC's debug information has it, that of one which is a
// symbol: GCC would make direct calls of the former, which do not link (GCC's
// bug 64346).
func symbolOf(name string) string {
	for _, kind := range []string{"C", "D"} {
		if base, found := strings.CutSuffix(name, kind+"4Ev"); found {
			return base + kind + "2Ev"
		}
	}
	return name
}

// greatest encodes which of the greatest counts make up each share of the total.
func greatest(functions []*lines) gcovWriter {
	d := distribute(functions)
	var b gcovWriter
	for k := range uint64(shares) {
		least, n := d.reach(k+1, shares)
		b.words(uint32(n))
		b.counter(least)
	}
	return b
}

type gcovWriter []byte

func (b *gcovWriter) words(list ...uint32) {
	for _, v := range list {
		*b = binary.LittleEndian.AppendUint32(*b, v)
	}
}

// section appends a tag, the length in words and the content.
func (b *gcovWriter) section(tag uint32, content gcovWriter) {
	b.words(tag, uint32(len(content)/4))
	*b = append(*b, content...)
}

func (b *gcovWriter) name(s string) {
	b.words(uint32(len(s) + 1))
	*b = append(append(*b, s...), 0)
}

func (b *gcovWriter) counter(v uint64) { *b = binary.LittleEndian.AppendUint64(*b, v) }

func (b *gcovWriter) place(at place) { b.words(uint32(at.offset) << 16) }

// function appends a function without its entries.
func (b *gcovWriter) function(e *encoder, f *lines) {
	b.words(uint32(e.number[f.name]+1), uint32(len(f.body)), uint32(len(f.inlined)))
	for _, at := range f.places() {
		x := f.body[at]
		targets := x.targets()
		b.place(at)
		b.words(uint32(len(targets)))
		b.counter(x.count)
		for _, t := range targets {
			b.words(indirectCall)
			b.counter(e.number[t.name] + 1)
			b.counter(t.count)
		}
	}
	for _, s := range f.sites() {
		b.place(s.place)
		b.function(e, f.inlined[s])
	}
}

// withoutDiscriminators takes all blocks of a line for one.
func withoutDiscriminators(producer string, d uint32) (number, copies uint32) {
	_, copies = clangDiscriminators(producer, d)
	return 0, copies
}
