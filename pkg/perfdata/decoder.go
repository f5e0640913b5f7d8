package perfdata

import (
	"encoding/binary"
	"math/bits"
)

// Decoder decodes samples, for one goroutine. It sees the attributes that the
// file has when it is made.
type Decoder struct {
	// Defects counts the samples that could not be decoded, by reason, and
	// at DefectNone those that could.
	Defects [NumDefects]uint64

	big    bool
	first  *layout // of the first attribute; nil if there is none
	byID   map[uint64]*layout
	idAt   int // where the id is in a record; 0 if the first attribute is meant
	lastID uint64
	last   *layout // of lastID

	chunk  *Chunk
	pos    int
	sample Sample
}

// NewDecoder returns a decoder that sets the wanted fields of samples. Fields
// that are not wanted cost next to nothing.
func (f *File) NewDecoder(want SampleType) *Decoder {
	d := &Decoder{big: f.Header.BigEndian, chunk: new(Chunk)}
	if len(f.Attrs) == 0 {
		return d
	}
	layouts := make(map[*Attr]*layout, len(f.Attrs))
	for _, a := range f.Attrs {
		layouts[a] = newLayout(a, want)
	}
	d.first = layouts[f.Attrs[0]]
	if len(f.Attrs) > 1 {
		d.idAt = idPosition(d.first.has)
		d.byID = make(map[uint64]*layout, len(f.ids))
		for id, a := range f.ids {
			d.byID[id] = layouts[a]
		}
	}
	return d
}

// Reset makes the decoder go through the samples of a chunk. The chunk must
// not change until Next has returned false.
func (d *Decoder) Reset(c *Chunk) { d.chunk, d.pos = c, 0 }

// Next decodes the next good sample of the chunk and says whether there is
// one. Others are counted in Defects.
func (d *Decoder) Next() bool {
	c := d.chunk
	for len(c.Data)-d.pos >= recordHeaderSize {
		b := c.Data[d.pos:]
		h := parseHeader(b, d.big)
		if h.size < recordHeaderSize || h.size > int64(len(b)) {
			// Only a file that changed after the walk can get here.
			d.Defects[DefectShort]++
			break
		}
		off := c.Offset
		if !c.Nested {
			off += int64(d.pos)
		}
		d.pos += int(h.size)
		if h.typ != TypeSample {
			continue
		}
		defect := d.decode(b[:h.size], &d.sample)
		d.Defects[defect]++
		if defect == DefectNone {
			d.sample.Misc, d.sample.Offset, d.sample.Segment = h.misc, off, c.Segment
			return true
		}
	}
	d.pos = len(c.Data)
	return false
}

// Sample returns the sample that Next found. It is valid until the next call
// of Next.
func (d *Decoder) Sample() *Sample { return &d.sample }

// Decode decodes a SAMPLE record into s, whose memory it reuses. The result
// is DefectNone if s is usable; it is counted in Defects.
func (d *Decoder) Decode(r *Record, s *Sample) Defect {
	defect := d.decode(r.Data, s)
	d.Defects[defect]++
	s.Misc, s.Offset, s.Segment = r.Misc, r.Offset, r.Segment
	return defect
}

// layoutOf finds the attribute that a sample belongs to; nil if there is none
// with its id.
func (d *Decoder) layoutOf(b []byte) *layout {
	if d.idAt == 0 || len(b) < d.idAt+8 {
		return d.first
	}
	id := d.u64(b, d.idAt)
	if id == 0 {
		return d.first
	}
	if d.last == nil || id != d.lastID {
		d.lastID, d.last = id, d.byID[id]
	}
	return d.last
}

func (d *Decoder) u64(b []byte, at int) uint64 {
	v := binary.LittleEndian.Uint64(b[at:])
	if d.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// pair loads two fields of 32 bits, which stand in the order of the file.
func (d *Decoder) pair(b []byte, at int) (uint32, uint32) {
	v := d.u64(b, at)
	if d.big {
		v = bits.RotateLeft64(v, 32)
	}
	return uint32(v), uint32(v >> 32)
}

// decode is the hot path: b is a whole SAMPLE record.
func (d *Decoder) decode(b []byte, s *Sample) Defect {
	l := d.layoutOf(b)
	if l == nil {
		return DefectNoAttr
	}
	if len(b) < l.fixed {
		return DefectShort
	}
	if s.layout != l {
		*s = Sample{CallChain: s.CallChain[:0], Branches: s.Branches[:0], Counters: s.Counters[:0],
			layout: l, Attr: l.attr, Fields: l.set, Period: l.attr.period()}
	}
	if l.ip != 0 {
		s.IP = d.u64(b, l.ip)
	}
	if l.tid != 0 {
		pid, tid := d.pair(b, l.tid)
		s.PID, s.TID = int32(pid), int32(tid)
	}
	if l.time != 0 {
		s.Time = d.u64(b, l.time)
	}
	if l.addr != 0 {
		s.Addr = d.u64(b, l.addr)
	}
	if l.id != 0 {
		s.ID = d.u64(b, l.id)
	}
	if l.stream != 0 {
		s.StreamID = d.u64(b, l.stream)
	}
	if l.cpu != 0 {
		s.CPU, _ = d.pair(b, l.cpu)
	}
	if l.period != 0 {
		s.Period = d.u64(b, l.period)
	}
	b = b[l.fixed:]
	if l.has&(SampleRead|SampleCallChain|SampleRaw) != 0 {
		var defect Defect
		if b, defect = d.decodeMiddle(l, b, s); defect != DefectNone {
			return defect
		}
	}
	if l.has&SampleBranchStack != 0 {
		var ok bool
		if b, ok = d.decodeBranches(l, b, s); !ok {
			return DefectBranches
		}
	}
	if len(b) > 0 || l.has&tailFields != 0 {
		return d.decodeTail(l, b, s)
	}
	return DefectNone
}

// decodeMiddle decodes the fields before the branch stack whose size varies.
func (d *Decoder) decodeMiddle(l *layout, b []byte, s *Sample) ([]byte, Defect) {
	if l.has&SampleRead != 0 {
		size := uint64(l.readSize)
		if uint64(len(b)) < size {
			return nil, DefectRead
		}
		if l.readGroup != 0 {
			n := d.u64(b, 0)
			if n > uint64(len(b)) {
				return nil, DefectRead
			}
			size += n * uint64(l.readGroup)
		}
		if size > uint64(len(b)) {
			return nil, DefectRead
		}
		b = b[size:]
	}
	if l.has&SampleCallChain != 0 {
		if len(b) < 8 {
			return nil, DefectShort
		}
		n := d.u64(b, 0)
		b = b[8:]
		if n > uint64(len(b)/8) {
			return nil, DefectChain
		}
		words := b[:8*n]
		b = b[8*n:]
		if l.set&SampleCallChain != 0 {
			s.CallChain = d.words(s.CallChain, words)
		}
	}
	if l.has&SampleRaw != 0 {
		if len(b) < 4 {
			return nil, DefectShort
		}
		n := uint64(binary.LittleEndian.Uint32(b))
		if d.big {
			n = uint64(bits.ReverseBytes32(uint32(n)))
		}
		b = b[4:]
		if n > uint64(len(b)) {
			return nil, DefectRaw
		}
		if l.set&SampleRaw != 0 {
			s.Raw = b[:n:n]
		}
		b = b[n:]
	}
	return b, DefectNone
}

// words loads words into dst, whose memory it reuses.
func (d *Decoder) words(dst []uint64, b []byte) []uint64 {
	n := len(b) / 8
	if cap(dst) < n {
		dst = make([]uint64, max(n, 128))
	}
	dst = dst[:n]
	if d.big {
		for i := range dst {
			dst[i] = binary.BigEndian.Uint64(b[8*i:])
		}
	} else {
		loadWords(dst, b)
	}
	return dst
}

func (d *Decoder) decodeBranches(l *layout, b []byte, s *Sample) ([]byte, bool) {
	if len(b) < 8 {
		return nil, false
	}
	n := d.u64(b, 0)
	b = b[8:]
	if l.hwIndex {
		if len(b) < 8 {
			return nil, false
		}
		if l.set&SampleBranchStack != 0 {
			s.HWIndex = d.u64(b, 0)
		}
		b = b[8:]
	}
	if n > uint64(len(b)/branchSize) {
		return nil, false
	}
	entries := b[:branchSize*n]
	b = b[branchSize*n:]
	var counters []byte
	if l.counters {
		if n > uint64(len(b)/8) {
			return nil, false
		}
		counters, b = b[:8*n], b[8*n:]
	}
	if l.set&SampleBranchStack == 0 {
		return b, true
	}
	if uint64(cap(s.Branches)) < n {
		s.Branches = make([]Branch, max(n, 64))
	}
	s.Branches = s.Branches[:n]
	if d.big {
		for i := range s.Branches {
			e := entries[branchSize*i:][:branchSize]
			s.Branches[i] = Branch{binary.BigEndian.Uint64(e), binary.BigEndian.Uint64(e[8:]),
				flagsFromBig(binary.BigEndian.Uint64(e[16:]))}
		}
	} else {
		loadBranches(s.Branches, entries)
	}
	if l.counters {
		s.Counters = d.words(s.Counters, counters)
	}
	return b, true
}

// tailFields are the fields behind the branch stack.
const tailFields = SampleRegsUser | SampleStackUser | SampleWeight | SampleWeightStruct | SampleDataSrc |
	SampleTransaction | SampleRegsIntr | SamplePhysAddr | SampleCgroup | SampleDataPageSize | SampleCodePageSize |
	SampleAux

// decodeTail decodes the rest of a record, which must be used up by it.
func (d *Decoder) decodeTail(l *layout, b []byte, s *Sample) Defect {
	r := rest{d: d, b: b}
	if l.has&SampleRegsUser != 0 {
		r.regs(l.regsUser)
	}
	if l.has&SampleStackUser != 0 {
		if n := r.u64(); n != 0 {
			if n > uint64(len(r.b)) {
				return DefectStack
			}
			r.b = r.b[n:]
			r.u64() // how much of it the kernel could fill
		}
	}
	if l.has&(SampleWeight|SampleWeightStruct) != 0 {
		w := r.u64()
		switch {
		case l.set&(SampleWeight|SampleWeightStruct) == 0:
		case l.has&SampleWeightStruct != 0:
			s.Weight, s.Weight2, s.Weight3 = w&0xffffffff, uint16(w>>32), uint16(w>>48)
		default:
			s.Weight = w
		}
	}
	r.word(l, SampleDataSrc, &s.DataSrc)
	r.word(l, SampleTransaction, &s.Transaction)
	if l.has&SampleRegsIntr != 0 {
		r.regs(l.regsIntr)
	}
	r.word(l, SamplePhysAddr, &s.PhysAddr)
	r.word(l, SampleCgroup, &s.Cgroup)
	r.word(l, SampleDataPageSize, &s.DataPageSize)
	r.word(l, SampleCodePageSize, &s.CodePageSize)
	if l.lenient && !r.short {
		return DefectNone // newer fields follow, perhaps before AUX
	}
	if l.has&SampleAux != 0 {
		n := r.u64()
		if n > uint64(len(r.b)) {
			return DefectAux
		}
		if l.set&SampleAux != 0 {
			s.Aux = r.b[:n:n]
		}
		r.b = r.b[n:]
	}
	if r.short {
		return DefectShort
	}
	if len(r.b) > 0 {
		return DefectLeftover
	}
	return DefectNone
}

// rest reads the cold fields at the end of a sample.
type rest struct {
	d     *Decoder
	b     []byte
	short bool
}

func (r *rest) u64() uint64 {
	if len(r.b) < 8 {
		r.b, r.short = nil, true
		return 0
	}
	v := r.d.u64(r.b, 0)
	r.b = r.b[8:]
	return v
}

// word reads a field of one word, if the sample has it, and sets it, if it is
// wanted.
func (r *rest) word(l *layout, field SampleType, dst *uint64) {
	if l.has&field != 0 {
		if v := r.u64(); l.set&field != 0 {
			*dst = v
		}
	}
}

// regs skips registers: the ABI, and unless there is none, size bytes.
func (r *rest) regs(size int) {
	if r.u64() == 0 {
		return
	}
	if len(r.b) < size {
		r.b, r.short = nil, true
		return
	}
	r.b = r.b[size:]
}
