package spt

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// TestBadTables changes one thing in front of the data stream.
func TestBadTables(t *testing.T) {
	const entry = 24
	set := func(off int, v []byte) []byte {
		data := smallFile()
		copy(data[off:], v)
		return data
	}
	for _, c := range []struct {
		name   string
		data   []byte
		kind   error
		offset int64
	}{
		{"empty", nil, binfmt.ErrTruncated, 0},
		{"3 bytes", smallFile()[:3], binfmt.ErrTruncated, 0},
		{"signature alone", smallFile()[:4], binfmt.ErrTruncated, 4},
		{"header cut", smallFile()[:31], binfmt.ErrTruncated, 30},
		{"big-endian signature", set(0, []byte("SPT:")), binfmt.ErrMagic, 0},
		{"another format, short", []byte("MZ\x90\x00"), binfmt.ErrMagic, 0},
		{"version 0", set(0x04, u32(0)), binfmt.ErrVersion, 0x04},
		{"version 2", set(0x04, u32(2)), binfmt.ErrVersion, 0x04},
		{"string table on the header", set(0x10, u32(0x1F)), binfmt.ErrCorrupt, 0x10},
		{"string table on the program ids", set(0x10, u32(0x21)), binfmt.ErrCorrupt, 0x10},
		{"string table behind the program ids", set(0x10, u32(0x60)), binfmt.ErrCorrupt, 0x10},
		{"string table at the end of 32 bits", set(0x10, u32(0xFFFFFFFF)), binfmt.ErrCorrupt, 0x10},
		{"string capacity too great", set(0x1A, u16(17)), binfmt.ErrCorrupt, 0x10},
		{"program ids on the header", set(0x14, u32(0x1F)), binfmt.ErrCorrupt, 0x14},
		{"program ids on the strings", set(0x14, u32(0x2F)), binfmt.ErrCorrupt, 0x10},
		{"program ids out of the file", set(0x14, u32(0x31)), binfmt.ErrTruncated, 0x14},
		{"program ids far out of the file", set(0x14, u32(0xFFFFFFFF)), binfmt.ErrTruncated, 0x14},
		{"program id capacity too great", set(0x1E, u16(3)), binfmt.ErrTruncated, 0x14},
		{"program id capacity greatest", set(0x1E, u16(0xFFFF)), binfmt.ErrTruncated, 0x14},
		{"program ids cut", smallFile()[:0x30+2*entry-1], binfmt.ErrTruncated, 0x14},
		{"strings cut", smallFile()[:0x25], binfmt.ErrTruncated, 0x14},
		{"more string bytes than capacity", set(0x18, u16(17)), binfmt.ErrCorrupt, 0x18},
		{"string bytes without capacity", set(0x1A, u16(0)), binfmt.ErrCorrupt, 0x18},
		{"more program ids than capacity", set(0x1C, u16(3)), binfmt.ErrCorrupt, 0x1C},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, o := range []*Options{nil, {Tolerate: true}} {
				_, err := NewReader(bytes.NewReader(c.data), int64(len(c.data)), o)
				wantError(t, err, c.kind, c.offset)
			}
		})
	}
	t.Run("stream with tables far away", func(t *testing.T) {
		_, err := NewStreamReader(bytes.NewReader(set(0x14, u32(0x7FFFFFFF))), nil)
		wantError(t, err, binfmt.ErrLimit, 0x14)
	})
	t.Run("stream cut in the tables", func(t *testing.T) {
		_, err := NewStreamReader(bytes.NewReader(set(0x14, u32(0x31))), nil)
		wantError(t, err, binfmt.ErrTruncated, 0x14)
	})
	t.Run("negative size", func(t *testing.T) {
		_, err := NewReader(bytes.NewReader(nil), -1, nil)
		wantError(t, err, binfmt.ErrLimit, -1)
	})
}

// TestDefects has one data stream for each way to damage it. The strict reader
// has to name defect and offset, after so many records; the tolerant one has
// to read so many in all and account for every byte.
func TestDefects(t *testing.T) {
	const base = dataStart
	rec := entries(0x01, 1, 1)    // 6 bytes
	lbr := entries(0x10, 1, 1, 2) // 10 bytes
	good := segment(1, rec)       // 14 bytes
	skip := func(d Defect, records, bytes uint64) Skipped {
		return Skipped{Defect: d, Times: 1, Records: records, Bytes: bytes}
	}
	covered := map[Defect]bool{}
	for _, c := range []struct {
		name    string
		stream  []byte
		defect  Defect
		offset  int64
		before  int // records before the defect
		total   int // records that a tolerant reader gets
		skipped []Skipped
	}{
		{"record first", cat(rec, good), DefectOutsideSegment, base, 0, 1, []Skipped{skip(DefectOutsideSegment, 1, 6)}},
		{"REPEAT first", cat(repeat(0, 1), good), DefectRepeatOutside, base, 0, 1, []Skipped{skip(DefectRepeatOutside, 0, 10)}},
		{"REPEAT and record first", cat(repeat(0, 1), lbr, good), DefectRepeatOutside, base, 0, 1,
			[]Skipped{skip(DefectOutsideSegment, 1, 10), skip(DefectRepeatOutside, 0, 10)}},
		{"unknown opcode first", cat([]byte{0x00, 0x81}, good), DefectOutsideSegment, base, 0, 0, []Skipped{skip(DefectOutsideSegment, 0, 16)}},
		{"record between segments", cat(good, lbr, good), DefectOutsideSegment, base + 14, 1, 2, []Skipped{skip(DefectOutsideSegment, 1, 10)}},
		{"cut record after the last segment", cat(good, lbr[:9]), DefectOutsideSegment, base + 14, 1, 1, []Skipped{skip(DefectOutsideSegment, 0, 9)}},
		{"zeros after the last segment", cat(good, make([]byte, 5000)), DefectOutsideSegment, base + 14, 1, 1, []Skipped{skip(DefectOutsideSegment, 0, 5000)}},
		{"REPEAT before the next BINARY_ID", cat(good, repeat(0, 1), good), DefectRepeatOutside, base + 14, 1, 2, []Skipped{skip(DefectRepeatOutside, 0, 10)}},
		{"REPEAT at the end of a segment", cat(segment(0, rec, repeat(0, 1)), good), DefectRepeatAtEnd, base + 14, 1, 2, []Skipped{skip(DefectRepeatAtEnd, 0, 10)}},
		{"REPEAT alone in a segment", cat(segment(0, repeat(0, 1)), good), DefectRepeatAtEnd, base + 8, 0, 1, []Skipped{skip(DefectRepeatAtEnd, 0, 10)}},
		{"two REPEATs", cat(segment(0, rec, repeat(0, 1), repeat(0, 2), rec, rec), good), DefectRepeatTwice, base + 24, 1, 2, []Skipped{skip(DefectRepeatTwice, 2, 32)}},
		{"two REPEATs at the end", cat(segment(0, repeat(0, 1), repeat(0, 2)), good), DefectRepeatTwice, base + 18, 0, 1, []Skipped{skip(DefectRepeatTwice, 0, 20)}},
		{"REPEAT cut by its segment", cat(segment(0, rec, repeat(0, 1)[:9]), good), DefectRecordCut, base + 14, 1, 2, []Skipped{skip(DefectRecordCut, 0, 9)}},
		{"N = 0", cat(segment(0, rec, entries(0x41, 0), rec), good), DefectNoEntries, base + 15, 1, 2, []Skipped{skip(DefectNoEntries, 2, 8)}},
		{"N = 0, LBR", cat(segment(0, entries(0x10, 0)), good), DefectNoEntries, base + 9, 0, 1, []Skipped{skip(DefectNoEntries, 1, 2)}},
		{"N = 0 behind a REPEAT", cat(segment(0, repeat(0, 1), entries(0x42, 0)), good), DefectNoEntries, base + 19, 0, 1, []Skipped{skip(DefectNoEntries, 1, 12)}},
		{"unknown opcode", cat(segment(0, rec, entries(0x06, 1, 1), rec), good), DefectUnknownOpcode, base + 14, 1, 2, []Skipped{skip(DefectUnknownOpcode, 0, 12)}},
		{"unknown opcode in the last byte", cat(segment(0, rec, []byte{0xFF}), good), DefectUnknownOpcode, base + 14, 1, 2, []Skipped{skip(DefectUnknownOpcode, 0, 1)}},
		{"unknown opcode behind a REPEAT", cat(segment(0, repeat(0, 1), []byte{0x40, 1}), good), DefectUnknownOpcode, base + 18, 0, 1, []Skipped{skip(DefectUnknownOpcode, 0, 12)}},
		{"BINARY_ID in a segment", cat(binaryID(0, 0, 4+6+14), rec, good, good), DefectNestedSegment, base + 14, 1, 2, []Skipped{skip(DefectNestedSegment, 0, 14)}},
		{"BINARY_ID behind a REPEAT", cat(binaryID(0, 0, 4+10+14), repeat(0, 1), good, good), DefectNestedSegment, base + 18, 0, 1, []Skipped{skip(DefectNestedSegment, 0, 24)}},
		{"record cut by its segment", cat(segment(0, rec, lbr[:9]), good), DefectRecordCut, base + 14, 1, 2, []Skipped{skip(DefectRecordCut, 0, 9)}},
		{"record cut behind its opcode", cat(segment(0, rec, lbr[:1]), good), DefectRecordCut, base + 14, 1, 2, []Skipped{skip(DefectRecordCut, 0, 1)}},
		{"record cut behind its REPEAT", cat(segment(0, repeat(0, 1), lbr[:5]), good), DefectRecordCut, base + 18, 0, 1, []Skipped{skip(DefectRecordCut, 0, 15)}},
		{"program id 3 of 2", cat(segment(3, rec, repeat(0, 1), lbr), good), DefectProgramRange, base + 2, 0, 1, []Skipped{skip(DefectProgramRange, 2, 34)}},
		{"program id greatest, empty segment", cat(segment(0xFFFF), good), DefectProgramRange, base + 2, 0, 1, []Skipped{skip(DefectProgramRange, 0, 8)}},
		{"length 3", cat(binaryID(0, 0, 3), good), DefectSegmentLength, base + 4, 0, 1, []Skipped{skip(DefectSegmentLength, 0, 8)}},
		{"length 0", cat(binaryID(0, 0, 0), rec, good), DefectSegmentLength, base + 4, 0, 1, []Skipped{skip(DefectOutsideSegment, 1, 6), skip(DefectSegmentLength, 0, 8)}},
		{"BINARY_ID cut", cat(good, good[:7]), DefectBinaryIDCut, base + 14, 1, 1, []Skipped{skip(DefectBinaryIDCut, 0, 7)}},
		{"segment cut behind BINARY_ID", cat(good, binaryID(0, 0, 5)), DefectSegmentCut, base + 18, 1, 1, []Skipped{skip(DefectSegmentCut, 0, 0)}},
		{"segment cut between records", cat(good, segment(0, rec, rec)[:14]), DefectSegmentCut, base + 18, 1, 2, []Skipped{skip(DefectSegmentCut, 0, 0)}},
		{"segment cut in a record", cat(good, segment(0, rec, lbr)[:8+6+9]), DefectSegmentCut, base + 18, 1, 2, []Skipped{skip(DefectSegmentCut, 0, 9)}},
		{"segment cut behind a REPEAT", cat(good, segment(0, repeat(0, 1), rec)[:8+10]), DefectSegmentCut, base + 18, 1, 1, []Skipped{skip(DefectSegmentCut, 0, 10)}},
		{"segment cut in a REPEAT", cat(good, segment(0, rec, repeat(0, 1), rec)[:8+6+3]), DefectSegmentCut, base + 18, 1, 2, []Skipped{skip(DefectSegmentCut, 0, 3)}},
		{"segment of 4 GiB", cat(good, binaryID(0, 0, 0xFFFFFFFF), rec), DefectSegmentCut, base + 18, 1, 2, []Skipped{skip(DefectSegmentCut, 0, 0)}},
		{"segment of 4 GiB with an unknown opcode", cat(binaryID(0, 0, 0xFFFFFFFF), rec, good), DefectSegmentCut, base + 4, 0, 1,
			[]Skipped{skip(DefectNestedSegment, 0, 14), skip(DefectSegmentCut, 0, 0)}},
		{"segment of 4 GiB of an unknown program", cat(binaryID(0, 7, 0xFFFFFFFF), rec, rec[:5]), DefectSegmentCut, base + 4, 0, 0,
			[]Skipped{skip(DefectProgramRange, 1, 19), skip(DefectSegmentCut, 0, 0)}},
	} {
		covered[c.defect] = true
		data := smallFile(c.stream)
		for _, rd := range readers {
			t.Run(c.name+"/"+rd.name, func(t *testing.T) {
				r, err := rd.open(data, nil)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for r.Next() {
					n++
				}
				if r.src.size >= 0 {
					wantError(t, r.Err(), c.defect, c.offset)
					wantError(t, r.Err(), c.defect.Unwrap(), c.offset)
					if n != c.before {
						t.Errorf("%d records before the defect, want %d", n, c.before)
					}
				} else if r.Err() == nil {
					t.Error("no error")
				}
				if r.Next() {
					t.Error("a record after the error")
				}

				r, err = rd.open(data, &Options{Tolerate: true})
				if err != nil {
					t.Fatal(err)
				}
				n, bytes := 0, uint64(0)
				for r.NextItem() {
					if rec := r.Record(); rec.Op == OpBinaryID {
						bytes += binaryIDSize
					} else {
						bytes += uint64(rec.size())
						n++
					}
				}
				if r.Err() != nil {
					t.Fatal(r.Err())
				}
				if n != c.total {
					t.Errorf("%d records in all, want %d", n, c.total)
				}
				stats := r.Stats()
				for i, k := range stats.Skipped {
					bytes += k.Bytes
					wantOffset := c.offset
					if k.Defect == c.defect {
						wantError(t, k.First, c.defect, wantOffset)
					}
					stats.Skipped[i].First = nil
				}
				if diff := cmp.Diff(c.skipped, stats.Skipped); diff != "" {
					t.Errorf("skipped (-want +got):\n%s", diff)
				}
				if bytes != uint64(len(c.stream)) || stats.Bytes != bytes {
					t.Errorf("%d bytes accounted for, %d in the statistics, want %d", bytes, stats.Bytes, len(c.stream))
				}
			})
		}
	}
	texts := map[string]bool{}
	for d := range numDefects {
		texts[d.Error()] = true
		if !covered[d] {
			t.Errorf("no case for %q", d)
		}
	}
	if len(texts) != int(numDefects) || texts[""] {
		t.Error("a defect has no text of its own")
	}
}

// An empty program id table leaves no index that would be right.
func TestNoPrograms(t *testing.T) {
	data := smallFile(segment(0, entries(0x01, 1, 1)))
	copy(data[0x1C:], u16(0))
	r := open(t, data, nil)
	if r.Next() {
		t.Error("a record of no program")
	}
	wantError(t, r.Err(), DefectProgramRange, dataStart+2)
}
