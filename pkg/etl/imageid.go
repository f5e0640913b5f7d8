package etl

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Opcodes of ImageID records, which a merge adds for each image event, before
// it and with its time stamp.
const (
	ImageIDInfo        uint8 = 0  // identity: size, link time, original name
	ImageIDNone        uint8 = 32 // the image has no debug data
	ImageIDMisc        uint8 = 34 // an old .dbg file
	ImageIDRSDS        uint8 = 36 // GUID, age and name of the PDB
	ImageIDManagedRSDS uint8 = 37 // the same of the PDB of managed code
	ImageIDDebugEntry  uint8 = 38 // stamp and version of the debug directory entry
	ImageIDEmbedded    uint8 = 39 // an embedded portable PDB
	ImageIDRepro       uint8 = 40 // reproducible build: the link time is a hash
	ImageIDFailure     uint8 = 41 // why an image file could not be opened
	ImageIDVersion     uint8 = 64 // version resource; see DecodeFileVersion
)

// ImageID is a record that identifies an image. Join it to the image event by
// process and base; kernel images by base.
type ImageID struct {
	Opcode        uint8 // one of the ImageID constants; tells which fields are set
	Base, Size    uint64
	PID           uint32
	TimeDateStamp uint32
	Checksum      uint32
	GUID          binfmt.GUID // of the PDB
	Age           uint32      // of the PDB
	// Name is the original file name (ImageIDInfo), the PDB's name, maybe
	// with the folder of the build, or the text of a failure.
	Name         string
	Major, Minor uint16 // of the debug directory entry
}

// FileVersion is the version resource of an image file. It names no process:
// join it by size and time stamp.
type FileVersion struct {
	Size           uint32
	TimeDateStamp  uint32
	OriginalName   string
	Description    string
	Version        string
	BinaryVersion  string
	Language       string
	Product        string
	Company        string
	ProductVersion string
	FileID         string
	ProgramID      string
}

// The rows of all ImageID layouts.
var (
	imageIDBase  = pointerField("ImageBase", 0, latest, func(m *ImageID) *uint64 { return &m.Base })
	imageIDSize  = pointerField("ImageSize", 0, latest, func(m *ImageID) *uint64 { return &m.Size })
	imageIDPID   = u32Field("ProcessId", 0, latest, func(m *ImageID) *uint32 { return &m.PID })
	imageIDStamp = u32Field("TimeDateStamp", 0, latest, func(m *ImageID) *uint32 { return &m.TimeDateStamp })
	imageIDSum   = u32Field("Checksum", 0, latest, func(m *ImageID) *uint32 { return &m.Checksum })
	imageIDGUID  = guidField("GuidSig", 0, latest, func(m *ImageID) *binfmt.GUID { return &m.GUID })
	imageIDAge   = u32Field("Age", 0, latest, func(m *ImageID) *uint32 { return &m.Age })
	imageIDMajor = u16Field("MajorVersion", 0, latest, func(m *ImageID) *uint16 { return &m.Major })
	imageIDMinor = u16Field("MinorVersion", 0, latest, func(m *ImageID) *uint16 { return &m.Minor })
	imageIDWide  = wideField("Name", 0, latest, func(m *ImageID) *string { return &m.Name })
	imageIDText  = textField("PdbFileName", 0, latest, func(m *ImageID) *string { return &m.Name })
	imageIDSize4 = field[ImageID]{name: "ImageSize", to: latest,
		read:  func(p *payload, m *ImageID) { m.Size = uint64(p.U32()) },
		write: func(b []byte, m *ImageID, _ int) []byte { return appendPointer(b, m.Size, 4) }}
)

var imageIDLayouts = map[uint8]*layout[ImageID]{
	ImageIDInfo:        {"ImageID", []field[ImageID]{imageIDBase, imageIDSize, imageIDPID, imageIDStamp, imageIDWide}},
	ImageIDNone:        {"ImageID none", []field[ImageID]{imageIDBase, imageIDPID}},
	ImageIDMisc:        {"ImageID DBG", []field[ImageID]{imageIDBase, imageIDPID, imageIDSum, imageIDStamp, imageIDSize4, imageIDWide}},
	ImageIDRSDS:        {"ImageID RSDS", []field[ImageID]{imageIDBase, imageIDPID, imageIDGUID, imageIDAge, imageIDText}},
	ImageIDManagedRSDS: {"ImageID managed RSDS", []field[ImageID]{imageIDBase, imageIDPID, imageIDGUID, imageIDAge, imageIDText}},
	ImageIDDebugEntry:  {"ImageID debug entry", []field[ImageID]{imageIDBase, imageIDPID, imageIDStamp, imageIDMajor, imageIDMinor}},
	ImageIDEmbedded:    {"ImageID embedded PDB", []field[ImageID]{imageIDBase, imageIDPID, imageIDMajor, imageIDMinor, imageIDGUID, imageIDAge}},
	ImageIDRepro:       {"ImageID reproducible", []field[ImageID]{imageIDBase, imageIDPID}},
	ImageIDFailure:     {"ImageID failure", []field[ImageID]{imageIDWide}},
}

var fileVersionLayout = layout[FileVersion]{"ImageID version", []field[FileVersion]{
	u32Field("ImageSize", 0, latest, func(f *FileVersion) *uint32 { return &f.Size }),
	u32Field("TimeDateStamp", 0, latest, func(f *FileVersion) *uint32 { return &f.TimeDateStamp }),
	asOptional(wideField("OrigFileName", 0, latest, func(f *FileVersion) *string { return &f.OriginalName })),
	asOptional(wideField("FileDescription", 0, latest, func(f *FileVersion) *string { return &f.Description })),
	asOptional(wideField("FileVersion", 0, latest, func(f *FileVersion) *string { return &f.Version })),
	asOptional(wideField("BinFileVersion", 0, latest, func(f *FileVersion) *string { return &f.BinaryVersion })),
	asOptional(wideField("VerLanguage", 0, latest, func(f *FileVersion) *string { return &f.Language })),
	asOptional(wideField("ProductName", 0, latest, func(f *FileVersion) *string { return &f.Product })),
	asOptional(wideField("CompanyName", 0, latest, func(f *FileVersion) *string { return &f.Company })),
	asOptional(wideField("ProductVersion", 0, latest, func(f *FileVersion) *string { return &f.ProductVersion })),
	asOptional(wideField("FileId", 0, latest, func(f *FileVersion) *string { return &f.FileID })),
	asOptional(wideField("ProgramId", 0, latest, func(f *FileVersion) *string { return &f.ProgramID })),
}}

// DecodeImageID reads a record of ClassImageID other than ImageIDVersion. An
// opcode that is not known is ErrUnsupported.
func DecodeImageID(r *Record, m *ImageID) error {
	_, err := decodeImageID(r, m)
	return err
}

func decodeImageID(r *Record, m *ImageID) (rest int, err error) {
	if err := checkClass(r, ClassImageID, "ImageID"); err != nil {
		return 0, err
	}
	l := imageIDLayouts[r.Opcode]
	if l == nil {
		return 0, r.locate(&binfmt.Error{Part: "ImageID opcode", Offset: int64(r.Offset) + 4, Got: fmt.Sprint(r.Opcode), Err: binfmt.ErrUnsupported})
	}
	rest, err = l.decode(r, int(r.PointerSize), m)
	m.Opcode = r.Opcode
	return rest, err
}

// DecodeFileVersion reads a record of ClassImageID with opcode ImageIDVersion.
func DecodeFileVersion(r *Record, f *FileVersion) error {
	if r.Class != ClassImageID || r.Opcode != ImageIDVersion {
		return checkClass(r, 0, fileVersionLayout.name)
	}
	_, err := fileVersionLayout.decode(r, int(r.PointerSize), f)
	return err
}

// AppendImageID appends the payload of the record that m.Opcode says. It
// panics for an opcode without a layout.
func AppendImageID(b []byte, m *ImageID, pointerSize int) []byte {
	l := imageIDLayouts[m.Opcode]
	if l == nil {
		panic(fmt.Sprintf("etl: ImageID opcode %d has no layout", m.Opcode))
	}
	return l.append(b, m, 0, pointerSize)
}

// AppendFileVersion appends the payload of an ImageIDVersion record.
func AppendFileVersion(b []byte, f *FileVersion, pointerSize int) []byte {
	return fileVersionLayout.append(b, f, 0, pointerSize)
}
