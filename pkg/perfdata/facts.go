package perfdata

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// readLeadingFacts takes the header records at the start of a pipe, so that
// the facts are known before anyone asks for records.
func (f *File) readLeadingFacts() error {
	rs := f.Records()
	defer rs.Close()
	for rs.Next() {
		if t := rs.Record().Type; t < typeFirstUser || t == TypeCompressed || t == TypeCompressed2 {
			break
		}
	}
	return rs.Err()
}

// takeFact applies a record that stands for a part of a file header. Several
// walks can meet the record; the first counts.
func (f *File) takeFact(r *Record) {
	if r.Segment != 0 || r.Nested || r.Offset < f.factsEnd {
		return
	}
	f.factsEnd = r.Offset + int64(len(r.Data))
	switch r.Type {
	case TypeHeaderAttr:
		f.takeAttr(r)
	case TypeHeaderFeature:
		f.takeFeature(r)
	case TypeEventUpdate:
		f.takeUpdate(r)
	case TypeBuildID:
		c := binfmt.NewCursor(r.Data, "BUILD_ID record", r.Offset).BigEndian(f.Header.BigEndian)
		if b := decodeBuildID(c, false); c.Err() == nil {
			f.Features.BuildIDs = append(f.Features.BuildIDs, b)
		} else {
			f.warnOf(c.Err())
		}
	}
}

// takeAttr adds the attribute of a HEADER_ATTR record: the structure, then
// ids up to the end. Tools that copy a pipe into a file leave these records
// behind the attribute section, which has the same ids already.
func (f *File) takeAttr(r *Record) {
	body := r.Data[recordHeaderSize:]
	if len(body) < attrSizeV0 {
		f.warn("HEADER_ATTR record", r.Offset, binfmt.ErrTruncated, "an attribute of at least 64 bytes", r.sizeText())
		return
	}
	n := attrSizeIn(body, f.Header.BigEndian)
	a := decodeAttr(body, f.Header.BigEndian)
	order := orderOf(f.Header.BigEndian)
	for b := body[n:]; len(b) >= 8; b = b[8:] {
		a.IDs = append(a.IDs, order.Uint64(b))
	}
	if len(a.IDs) > 0 && f.ids[a.IDs[0]] != nil {
		return
	}
	if len(f.Attrs) >= maxAttrs {
		f.warn("HEADER_ATTR record", r.Offset, binfmt.ErrLimit, fmt.Sprintf("at most %d attributes", maxAttrs), "one more")
		return
	}
	f.addAttr(a)
}

// takeFeature adds the section that a HEADER_FEATURE record holds. A record
// without content marks the last one.
func (f *File) takeFeature(r *Record) {
	const body = recordHeaderSize + 8
	if len(r.Data) <= body {
		return
	}
	id := orderOf(f.Header.BigEndian).Uint64(r.Data[recordHeaderSize:])
	if id == 0 || id >= maxFeatures {
		f.warn("HEADER_FEATURE record", r.Offset+recordHeaderSize, binfmt.ErrCorrupt, fmt.Sprintf("a feature of 1 to %d", maxFeatures-1), fmt.Sprint(id))
		return
	}
	f.addSection(Section{Feature(id), Extent{r.Segment, r.Offset + body, int64(len(r.Data) - body)}})
}

// takeUpdate takes the name that an EVENT_UPDATE record gives to an event.
func (f *File) takeUpdate(r *Record) {
	var u EventUpdate
	if _, err := f.Decode(r, &u); err != nil {
		f.warnOf(err)
		return
	}
	if a := f.ids[u.ID]; a != nil && u.What == UpdateName {
		a.Name = cString(u.Data)
	}
}
