package spt

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// benchFile is a file of about size bytes with records as aggregation writes
// them: stacks of 16 branches, short lists of addresses with a REPEAT, and
// stacks of 8 frames.
func benchFile(b *testing.B, size int) []byte {
	var out bytes.Buffer
	programs := []ProgramID{{GUID: guidA, Age: 1, Name: "a.exe"}, {GUID: guidB, Age: 2, Name: "b.dll"}}
	w, err := NewWriter(&out, programs, nil)
	if err != nil {
		b.Fatal(err)
	}
	pairs, rvas := make([]Pair, 16), make([]uint32, 8)
	for i := uint32(0); out.Len() < size; i++ {
		for k := range pairs {
			pairs[k] = Pair{To: 0x1000 + i*64 + uint32(k), From: 0x2000 + i*32 + uint32(k)}
		}
		for k := range rvas {
			rvas[k] = 0x1000 + i*16 + uint32(k)
		}
		for _, err := range []error{
			w.BeginBinary(int(i>>12) % 2),
			w.LBR(pairs, uint64(i%3)),
			w.IP(OpUnhaltCycle, rvas[:1+i%8], uint64(i%7)),
			w.CallStack(rvas, 0),
		} {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// singles is the worst case: one address a record, each with its REPEAT.
func singles(size int) []byte {
	return smallFile(segment(0, bytes.Repeat(cat(repeat(0, 3), entries(0x01, 1, 0x1234)), size/16)))
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		data []byte
	}{{"mixed", benchFile(b, 32<<20)}, {"singles", singles(32 << 20)}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			sum := uint64(0)
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(c.data), int64(len(c.data)), nil)
				if err != nil {
					b.Fatal(err)
				}
				for r.Next() {
					rec := r.Record()
					sum += uint64(len(rec.RVAs)+len(rec.Pairs)) * rec.Hits()
				}
				if r.Err() != nil {
					b.Fatal(r.Err())
				}
			}
			if sum == 0 {
				b.Fatal("nothing read")
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	pairs := make([]Pair, 16)
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprintf("LBR of %d", n), func(b *testing.B) {
			w, err := NewWriter(io.Discard, []ProgramID{{}}, nil)
			if err != nil {
				b.Fatal(err)
			}
			if err := w.BeginBinary(0); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(repeatSize + recordHead + n*8))
			b.ReportAllocs()
			for b.Loop() {
				if err := w.LBR(pairs[:n], 7); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCopy(b *testing.B) {
	data := benchFile(b, 32<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := Copy(io.Discard, open(b, data, nil)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteText(b *testing.B) {
	data := benchFile(b, 32<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := WriteText(io.Discard, open(b, data, nil), PartAll); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseText counts bytes of text.
func BenchmarkParseText(b *testing.B) {
	s := []byte(text(b, benchFile(b, 8<<20), nil, PartAll))
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if err := ParseText(io.Discard, bytes.NewReader(s)); err != nil {
			b.Fatal(err)
		}
	}
}
