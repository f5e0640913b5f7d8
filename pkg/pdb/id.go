package pdb

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	streamTypes = 2
	streamIDs   = 4

	typeHeaderSize = 56
	typeVersionV80 = 20040203
)

// Kinds of the records that give names to inlined functions.
const (
	leafClass      = 0x1504
	leafStructure  = 0x1505
	leafUnion      = 0x1506
	leafEnum       = 0x1507
	leafInterface  = 0x1519
	leafFunctionID = 0x1601
	leafMemberID   = 0x1602
	leafStringID   = 0x1605
)

// maxScopes bounds how deep scopes of a name are followed.
const maxScopes = 64

// typeTable is a stream of types or ids with the place of each record.
type typeTable struct {
	s     *Stream
	first uint32  // index of the first record
	at    []int64 // position of each record's length
}

func (f *File) readIDs() (*typeTable, error)   { return f.readTypeTable(streamIDs) }
func (f *File) readTypes() (*typeTable, error) { return f.readTypeTable(streamTypes) }

func (f *File) readTypeTable(stream int) (*typeTable, error) {
	if f.StreamSize(stream) == 0 {
		return &typeTable{}, nil
	}
	s := &f.streams[stream]
	c, err := s.cursor("type stream header", 0, min(s.size, typeHeaderSize))
	if err != nil {
		return nil, err
	}
	t := &typeTable{s: s}
	if v := c.U32(); c.Err() == nil && v != typeVersionV80 {
		c.FailAt(0, binfmt.ErrVersion, fmt.Sprint(typeVersionV80), fmt.Sprint(v))
	}
	header := int64(c.U32())
	t.first = c.U32()
	c.U32() // index behind the last record
	at := c.Offset()
	size := int64(c.U32())
	if c.Err() == nil && (header > s.size || size > s.size-header) {
		c.FailAt(at, binfmt.ErrCorrupt, fmt.Sprintf("records that end within %d bytes", s.size), fmt.Sprintf("%d bytes at %#x", size, header))
	}
	if c.Err() != nil {
		return nil, s.locate(c.Err())
	}
	// Types and ids have the framing of symbols: a length, a kind, the rest.
	r := SymbolReader{s: s, pos: header, end: header + size}
	for r.Next() {
		t.at = append(t.at, r.rec.Pos)
	}
	return t, r.Err()
}

// record returns the record with an index; false if there is none.
func (t *typeTable) record(index uint32) (kind uint16, c *binfmt.Cursor, ok bool, err error) {
	if index < t.first || uint64(index-t.first) >= uint64(len(t.at)) {
		return 0, nil, false, nil
	}
	pos := t.at[index-t.first]
	var size [2]byte
	if _, err := t.s.ReadAt(size[:], pos); err != nil {
		return 0, nil, false, err
	}
	n := int64(binfmt.NewCursor(size[:], "", 0).U16())
	c, err = t.s.cursor(fmt.Sprintf("type %#x", index), pos+2, n)
	if err != nil {
		return 0, nil, false, err
	}
	return c.U16(), c, true, nil
}

// IDName returns the name of a function in the id stream with its namespaces
// or class in front, such as "ns::C::f", without parameters. It is "" for an
// index of something else.
func (f *File) IDName(id uint32) (string, error) {
	ids, err := f.ids()
	if err != nil {
		return "", err
	}
	kind, c, ok, err := ids.record(id)
	if err != nil || !ok || kind != leafFunctionID && kind != leafMemberID {
		return "", err
	}
	parent := c.U32()
	c.U32() // type of the function
	name := c.CString()
	if c.Err() != nil {
		return "", ids.s.locate(c.Err())
	}
	if parent == 0 {
		return name, nil
	}
	var scope string
	if kind == leafMemberID {
		scope, err = f.className(parent)
	} else {
		scope, err = ids.scope(parent)
	}
	if err != nil || scope == "" {
		return name, err
	}
	return scope + "::" + name, nil
}

// scope returns the text of a string, or the name of a function that others
// are in.
func (t *typeTable) scope(id uint32) (string, error) {
	var text string
	for range maxScopes {
		kind, c, ok, err := t.record(id)
		if err != nil || !ok {
			return text, err
		}
		var parent uint32
		switch kind {
		case leafStringID:
			c.U32() // list of parts that the text goes on from
		case leafFunctionID:
			parent = c.U32()
			c.U32() // type of the function
		default:
			return text, nil
		}
		part := c.CString()
		if c.Err() != nil {
			return "", t.s.locate(c.Err())
		}
		if text != "" {
			part += "::" + text
		}
		text = part
		if parent == 0 {
			break
		}
		id = parent
	}
	return text, nil
}

// className returns the full name of a class, structure, union or
// enumeration, "" for another type.
func (f *File) className(index uint32) (string, error) {
	types, err := f.types()
	if err != nil {
		return "", err
	}
	kind, c, ok, err := types.record(index)
	if err != nil || !ok {
		return "", err
	}
	c.Skip(2 + 2 + 4) // members, properties, list of fields (of an enumeration: its type)
	switch kind {
	case leafClass, leafStructure, leafInterface:
		c.Skip(4 + 4) // derivation list, shape of the virtual function table
		skipNumber(c)
	case leafUnion:
		skipNumber(c)
	case leafEnum:
		c.Skip(4) // list of fields
	default:
		return "", nil
	}
	name := c.CString()
	if c.Err() != nil {
		return "", types.s.locate(c.Err())
	}
	return name, nil
}

// skipNumber steps over a number: 16 bits below 0x8000, otherwise the kind of
// what follows.
func skipNumber(c *binfmt.Cursor) {
	at := c.Offset()
	kind := c.U16()
	if kind < 0x8000 {
		return
	}
	sizes := map[uint16]uint64{0x8000: 1, 0x8001: 2, 0x8002: 2, 0x8003: 4, 0x8004: 4, 0x8009: 8, 0x800a: 8}
	size, ok := sizes[kind]
	if !ok {
		c.FailAt(at, binfmt.ErrUnsupported, "an integer of at most 8 bytes", fmt.Sprintf("kind %#x", kind))
	}
	c.Skip(size)
}
