package etl

// Image is an image event: a module was loaded or unloaded, or was there at
// the start or end of the session.
type Image struct {
	Base uint64
	Size uint64 // SizeOfImage
	// PID is the process that the module is mapped in. Kernel modules have 0,
	// but so may others: the address tells.
	PID            uint32
	Checksum       uint32
	TimeDateStamp  uint32 // may be 0 in the rundown of a user image
	SignatureLevel uint8
	SignatureType  uint8
	DefaultBase    uint64
	Name           string // NT path, such as \Device\HarddiskVolume3\app\app.exe
}

var imageLayout = layout[Image]{"image", []field[Image]{
	pointerField("ImageBase", 0, latest, func(m *Image) *uint64 { return &m.Base }),
	{name: "ImageSize", to: 0,
		read:  func(p *payload, m *Image) { m.Size = uint64(p.U32()) },
		write: func(b []byte, m *Image, _ int) []byte { return appendPointer(b, m.Size, 4) }},
	pointerField("ImageSize", 1, latest, func(m *Image) *uint64 { return &m.Size }),
	u32Field("ProcessId", 1, latest, func(m *Image) *uint32 { return &m.PID }),
	u32Field("ImageChecksum", 2, latest, func(m *Image) *uint32 { return &m.Checksum }),
	u32Field("TimeDateStamp", 2, latest, func(m *Image) *uint32 { return &m.TimeDateStamp }),
	byteField("SignatureLevel", 2, latest, func(m *Image) *uint8 { return &m.SignatureLevel }),
	byteField("SignatureType", 2, latest, func(m *Image) *uint8 { return &m.SignatureType }),
	unusedField[Image]("Reserved0", 2, latest, 2, 0),
	pointerField("DefaultBase", 2, latest, func(m *Image) *uint64 { return &m.DefaultBase }),
	unusedField[Image]("Reserved1", 2, latest, 16, 0),
	wideField("FileName", 0, latest, func(m *Image) *string { return &m.Name }),
}}

// DecodeImage reads a record of ClassImage. Version 0 names no process: it is
// the header's.
func DecodeImage(r *Record, m *Image) error {
	_, err := decodeEither(&imageLayout, r, ClassImage, m)
	if err == nil && r.Version == 0 {
		m.PID = r.PID
	}
	return err
}

// AppendImage appends the payload of an image event.
func AppendImage(b []byte, m *Image, version uint16, pointerSize int) []byte {
	return imageLayout.append(b, m, version, pointerSize)
}
