package spe

import (
	"encoding/binary"
	"math/bits"
)

// Fields says which packets a record has.
type Fields uint16

// Fields of a record.
const (
	HasPC Fields = 1 << iota
	HasTarget
	HasPreviousTarget
	HasData
	HasPhysical
	HasOperation
	HasEvents
	HasTotal
	HasIssue
	HasTranslation
	HasAltIssue
	HasContext1
	HasContext2
	HasDataSource
	HasTimestamp
)

// State says what became of a record.
type State uint8

// States of records. Only records that are whole can be used.
const (
	StateWhole     State = iota
	StateNoPC            // ended, but has no PC
	StateRepeated        // a second PC: the end of the record before is missing
	StateDamaged         // a packet of an unknown kind
	StateTruncated       // the data end before the record does
	StateCount
)

// String is the name of the state.
func (s State) String() string {
	return [StateCount]string{"whole", "no PC", "two PCs", "unknown packets", "truncated"}[s]
}

// Record is one sampled operation. Fields whose bit is not in Fields are zero.
type Record struct {
	Offset  int // of the first packet in the data
	Size    int // bytes from there to the end of the last packet
	Fields  Fields
	State   State
	Unknown uint32 // packets of unknown kinds

	PC             Address
	Target         Address         // of a branch; of one not taken the instruction behind it
	PreviousTarget Address         // of the branch taken last before
	Data           DataAddress     // virtual
	Physical       PhysicalAddress // of the data
	Op             Operation
	Events         Events
	Total          uint16 // cycles from dispatch to completion, saturating
	Issue          uint16 // cycles from dispatch to issue
	Translation    uint16 // cycles of address translation
	AltIssue       uint16 // Issue in the alternate clock domain
	Context1       uint32 // CONTEXTIDR_EL1
	Context2       uint32 // CONTEXTIDR_EL2
	Source         uint64 // data source packet; see [Sources]
	Timestamp      uint64 // ticks of the generic timer
}

// Has says whether the record has all of the fields.
func (r *Record) Has(f Fields) bool { return r.Fields&f == f }

// Whole says whether the record can be used.
func (r *Record) Whole() bool { return r.State == StateWhole }

// Taken says whether the record is of a branch that was taken, and tells where
// it went.
func (r *Record) Taken() bool {
	return r.Op.Branch() && r.Has(HasPC|HasTarget) && !r.Events.Has(EventNotTaken)
}

// Decoder walks the records of a byte slice. The zero Decoder has none.
type Decoder struct {
	data []byte
	pos  int
	base uint64

	padding int // bytes between records
}

// Reset starts at the beginning of data, whose first byte is at base in the
// buffer of the hardware.
func (d *Decoder) Reset(data []byte, base uint64) { *d = Decoder{data: data, base: base} }

// Padding is the number of bytes so far that are in no record.
func (d *Decoder) Padding() int { return d.padding }

// Next decodes the next record and says whether there is one.
func (d *Decoder) Next(r *Record) bool {
	start := skipZeros(d.data, d.pos)
	for start < len(d.data) && d.data[start] >= 0x20 && d.data[start] < 0x24 {
		// An alignment packet between records, as rare as padding is frequent.
		var p Packet
		if !decodePacket(d.data, start, d.base, &p) || p.Kind != KindAlignment {
			break
		}
		start = skipZeros(d.data, start+p.Size)
	}
	d.padding += start - d.pos
	d.pos = start
	if start >= len(d.data) {
		return false
	}
	*r = Record{Offset: start}
	d.record(r)
	r.Size = d.pos - start
	return true
}

// record decodes packets up to the end of the record.
func (d *Decoder) record(r *Record) {
	data, pos := d.data, d.pos
	repeated := false
	for pos < len(data) {
		h := data[pos]
		if h == 0 {
			pos = skipZeros(data, pos)
			continue
		}
		f := &forms[h]
		next := pos + 1 + int(f.width)
		var v uint64
		if len(data)-pos >= 9 && !extended(h) {
			v = binary.LittleEndian.Uint64(data[pos+1:]) & payloadMasks[h]
		} else {
			var p Packet
			if !decodePacket(data, pos, d.base, &p) {
				break
			}
			next, v = pos+p.Size, p.Payload
			f = &form{p.Kind, p.Index, p.Width}
		}
		pos = next
		switch f.kind {
		case KindAddress:
			switch f.index {
			case AddressPC:
				repeated = repeated || r.Fields&HasPC != 0
				r.PC = Address(v)
				r.Fields |= HasPC
			case AddressTarget:
				r.Target = Address(v)
				r.Fields |= HasTarget
			case AddressData:
				r.Data = DataAddress(v)
				r.Fields |= HasData
			case AddressPhysical:
				r.Physical = PhysicalAddress(v)
				r.Fields |= HasPhysical
			case AddressPreviousTarget:
				r.PreviousTarget = Address(v)
				r.Fields |= HasPreviousTarget
			}
		case KindCounter:
			switch f.index {
			case CounterTotal:
				r.Total = uint16(v)
				r.Fields |= HasTotal
			case CounterIssue:
				r.Issue = uint16(v)
				r.Fields |= HasIssue
			case CounterTranslation:
				r.Translation = uint16(v)
				r.Fields |= HasTranslation
			case CounterAltIssue:
				r.AltIssue = uint16(v)
				r.Fields |= HasAltIssue
			}
		case KindEvents:
			r.Events = Events(v)
			r.Fields |= HasEvents
		case KindOperation:
			r.Op = Operation{Class(f.index), uint8(v)}
			r.Fields |= HasOperation
		case KindContext:
			switch f.index {
			case 0:
				r.Context1 = uint32(v)
				r.Fields |= HasContext1
			case 1:
				r.Context2 = uint32(v)
				r.Fields |= HasContext2
			}
		case KindDataSource:
			r.Source = v
			r.Fields |= HasDataSource
		case KindTimestamp:
			r.Timestamp = v
			r.Fields |= HasTimestamp
			d.pos = pos
			r.finish(repeated)
			return
		case KindEnd:
			d.pos = pos
			r.finish(repeated)
			return
		case KindAlignment:
		default:
			r.Unknown++
		}
	}
	d.pos = len(data)
	r.State = StateTruncated
}

// finish judges a record that has an end.
func (r *Record) finish(repeated bool) {
	switch {
	case r.Unknown > 0:
		r.State = StateDamaged
	case r.Fields&HasPC == 0:
		r.State = StateNoPC
	case repeated:
		r.State = StateRepeated
	}
}

// skipZeros returns the position of the first byte from pos on that is not
// zero.
func skipZeros(data []byte, pos int) int {
	for len(data)-pos >= 8 {
		if w := binary.LittleEndian.Uint64(data[pos:]); w != 0 {
			return pos + bits.TrailingZeros64(w)/8
		}
		pos += 8
	}
	for pos < len(data) && data[pos] == 0 {
		pos++
	}
	return pos
}
