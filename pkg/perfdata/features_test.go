package perfdata

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func sampleFeatures() Features {
	return Features{
		Hostname: "build-7", OSRelease: "6.17.0", Version: "6.17.g1234", Arch: "aarch64", CPUDesc: "Neoverse-N1",
		CPUID: "0x00000000410fd0c0", CPUsAvailable: 64, CPUsOnline: 63, TotalMem: 1 << 40,
		CmdLine:  []string{"/usr/bin/perf", "record", strings.Repeat("x", 63), strings.Repeat("y", 64), ""},
		PMUs:     []PMU{{1, "software"}, {8, "arm_spe_0"}},
		Groups:   []Group{{"{cycles,instructions}", 0, 2}},
		BuildIDs: []BuildID{{ModeKernel, -1, ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, "[kernel.kallsyms]"}, {ModeUser, 5, ID{1, 2, 3, 4, 5, 6, 7, 8}, "/bin/a"}},

		FirstSample: 100, LastSample: 200, ClockResolution: 1, ClockData: ClockData{1, 1700000000000000000, 5},
		DirFormat: 1, Compression: Compression{1, 3, 2, 1 << 20}, CPUCaps: []Cap{{"branches", "32"}},
		PMUCaps:  []PMUCaps{{"cpu_core", []Cap{{"branches", "32"}, {"max_precise", "3"}}}, {"cpu_atom", nil}},
		EMachine: 183, EFlags: 1, CacheLine: 64, Meta: []Cap{{"clockid", "perf"}, {"timestamp", "1"}},
	}
}

func TestFeaturesRoundTrip(t *testing.T) {
	want := sampleFeatures()
	attrs := []*Attr{
		{Type: 0, SampleType: SampleIP | SampleIdentifier | SampleBranchStack, IDs: []uint64{1, 2}, Name: "cycles:u"},
		{Type: 8, Config: 1, SampleType: SampleIP | SampleIdentifier, IDs: []uint64{3}, Name: "arm_spe_0//"},
	}
	for name, opts := range variants() {
		fs := want
		opts.Features, opts.Attrs = &fs, attrs
		f := openBytes(t, writeBytes(t, opts, func(w *Writer) { w.WriteSample(&Sample{ID: 1}) }))
		if diff := cmp.Diff(want, f.Features, cmpopts.IgnoreFields(Features{}, "Sections")); diff != "" {
			t.Errorf("%s (-wrote +read):\n%s", name, diff)
		}
		sections := 24
		if opts.Pipe {
			sections-- // BRANCH_STACK is empty
		}
		if len(f.Features.Sections) != sections || !f.Features.Simpleperf() || f.Features.Hiperf() {
			t.Errorf("%s: sections %v", name, f.Features.Sections)
		}
		if f.Features.PMUName(8) != "arm_spe_0" || f.Features.PMUName(9) != "" {
			t.Errorf("%s: names of PMUs 8 and 9: %q, %q", name, f.Features.PMUName(8), f.Features.PMUName(9))
		}
		for i, a := range f.Attrs {
			a.Size = 0
			if diff := cmp.Diff(attrs[i], a); diff != "" {
				t.Errorf("%s: attribute %d (-wrote +read):\n%s", name, i, diff)
			}
		}
		if len(f.Warnings) > 0 || f.Truncated != nil {
			t.Errorf("%s: %v, %v", name, f.Warnings, f.Truncated)
		}
	}
}

// TestFeatureDamage cuts every section short and expects a warning with the
// place, and all other facts.
func TestFeatureDamage(t *testing.T) {
	fs := sampleFeatures()
	a := &Attr{SampleType: SampleIP, IDs: []uint64{1}, Name: "cycles"}
	whole := writeBytes(t, WriterOptions{Attrs: []*Attr{a}, Features: &fs}, func(w *Writer) {})
	f := openBytes(t, whole)
	for i, s := range f.Features.Sections {
		if s.Extent.Size == 0 {
			continue
		}
		b := append([]byte(nil), whole...)
		entry := f.Header.Data.end() + int64(16*i)
		b[entry+8] ^= 1 // one byte less, or more
		b[entry+9], b[entry+10] = 0, 0
		damaged := openBytes(t, b)
		if len(damaged.Features.Sections) != len(f.Features.Sections) || damaged.Attrs[0].SampleType != SampleIP {
			t.Errorf("%v: sections %v", s.Feature, damaged.Features.Sections)
		}
		for _, w := range damaged.Warnings {
			if w.Part != "feature "+s.Feature.String() || w.Offset < s.Extent.Offset || w.Offset > s.Extent.end() {
				t.Errorf("%v at %#x: %v", s.Feature, s.Extent.Offset, w)
			}
		}
		b[entry+7] = 1 // far away
		damaged = openBytes(t, b)
		if len(damaged.Warnings) != 1 || !errors.Is(damaged.Warnings[0], binfmt.ErrTruncated) || damaged.Warnings[0].Offset != entry {
			t.Errorf("%v outside the file: %v", s.Feature, damaged.Warnings)
		}
	}
	// Counts beyond the section.
	for _, s := range f.Features.Sections {
		switch s.Feature {
		case FeatureCmdLine, FeaturePMUMappings, FeatureGroupDesc, FeatureCPUPMUCaps, FeaturePMUCaps, FeatureEventDesc, FeatureHostname:
			b := append([]byte(nil), whole...)
			copy(b[s.Extent.Offset:], "\xff\xff\xff\xff")
			damaged := openBytes(t, b)
			want := binfmt.ErrTruncated
			if s.Feature == FeatureEventDesc {
				want = binfmt.ErrCorrupt // events have a limit of their own
			}
			if len(damaged.Warnings) != 1 || !errors.Is(damaged.Warnings[0], want) {
				t.Errorf("%v with 4 billion elements: %v", s.Feature, damaged.Warnings)
			}
		}
	}
}

// TestOldBuildIDs has entries of perf before 2010, and the forms of a length.
func TestOldBuildIDs(t *testing.T) {
	entry := func(misc uint16, head int, id ID, tail string, name string) string {
		e := newEncoder(false)
		e.u32(0)
		e.u16(misc)
		n := (8 + head + idSize + len(tail) + len(name) + 1 + 7) &^ 7
		e.u16(uint16(n))
		for range head {
			e.u8(0xff)
		}
		e.bytes(id)
		e.zeros(idSize - len(id))
		e.bytes([]byte(tail + name))
		e.zeros(n - len(e.b))
		return string(e.b)
	}
	id := ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	for _, tt := range []struct {
		name string
		data string
		want []BuildID
		err  error
	}{
		{"no length", entry(2, 4, id, "\x08\x00\x00\x00", "/a"), []BuildID{{ModeUser, -1, id, "/a"}}, nil},
		{"length 8", entry(2|MiscBuildIDSize, 4, id[:8], "\x08\x00\x00\x00", "/a"), []BuildID{{ModeUser, -1, id[:8], "/a"}}, nil},
		{"length 99", entry(2|MiscBuildIDSize, 4, id, "\x63\x00\x00\x00", "/a"), []BuildID{{ModeUser, -1, id, "/a"}}, nil},
		{"old", entry(2, 0, id, "\x00\x00\x00\x00", "/a") + entry(1, 0, id, "\x00\x00\x00\x00", "[kernel.kallsyms]"),
			[]BuildID{{ModeUser, -1, id, "/a"}, {ModeKernel, -1, id, "[kernel.kallsyms]"}}, nil},
		{"size 8", "\x00\x00\x00\x00\x00\x00\x08\x00", nil, binfmt.ErrCorrupt},
		{"cut", entry(2, 4, id, "\x08\x00\x00\x00", "/a")[:30], nil, binfmt.ErrTruncated},
	} {
		f := &File{segments: []segment{{}}}
		c := binfmt.NewCursor([]byte(tt.data), "", 0)
		decodeBuildIDs(f, &sectionCursor{c})
		if diff := cmp.Diff(tt.want, f.Features.BuildIDs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if !errors.Is(c.Err(), tt.err) {
			t.Errorf("%s: %v, want %v", tt.name, c.Err(), tt.err)
		}
	}
}

// TestPipeFacts has facts that come late, twice or damaged.
func TestPipeFacts(t *testing.T) {
	a := &Attr{SampleType: SampleIP | SampleIdentifier, IDs: []uint64{1}, Name: "one"}
	b := &Attr{SampleType: SampleIP | SampleIdentifier, IDs: []uint64{2}, Name: "two"}
	fs := Features{Hostname: "first"}
	data := writeBytes(t, WriterOptions{Pipe: true, Attrs: []*Attr{a, b}, Features: &fs}, func(w *Writer) {
		w.WriteSample(&Sample{ID: 1})
		e := newEncoder(false)
		e.u64(uint64(FeatureHostname))
		e.str("second")
		w.WriteRecord(TypeHeaderFeature, 0, e.b)
		e.b = nil
		e.u64(300)
		e.u64(0)
		w.WriteRecord(TypeHeaderFeature, 0, e.b)
		e.b = nil
		e.attr(b, attrSizeV0)
		e.u64(2)
		w.WriteRecord(TypeHeaderAttr, 0, e.b)
		w.WriteRecord(TypeHeaderAttr, 0, e.b[:40])
		w.WriteEvent(&EventUpdate{UpdateName, 2, []byte("renamed")}, SampleIDs{})
		w.WriteRecord(TypeEventUpdate, 0, nil)
		e.b = nil
		e.buildID(BuildID{ModeUser, 3, ID{1}, "/late"})
		w.WriteRecord(TypeBuildID, MiscBuildIDSize|2, e.b[8:])
		w.WriteRecord(TypeBuildID, 0, nil)
	})
	f := openBytes(t, data)
	if len(f.Attrs) != 2 || f.Features.Hostname != "first" || f.Attrs[1].Name != "two" || len(f.Warnings) != 0 {
		t.Errorf("before the walk: %v, %q, %v", f.Attrs, f.Features.Hostname, f.Warnings)
	}
	for range 2 { // the second walk must not add anything
		for rs := f.Records(); rs.Next(); {
		}
		if len(f.Attrs) != 2 || f.Features.Hostname != "first" || f.Attrs[1].Name != "renamed" {
			t.Errorf("after a walk: %v, %q", f.Attrs, f.Features.Hostname)
		}
		if diff := cmp.Diff([]BuildID{{ModeUser, 3, ID{1}, "/late"}}, f.Features.BuildIDs); diff != "" {
			t.Errorf("build ids (-want +got):\n%s", diff)
		}
		var kinds []string
		for _, w := range f.Warnings {
			kinds = append(kinds, fmt.Sprintf("%s: %v", w.Part, errors.Unwrap(w)))
		}
		if got, want := strings.Join(kinds, "; "), "HEADER_FEATURE record: corrupt; HEADER_ATTR record: truncated: unexpected EOF; "+
			"EVENT_UPDATE record: truncated: unexpected EOF; BUILD_ID record: corrupt"; got != want {
			t.Errorf("warnings %s\nwant     %s", got, want)
		}
	}
}
