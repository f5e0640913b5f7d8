package ntfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Records of the MFT with a fixed number.
const (
	recordMFT    = 0
	recordVolume = 3
	recordRoot   = 5
)

// Types of attributes.
const (
	typeStandard        = 0x10
	typeAttributeList   = 0x20
	typeVolumeName      = 0x60
	typeData            = 0x80
	typeIndexRoot       = 0x90
	typeIndexAllocation = 0xA0
	typeBitmap          = 0xB0
	typeReparsePoint    = 0xC0
	typeEnd             = 0xFFFFFFFF
)

// Flags of records and attributes, and the attributes of a file.
const (
	recordInUse     = 1
	recordDirectory = 2

	attributeCompressed = 0x0001
	attributeEncrypted  = 0x4000
	attributeSparse     = 0x8000

	flagReparse   = 0x400
	flagRecall    = 0x400000 // the data is fetched when it is read
	flagDirectory = 0x10000000
)

const (
	attributeHeader = 24 // bytes of a resident attribute's header
	extentHeader    = 64 // and of a non-resident one's
	// maxAttributeList is the limit of NTFS for the value of an attribute
	// list, which bounds into how many records a file can be split.
	maxAttributeList = 256 << 10
	listEntry        = 26
)

// record is a record of the MFT.
type record struct {
	number     uint64
	off        int64 // in the image
	sequence   uint16
	flags      uint16
	base       uint64 // reference to the record that this one continues; 0: none
	attributes []attribute
}

// attribute is one in a record: a value or a part of one that lies outside.
type attribute struct {
	kind     uint32
	name     string
	off      int64  // in the image
	raw      []byte // all of it
	flags    uint16
	resident bool
	value    []byte // if resident

	// Otherwise the clusters of the value that this part maps; the sizes are
	// those of the whole and given in its first part only.
	firstVCN, lastVCN uint64
	unit              uint16 // log2 of clusters in a compression unit
	size, initialized uint64
}

// record reads a record of the MFT. Its sequence number has to agree with that
// of the reference that led to it, unless that is 0.
func (v *Volume) record(number uint64, sequence uint16) (*record, error) {
	part := fmt.Sprintf("MFT record %d", number)
	if number >= uint64(v.mft.size/v.recordSize) {
		return nil, &binfmt.Error{Part: part, Offset: -1, Want: fmt.Sprintf("a record below %d", v.mft.size/v.recordSize), Err: binfmt.ErrCorrupt}
	}
	raw := make([]byte, v.recordSize)
	if _, err := v.mft.ReadAt(raw, int64(number)*v.recordSize); err != nil {
		return nil, err
	}
	r, err := v.parseRecord(number, raw, v.mft.locate(int64(number)*v.recordSize))
	if err != nil {
		return nil, err
	}
	if r.flags&recordInUse == 0 || sequence != 0 && r.sequence != sequence {
		return nil, &binfmt.Error{Part: part, Offset: r.off + 16, Want: fmt.Sprintf("a record in use with sequence number %d", sequence),
			Got: fmt.Sprintf("flags %#x, number %d", r.flags, r.sequence), Err: binfmt.ErrCorrupt}
	}
	return r, nil
}

func (v *Volume) parseRecord(number uint64, raw []byte, off int64) (*record, error) {
	part := fmt.Sprintf("MFT record %d", number)
	data, err := fixRecord(raw, part, off)
	if err != nil {
		return nil, err
	}
	r := &record{
		number: number, off: off,
		sequence: binary.LittleEndian.Uint16(data[16:]),
		flags:    binary.LittleEndian.Uint16(data[22:]),
		base:     binary.LittleEndian.Uint64(data[32:]),
	}
	used := uint64(binary.LittleEndian.Uint32(data[24:]))
	if used > uint64(len(data)) {
		return nil, &binfmt.Error{Part: part, Offset: off + 24, Want: fmt.Sprintf("at most %d bytes in use", len(data)), Got: fmt.Sprint(used), Err: binfmt.ErrCorrupt}
	}
	c := binfmt.NewCursor(data[:used], part+": attribute", off)
	c.Seek(uint64(binary.LittleEndian.Uint16(data[20:])))
	for c.Err() == nil {
		at := c.Pos()
		kind := c.U32()
		if kind == typeEnd {
			return r, nil
		}
		length := uint64(c.U32())
		if c.Err() == nil && length < attributeHeader {
			c.FailAt(off+int64(at)+4, binfmt.ErrCorrupt, fmt.Sprintf("at least %d bytes", attributeHeader), fmt.Sprint(length))
		}
		c.Seek(uint64(at))
		if b := c.Bytes(length); b != nil {
			a, err := parseAttribute(b, part, off+int64(at))
			if err != nil {
				return nil, err
			}
			r.attributes = append(r.attributes, a)
		}
	}
	return nil, c.Err()
}

func parseAttribute(b []byte, part string, off int64) (attribute, error) {
	c := binfmt.NewCursor(b, part+": attribute", off)
	a := attribute{off: off, raw: b, kind: c.U32()}
	c.Skip(4)
	a.resident = c.U8() == 0
	nameLength, nameAt := uint64(c.U8()), uint64(c.U16())
	a.flags = c.U16()
	c.Skip(2)
	if a.resident {
		size, at := uint64(c.U32()), uint64(c.U16())
		c.Seek(at)
		a.value = c.Bytes(size)
	} else {
		a.firstVCN, a.lastVCN = c.U64(), c.U64()
		c.Skip(2)
		a.unit = c.U16()
		c.Skip(4 + 8)
		a.size, a.initialized = c.U64(), c.U64()
	}
	if nameLength > 0 {
		c.Seek(nameAt)
		a.name = decodeName(c.Bytes(2 * nameLength))
	}
	return a, c.Err()
}

func decodeName(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// find returns the first attribute of a kind and name in the record itself.
func (r *record) find(kind uint32, name string) *attribute {
	for i := range r.attributes {
		if a := &r.attributes[i]; a.kind == kind && a.name == name {
			return a
		}
	}
	return nil
}

// pieces calls f with all parts of an attribute, which may lie in several
// records, in the order of the clusters that they map.
func (v *Volume) pieces(r *record, kind uint32, name string, f func(*attribute) error) error {
	list := r.find(typeAttributeList, "")
	if list == nil {
		if a := r.find(kind, name); a != nil {
			return f(a)
		}
		return nil
	}
	value, err := v.attributeList(r, list)
	if err != nil {
		return err
	}
	part := fmt.Sprintf("MFT record %d: attribute list", r.number)
	for c := binfmt.NewCursor(value, part, list.off); c.Len() > 0; {
		start := c.Pos()
		entryKind, length := c.U32(), c.U16()
		nameLength, nameAt := uint64(c.U8()), uint64(c.U8())
		vcn, reference := c.U64(), c.U64()
		if c.Err() == nil && length < listEntry {
			c.Fail(binfmt.ErrCorrupt, fmt.Sprintf("entries of at least %d bytes", listEntry), fmt.Sprint(length))
		}
		c.Seek(uint64(start) + nameAt)
		entryName := decodeName(c.Bytes(2 * nameLength))
		c.Seek(uint64(start) + uint64(length))
		if c.Err() != nil {
			return c.Err()
		}
		if entryKind != kind || entryName != name {
			continue
		}
		a, err := v.piece(r, reference, kind, name, vcn)
		if err != nil {
			return err
		}
		if err := f(a); err != nil {
			return err
		}
	}
	return nil
}

// attributeList reads the value of an attribute list, which lists even the
// attributes of its own record.
func (v *Volume) attributeList(r *record, list *attribute) ([]byte, error) {
	if list.resident {
		return list.value, nil
	}
	if list.size > maxAttributeList {
		return nil, &binfmt.Error{Part: fmt.Sprintf("MFT record %d: attribute list", r.number), Offset: list.off,
			Want: fmt.Sprintf("at most %d bytes", maxAttributeList), Got: fmt.Sprint(list.size), Err: binfmt.ErrLimit}
	}
	s, err := v.newStream(fmt.Sprintf("MFT record %d: attribute list", r.number), list)
	if err == nil {
		err = s.complete()
	}
	if err != nil {
		return nil, err
	}
	value := make([]byte, s.size)
	if _, err := s.ReadAt(value, 0); err != nil {
		return nil, err
	}
	return value, nil
}

// piece finds the part of an attribute that an entry of an attribute list
// refers to.
func (v *Volume) piece(base *record, reference uint64, kind uint32, name string, vcn uint64) (*attribute, error) {
	number, sequence := splitReference(reference)
	r := base
	if number != base.number {
		var err error
		if r, err = v.record(number, sequence); err != nil {
			return nil, err
		}
		if of, _ := splitReference(r.base); of != base.number || r.base == 0 {
			return nil, &binfmt.Error{Part: fmt.Sprintf("MFT record %d", number), Offset: r.off + 32,
				Want: fmt.Sprintf("a record that continues record %d", base.number), Got: fmt.Sprint(of), Err: binfmt.ErrCorrupt}
		}
	}
	for i := range r.attributes {
		if a := &r.attributes[i]; a.kind == kind && a.name == name && (a.resident || a.firstVCN == vcn) {
			return a, nil
		}
	}
	return nil, &binfmt.Error{Part: fmt.Sprintf("MFT record %d", number), Offset: r.off, Want: fmt.Sprintf("attribute %#x from cluster %d on", kind, vcn),
		Got: "none", Err: binfmt.ErrCorrupt}
}

// splitReference takes a reference to a record apart.
func splitReference(ref uint64) (number uint64, sequence uint16) {
	return ref & (1<<48 - 1), uint16(ref >> 48)
}

// value opens the value of an attribute. Opened is nil if there is none.
func (v *Volume) value(r *record, kind uint32, name, what string) (opened valueReader, err error) {
	var s *stream
	var resident *attribute
	err = v.pieces(r, kind, name, func(a *attribute) error {
		switch {
		case resident != nil || a.resident && s != nil:
			return &binfmt.Error{Part: what, Offset: a.off, Want: "one value", Got: "parts after a resident one", Err: binfmt.ErrCorrupt}
		case a.flags&attributeEncrypted != 0:
			return &binfmt.Error{Part: what, Offset: a.off + 12, Want: "data that is not encrypted (EFS)", Err: binfmt.ErrUnsupported}
		case a.resident:
			resident = a
			return nil
		case s == nil:
			s, err = v.newStream(what, a)
			return err
		}
		return s.add(a)
	})
	switch {
	case err != nil:
		return nil, err
	case resident != nil:
		return bytes.NewReader(resident.value), nil
	case s != nil:
		return s, s.complete()
	}
	return nil, nil
}
