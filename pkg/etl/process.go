package etl

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Process is a process event: start, end, rundown or defunct.
type Process struct {
	Key                uint64 // UniqueProcessKey; in version 1 the page directory base
	PID, ParentPID     uint32
	SessionID          uint32
	ExitStatus         int32
	DirectoryTableBase uint64
	Flags              uint32
	SID                SID    // of the user; empty if the event has none
	Image              string // file name without folder
	CommandLine        string
	Package            string // full name of the app package
	Application        string // id of the application in it
	DefunctTime        int64  // of a defunct event; of the start or of the end, that is not known
}

// processVersion is the newest version that is known.
const processVersion = 5

var processLayout = layout[Process]{"process", []field[Process]{
	pointer32Field("ProcessId", 0, 0, func(p *Process) *uint32 { return &p.PID }),
	pointer32Field("ParentId", 0, 0, func(p *Process) *uint32 { return &p.ParentPID }),
	pointerField("UniqueProcessKey", 1, latest, func(p *Process) *uint64 { return &p.Key }),
	u32Field("ProcessId", 1, latest, func(p *Process) *uint32 { return &p.PID }),
	u32Field("ParentId", 1, latest, func(p *Process) *uint32 { return &p.ParentPID }),
	u32Field("SessionId", 1, latest, func(p *Process) *uint32 { return &p.SessionID }),
	{name: "ExitStatus", from: 1, to: latest,
		read:  func(c *payload, p *Process) { p.ExitStatus = int32(c.U32()) },
		write: func(b []byte, p *Process, _ int) []byte { return binfmt.AppendU32(b, uint32(p.ExitStatus)) }},
	pointerField("DirectoryTableBase", 3, latest, func(p *Process) *uint64 { return &p.DirectoryTableBase }),
	u32Field("Flags", 4, latest, func(p *Process) *uint32 { return &p.Flags }),
	{name: "UserSID", to: latest,
		read:  func(c *payload, p *Process) { p.SID = c.sid() },
		write: func(b []byte, p *Process, ptr int) []byte { return appendSID(b, p.SID, ptr) }},
	textField("ImageFileName", 0, latest, func(p *Process) *string { return &p.Image }),
	wideField("CommandLine", 2, latest, func(p *Process) *string { return &p.CommandLine }),
	wideField("PackageFullName", 4, latest, func(p *Process) *string { return &p.Package }),
	wideField("ApplicationId", 4, latest, func(p *Process) *string { return &p.Application }),
	asOptional(i64Field("Time", 5, latest, func(p *Process) *int64 { return &p.DefunctTime })),
}}

// DecodeProcess reads a record of ClassProcess.
func DecodeProcess(r *Record, p *Process) error {
	_, err := decodeEither(&processLayout, r, ClassProcess, p)
	return err
}

// AppendProcess appends the payload of a process event. Only a defunct event
// of version 5 has the time.
func AppendProcess(b []byte, p *Process, version uint16, pointerSize int) []byte {
	if version >= processVersion && p.DefunctTime == 0 {
		version = processVersion - 1 // the same but for that field
	}
	return processLayout.append(b, p, version, pointerSize)
}

// decodeEither reads a record of the given class. User-mode programs that log
// kernel events under their GUIDs may write pointers of another size than
// their header type says: such a record is read the other way if that alone
// accounts for every byte.
func decodeEither[T any](l *layout[T], r *Record, class Class, v *T) (rest int, err error) {
	if err := checkClass(r, class, l.name); err != nil {
		return 0, err
	}
	ptr := int(r.PointerSize)
	rest, err = l.decode(r, ptr, v)
	if (err == nil && rest == 0) || (r.Type != HeaderFull32 && r.Type != HeaderFull64) {
		return rest, err
	}
	var other T
	if n, e := l.decode(r, 12-ptr, &other); e == nil && n == 0 {
		*v = other
		return 0, nil
	}
	return rest, err
}

// SID is a security identifier in its binary form: u8 revision, u8 count,
// 6 bytes authority from the top down, count times u32.
type SID []byte

// sidHeader is the bytes of a SID before its sub-authorities.
const sidHeader = 8

// String prints the form "S-1-5-18"; nothing for an empty SID.
func (s SID) String() string {
	if len(s) < sidHeader {
		return ""
	}
	var text strings.Builder
	var authority uint64
	for _, b := range s[2:sidHeader] {
		authority = authority<<8 | uint64(b)
	}
	fmt.Fprintf(&text, "S-%d-%d", s[0], authority)
	for b := s[sidHeader:]; len(b) >= 4; b = b[4:] {
		fmt.Fprintf(&text, "-%d", binary.LittleEndian.Uint32(b))
	}
	return text.String()
}

// sid reads what stands for a SID in an event: a zero word if there is none,
// else a TOKEN_USER, two pointers that mean nothing any more, and the SID.
func (p *payload) sid() SID {
	if p.Err() != nil {
		return nil
	}
	user := 2 * p.ptr
	start := p.Pos()
	if p.U32() == 0 && !p.sidFollows(start+user) {
		p.Seek(uint64(start) + 4)
		return nil
	}
	p.Seek(uint64(start) + uint64(user))
	count := p.sidCount()
	return append(SID(nil), p.Bytes(sidHeader+4*uint64(count))...)
}

// sidCount looks at the number of sub-authorities of the SID at the current
// position.
func (p *payload) sidCount() uint8 {
	at := p.Pos()
	p.Skip(1)
	n := p.U8()
	p.Seek(uint64(at))
	return n
}

// sidFollows says whether a SID stands at a position although the TOKEN_USER
// before it is zero, as in records that a program made up.
func (p *payload) sidFollows(at int) bool {
	save := *p.Cursor
	defer func() { *p.Cursor = save }()
	zero := true
	for n := at - p.Pos(); n > 0; n-- {
		zero = p.U8() == 0 && zero
	}
	revision, count := p.U8(), p.U8()
	high := p.U32() // authorities that exist are below 256
	return p.Err() == nil && zero && revision == 1 && count >= 1 && count <= 15 && high == 0 && p.U8() == 0
}

func appendSID(b []byte, s SID, ptr int) []byte {
	if len(s) == 0 {
		return binfmt.AppendU32(b, 0)
	}
	b = appendPointer(b, 1, ptr) // any value but zero says that a SID follows
	b = appendPointer(b, 0, ptr)
	return append(b, s...)
}
