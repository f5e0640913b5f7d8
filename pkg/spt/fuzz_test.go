package spt

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzReader reads damaged files in every way and holds the ways against each
// other: strict against tolerant, file against stream, large buffer against
// small, and the file against its copy and its text.
func FuzzReader(f *testing.F) {
	rec := entries(0x01, 1, 1)
	f.Add(oddFileOf(2))
	f.Add(smallFile())
	f.Add(smallFile(segment(0, rec, repeat(0, 1), rec), segment(1, entries(0x10, 1, 1, 2), entries(0x42, 3, 1, 2, 3))))
	f.Add(smallFile(segment(0, rec, []byte{0x77}, rec), rec, repeat(0, 1), segment(1, rec, repeat(0, 1)), segment(0, rec)[:10]))
	f.Add(smallFile(segment(2, rec), segment(0, repeat(0, 1), repeat(0, 1)), binaryID(0, 0, 0xFFFFFFFF), rec))
	f.Fuzz(func(t *testing.T, data []byte) {
		strict, err := readers[0].open(data, nil)
		if err != nil {
			return
		}
		strictItems := items(strict)
		tolerate := &Options{Tolerate: true}
		var first []item
		var firstStats Stats
		for i, rd := range readers[:3] {
			r, err := rd.open(data, tolerate)
			if err != nil {
				t.Fatalf("%s: %v", rd.name, err)
			}
			got := items(r)
			if r.Err() != nil {
				t.Fatalf("%s: tolerant, but %v", rd.name, r.Err())
			}
			stats := r.Stats()
			checkStats(t, len(data)-int(r.header.dataOffset()), got, stats)
			for i := range stats.Skipped {
				stats.Skipped[i].First = nil
			}
			if i == 0 {
				first, firstStats = got, stats
				continue
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Fatalf("%s reads other items:\n%s", rd.name, diff)
			}
			if diff := cmp.Diff(firstStats, stats); diff != "" {
				t.Fatalf("%s counts differently:\n%s", rd.name, diff)
			}
		}
		if (strict.Err() != nil) != (len(firstStats.Skipped) > 0) {
			t.Fatalf("strict: %v, tolerant skipped %v", strict.Err(), firstStats.Skipped)
		}
		if len(strictItems) > len(first) || len(strictItems) > 0 && !cmp.Equal(strictItems, first[:len(strictItems)]) {
			t.Fatal("strict items are no prefix of the tolerant ones")
		}
		if strict.Err() == nil {
			checkSame(t, data)
		} else {
			checkRepair(t, data, first)
		}
	})
}

// checkStats checks that every byte and item is accounted for.
func checkStats(t *testing.T, size int, got []item, stats Stats) {
	bytes, records := uint64(0), uint64(0)
	for _, i := range got {
		if i.Op == OpBinaryID {
			bytes += binaryIDSize
		} else {
			bytes += uint64(i.size())
			records++
		}
	}
	for _, k := range stats.Skipped {
		bytes += k.Bytes
	}
	if bytes != uint64(size) || stats.Bytes != uint64(size) || stats.Records != records || stats.Segments != uint64(len(got))-records {
		t.Fatalf("%d of %d bytes are accounted for; %d items, %d records, %+v", bytes, size, len(got), records, stats)
	}
}

// checkSame checks that copy and text of a sound file lead back to its bytes.
func checkSame(t *testing.T, data []byte) {
	var out bytes.Buffer
	if err := Copy(&out, open(t, data, nil)); err != nil || !bytes.Equal(out.Bytes(), data) {
		t.Fatalf("copy of %d bytes has %d: %v", len(data), out.Len(), err)
	}
	s := text(t, data, nil, PartAll)
	out.Reset()
	if err := ParseText(&out, strings.NewReader(s)); err != nil || !bytes.Equal(out.Bytes(), data) {
		t.Fatalf("%v\n%s", err, s)
	}
}

// checkRepair checks that copy and text of a damaged file are the same sound
// file with the records that a tolerant reader gets.
func checkRepair(t *testing.T, data []byte, want []item) {
	opts := &Options{Tolerate: true}
	var copied, parsed bytes.Buffer
	if err := Copy(&copied, open(t, data, opts)); err != nil {
		t.Fatal(err)
	}
	s := text(t, data, opts, PartAll)
	if err := ParseText(&parsed, strings.NewReader(s)); err != nil || !bytes.Equal(copied.Bytes(), parsed.Bytes()) {
		t.Fatalf("%v\n%s", err, s)
	}
	r := open(t, copied.Bytes(), nil)
	got := items(r)
	if r.Err() != nil || len(got) != len(want) {
		t.Fatalf("%d items instead of %d: %v", len(got), len(want), r.Err())
	}
	for i, g := range got {
		w := want[i]
		g.Offset, g.Segment, w.Offset, w.Segment = 0, Segment{}, 0, Segment{}
		if !cmp.Equal(g, w) {
			t.Fatalf("item %d of the repaired file (-want +got):\n%s", i, cmp.Diff(w, g))
		}
	}
}

// FuzzParseText checks that every text that parses is a sound file, whose own
// text is that file again.
func FuzzParseText(f *testing.F) {
	f.Add(text(f, oddFileOf(2), nil, PartAll))
	f.Add(text(f, smallFile(segment(0, entries(0x01, 1, 1)), segment(1, entries(0x10, 1, 1, 2), repeat(0, 7), entries(0x42, 3, 1, 2, 3))), nil, PartAll))
	f.Add("spt 1\nprogram 0 {884C945B-FE84-B717-4C4C-44205044422E} age 1 \"a.exe\" # comment\nbinary 0\n  UNHALT_CYCLE repeat 3 0x10\n")
	f.Add("spt 1\nprogram 0 {884C945B-FE84-B717-4C4C-44205044422E} age 1 \"\\xff\"\nbinary 1 pad 2 length 20\nLBR repeat 1 pad 1 1->2\n")
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		if ParseText(&out, strings.NewReader(s)) != nil {
			return
		}
		r := open(t, out.Bytes(), nil)
		for r.Next() {
		}
		if r.Err() != nil {
			t.Fatalf("the parsed file is not sound: %v", r.Err())
		}
		checkSame(t, out.Bytes())
	})
}
