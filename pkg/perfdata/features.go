package perfdata

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Feature is the number of a header section.
type Feature uint16

// Header sections, from tools/perf/util/header.h of Linux; those from 128 on
// belong to simpleperf, those from 192 on to hiperf.
const (
	FeatureTracingData Feature = 1
	FeatureBuildID     Feature = 2
	FeatureHostname    Feature = 3
	FeatureOSRelease   Feature = 4
	FeatureVersion     Feature = 5
	FeatureArch        Feature = 6
	FeatureNRCPUs      Feature = 7
	FeatureCPUDesc     Feature = 8
	FeatureCPUID       Feature = 9
	FeatureTotalMem    Feature = 10
	FeatureCmdLine     Feature = 11
	FeatureEventDesc   Feature = 12
	FeatureBranchStack Feature = 15
	FeaturePMUMappings Feature = 16
	FeatureGroupDesc   Feature = 17
	FeatureAuxtrace    Feature = 18
	FeatureSampleTime  Feature = 21
	FeatureClockID     Feature = 23
	FeatureDirFormat   Feature = 24
	FeatureCompressed  Feature = 27
	FeatureCPUPMUCaps  Feature = 28
	FeatureClockData   Feature = 29
	FeaturePMUCaps     Feature = 31
	FeatureEMachine    Feature = 33
	FeatureCacheLine   Feature = 34
	FeatureMetaInfo    Feature = 129 // simpleperf: pairs of strings
)

// featureNames has the sections of perf in the order of their numbers; number
// 0 is not used.
var featureNames = []string{
	"", "TRACING_DATA", "BUILD_ID", "HOSTNAME", "OSRELEASE", "VERSION", "ARCH", "NRCPUS", "CPUDESC", "CPUID",
	"TOTAL_MEM", "CMDLINE", "EVENT_DESC", "CPU_TOPOLOGY", "NUMA_TOPOLOGY", "BRANCH_STACK", "PMU_MAPPINGS",
	"GROUP_DESC", "AUXTRACE", "STAT", "CACHE", "SAMPLE_TIME", "MEM_TOPOLOGY", "CLOCKID", "DIR_FORMAT",
	"BPF_PROG_INFO", "BPF_BTF", "COMPRESSED", "CPU_PMU_CAPS", "CLOCK_DATA", "HYBRID_TOPOLOGY", "PMU_CAPS",
	"CPU_DOMAIN_INFO", "E_MACHINE", "CLN_SIZE",
}

// String returns the name that perf uses, or the number.
func (id Feature) String() string {
	if id > 0 && int(id) < len(featureNames) {
		return featureNames[id]
	}
	if id == FeatureMetaInfo {
		return "META_INFO"
	}
	return strconv.Itoa(int(id))
}

// known says whether some recorder writes sections of this number.
func (id Feature) known() bool {
	return id > 0 && int(id) < len(featureNames) || id >= 128 && id < 134 || id >= 192 && id < 200
}

// maxFeatures is the size of the bitmap in the header, in bits.
const maxFeatures = 256

// maxSection bounds the header sections that are decoded; larger ones are
// left alone with a warning.
const maxSection = 64 << 20

// Section is one header section and where it is.
type Section struct {
	Feature Feature
	Extent  Extent
}

// Features are the decoded header sections. Every field may be empty: no
// section is mandatory, and one that is damaged gives a warning and what
// could be read before the damage.
type Features struct {
	// Sections lists all header sections, decoded or not, in the order of the
	// file; read others with File.Section.
	Sections []Section

	Hostname  string
	OSRelease string // of the kernel
	Version   string // of perf
	Arch      string // as uname -m prints it: x86_64, aarch64
	CPUDesc   string
	CPUID     string // x86: vendor,family,model,stepping; arm64: MIDR

	CPUsAvailable, CPUsOnline uint32
	TotalMem                  uint64   // kB
	CmdLine                   []string // of the recorder
	PMUs                      []PMU
	Groups                    []Group
	BuildIDs                  []BuildID

	FirstSample, LastSample uint64 // times; 0, 0 if unknown
	ClockResolution         uint64 // ns, of the clock of Attr.ClockID
	ClockData               ClockData
	DirFormat               uint64 // version of the directory layout
	Compression             Compression
	CPUCaps                 []Cap // of the core PMU, such as branches=32
	PMUCaps                 []PMUCaps
	EMachine, EFlags        uint32 // ELF machine and flags of the recorder
	CacheLine               uint32 // bytes
	Meta                    []Cap  // simpleperf's META_INFO
}

// PMU gives the name of a value of Attr.Type.
type PMU struct {
	Type uint32
	Name string
}

// Group is a group of events that were counted together.
type Group struct {
	Name            string
	Leader, Members uint32 // number of the leading event, and how many there are
}

// ClockData is one instant on two clocks.
type ClockData struct {
	ClockID   uint32 // the clock of the second time
	WallClock uint64 // ns since 1970
	Clock     uint64 // ns on ClockID
}

// Compression tells how compressed records were made.
type Compression struct {
	Type, Level, Ratio uint32 // type 1 is zstd
	MmapLen            uint32 // no record expands to more than these bytes
}

// Cap is a named property.
type Cap struct{ Name, Value string }

// PMUCaps are the properties of one PMU.
type PMUCaps struct {
	PMU  string
	Caps []Cap
}

// PMUName returns the recorded name of the PMU behind a value of Attr.Type,
// such as arm_spe_0, or "".
func (fs *Features) PMUName(typ uint32) string {
	for _, p := range fs.PMUs {
		if p.Type == typ {
			return p.Name
		}
	}
	return ""
}

// Simpleperf says whether Android's simpleperf made the recording.
func (fs *Features) Simpleperf() bool { return fs.hasSection(128, 192) }

// Hiperf says whether OpenHarmony's hiperf made the recording.
func (fs *Features) Hiperf() bool { return fs.hasSection(192, 256) }

func (fs *Features) hasSection(from, to Feature) bool {
	for _, s := range fs.Sections {
		if from <= s.Feature && s.Feature < to {
			return true
		}
	}
	return false
}

// readFeatures finds the header sections behind the data and decodes them.
func (f *File) readFeatures() {
	order := orderOf(f.Header.BigEndian)
	table := f.chooseBitmap()
	for i, id := range table {
		at := int64(f.Header.features) + int64(i)*16
		entry := make([]byte, 16)
		if n, err := f.segments[0].r.ReadAt(entry, at); n < 16 {
			f.cut(f.defect(0, "feature table", at, binfmt.ErrTruncated, fmt.Sprintf("%d entries", len(table)), fmt.Sprintf("%d: %v", i, err)))
			return
		}
		off, size := order.Uint64(entry), order.Uint64(entry[8:])
		total := uint64(f.segments[0].size)
		if off > total || size > total-off {
			f.cut(f.defect(0, "feature "+id.String(), at, binfmt.ErrTruncated, extentText(off, size), fmt.Sprintf("%#x bytes", total)))
			continue
		}
		f.addSection(Section{id, Extent{Offset: int64(off), Size: int64(size)}})
	}
}

// cut notes that a header section lies behind the end of the file. Its samples
// are whole, but the file is not.
func (f *File) cut(e *binfmt.Error) {
	f.warnOf(e)
	if f.Truncated == nil {
		f.Truncated = e
	}
}

// chooseBitmap returns the features that the header lists, ascending. A
// big-endian recorder wrote the bitmap as words of 64 or of 32 bits, and only
// the result tells: perf always writes HOSTNAME; failing that, the right
// reading has none but known sections, which lie within the file.
func (f *File) chooseBitmap() []Feature {
	wide := bitmapFeatures(f.Header.bitmap, 8, f.Header.BigEndian)
	if !f.Header.BigEndian {
		return wide
	}
	narrow := bitmapFeatures(f.Header.bitmap, 4, true)
	for _, fs := range [][]Feature{wide, narrow} {
		for _, id := range fs {
			if id == FeatureHostname {
				return fs
			}
		}
	}
	for _, fs := range [][]Feature{wide, narrow} {
		if f.plausible(fs) {
			return fs
		}
	}
	return []Feature{FeatureBuildID} // as perf decides, for its oldest recordings
}

func bitmapFeatures(bitmap []byte, word int, bigEndian bool) []Feature {
	var fs []Feature
	for i := range Feature(len(bitmap) * 8) {
		b := int(i) / 8
		if bigEndian {
			b ^= word - 1 // the lowest bits of a word are in its last byte
		}
		if bitmap[b]>>(i%8)&1 != 0 {
			fs = append(fs, i)
		}
	}
	return fs
}

// plausible says whether a table of these features fits the file.
func (f *File) plausible(fs []Feature) bool {
	total := uint64(f.segments[0].size)
	table := make([]byte, 16*len(fs))
	if n, _ := f.segments[0].r.ReadAt(table, int64(f.Header.features)); n < len(table) || n == 0 {
		return false
	}
	for _, id := range fs {
		if !id.known() {
			return false
		}
	}
	first := f.Header.features + uint64(len(table))
	order := orderOf(f.Header.BigEndian)
	for b := table; len(b) > 0; b = b[16:] {
		off, size := order.Uint64(b), order.Uint64(b[8:])
		if off < first || off > total || size > total-off {
			return false
		}
	}
	return true
}

// addSection lists a section and decodes it if its content is known. Of
// several sections for one feature the first counts.
func (f *File) addSection(s Section) {
	for _, old := range f.Features.Sections {
		if old.Feature == s.Feature {
			return
		}
	}
	f.Features.Sections = append(f.Features.Sections, s)
	decode, ok := sectionDecoders[s.Feature]
	if !ok {
		return
	}
	part := "feature " + s.Feature.String()
	if s.Extent.Size > maxSection {
		f.warn(part, s.Extent.Offset, binfmt.ErrLimit, fmt.Sprintf("at most %d bytes", maxSection), fmt.Sprint(s.Extent.Size))
		return
	}
	data := make([]byte, s.Extent.Size)
	if n, err := f.Section(s.Extent).ReadAt(data, 0); n < len(data) {
		f.warn(part, s.Extent.Offset+int64(n), binfmt.ErrTruncated, fmt.Sprintf("%d bytes", len(data)), fmt.Sprint(err))
		data = data[:n]
	}
	c := binfmt.NewCursor(data, part, s.Extent.Offset).BigEndian(f.Header.BigEndian)
	decode(f, &sectionCursor{c})
	if err := c.Err(); err != nil {
		f.warnOf(err)
	}
}

// sectionCursor adds what header sections are made of.
type sectionCursor struct{ *binfmt.Cursor }

// str reads a string: its length with padding, then the bytes.
func (c *sectionCursor) str() string { return cString(c.Bytes(uint64(c.U32()))) }

// strs reads a count and so many strings.
func (c *sectionCursor) strs() []string {
	var list []string
	for range c.count(4) {
		list = append(list, c.str())
	}
	return list
}

// count reads a count of elements of at least size bytes each.
func (c *sectionCursor) count(size int) int {
	return c.Count(uint64(c.U32()), size, "elements")
}

// caps reads n pairs of strings.
func (c *sectionCursor) caps() []Cap {
	var list []Cap
	for range c.count(8) {
		list = append(list, Cap{c.str(), c.str()})
	}
	return list
}

// cString is the text before the first NUL.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// sectionDecoders has the sections that Features holds in decoded form.
var sectionDecoders = map[Feature]func(f *File, c *sectionCursor){
	FeatureHostname:  func(f *File, c *sectionCursor) { f.Features.Hostname = c.str() },
	FeatureOSRelease: func(f *File, c *sectionCursor) { f.Features.OSRelease = c.str() },
	FeatureVersion:   func(f *File, c *sectionCursor) { f.Features.Version = c.str() },
	FeatureArch:      func(f *File, c *sectionCursor) { f.Features.Arch = c.str() },
	FeatureCPUDesc:   func(f *File, c *sectionCursor) { f.Features.CPUDesc = c.str() },
	FeatureCPUID:     func(f *File, c *sectionCursor) { f.Features.CPUID = c.str() },
	FeatureNRCPUs: func(f *File, c *sectionCursor) {
		f.Features.CPUsAvailable, f.Features.CPUsOnline = c.U32(), c.U32()
	},
	FeatureTotalMem:  func(f *File, c *sectionCursor) { f.Features.TotalMem = c.U64() },
	FeatureCmdLine:   decodeCmdLine,
	FeatureEventDesc: decodeEventDesc,
	FeatureBuildID:   decodeBuildIDs,
	FeaturePMUMappings: func(f *File, c *sectionCursor) {
		for range c.count(8) {
			f.Features.PMUs = append(f.Features.PMUs, PMU{c.U32(), c.str()})
		}
	},
	FeatureGroupDesc: func(f *File, c *sectionCursor) {
		for range c.count(12) {
			f.Features.Groups = append(f.Features.Groups, Group{c.str(), c.U32(), c.U32()})
		}
	},
	FeatureSampleTime: func(f *File, c *sectionCursor) {
		f.Features.FirstSample, f.Features.LastSample = c.U64(), c.U64()
	},
	FeatureClockID:   func(f *File, c *sectionCursor) { f.Features.ClockResolution = c.U64() },
	FeatureDirFormat: func(f *File, c *sectionCursor) { f.Features.DirFormat = c.U64() },
	FeatureCompressed: func(f *File, c *sectionCursor) {
		c.U32() // version
		f.Features.Compression = Compression{c.U32(), c.U32(), c.U32(), c.U32()}
	},
	FeatureCPUPMUCaps: func(f *File, c *sectionCursor) { f.Features.CPUCaps = c.caps() },
	FeatureClockData: func(f *File, c *sectionCursor) {
		c.U32() // version
		f.Features.ClockData = ClockData{c.U32(), c.U64(), c.U64()}
	},
	FeaturePMUCaps: func(f *File, c *sectionCursor) {
		for range c.count(8) {
			caps := c.caps()
			f.Features.PMUCaps = append(f.Features.PMUCaps, PMUCaps{c.str(), caps})
		}
	},
	FeatureEMachine: func(f *File, c *sectionCursor) {
		f.Features.EMachine, f.Features.EFlags = c.U32(), c.U32()
	},
	FeatureCacheLine: func(f *File, c *sectionCursor) { f.Features.CacheLine = c.U32() },
	FeatureMetaInfo: func(f *File, c *sectionCursor) {
		for c.Len() > 0 && c.Err() == nil {
			m := Cap{c.CString(), c.CString()}
			if m.Name == "" {
				break // padding
			}
			f.Features.Meta = append(f.Features.Meta, m)
		}
	},
}

// decodeCmdLine reads the words of the command; hiperf writes them as one
// string without a count.
func decodeCmdLine(f *File, c *sectionCursor) {
	n := c.U32()
	if uint64(n) == uint64(c.Len()) && n > 0 {
		f.Features.CmdLine = []string{cString(c.Bytes(uint64(n)))}
		return
	}
	c.Seek(0)
	f.Features.CmdLine = c.strs()
}

// decodeEventDesc reads names and ids of the events. An event is that of the
// attribute with its first id, else the attribute in the same position.
func decodeEventDesc(f *File, c *sectionCursor) {
	n, size := c.U32(), c.U32()
	if size < attrSizeV0 || uint64(n) > maxAttrs {
		c.Fail(binfmt.ErrCorrupt, fmt.Sprintf("at most %d attributes of at least %d bytes", maxAttrs, attrSizeV0), fmt.Sprintf("%d of %d", n, size))
	}
	for i := range c.Count(uint64(n), int(size), "events") {
		raw := c.Bytes(uint64(size))
		nids := c.U32()
		name := c.str()
		var ids []uint64
		for range c.Count(uint64(nids), 8, "ids") {
			ids = append(ids, c.U64())
		}
		if c.Err() != nil {
			return
		}
		var a *Attr
		if len(ids) > 0 {
			a = f.ids[ids[0]]
		}
		switch {
		case a != nil:
		case i < len(f.Attrs):
			a = f.Attrs[i]
		default:
			a = decodeAttr(raw, f.Header.BigEndian)
			f.addAttr(a)
		}
		a.Name = name
		if len(a.IDs) == 0 {
			a.IDs = ids
		}
		f.addIDs(a, ids)
	}
}
