package etl

import (
	"math/bits"
	"time"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Clock is the source of a file's time stamps.
type Clock uint32

// Clocks. Real files have ClockQPC.
const (
	ClockRaw    Clock = 0 // to be read as ClockQPC
	ClockQPC    Clock = 1 // ticks of the performance counter, PerfFreq a second
	ClockSystem Clock = 2 // FILETIME
	ClockCycles Clock = 3 // processor cycles
)

// LogFile is the log file header, the first record of a file. Times of day
// are FILETIMEs: units of 100 ns since 1601, UTC.
type LogFile struct {
	BufferSize      uint32   // of a buffer, unpacked, in bytes
	Version         [4]uint8 // Windows major, minor, and the layout's two numbers
	Build           uint32   // Windows build
	Processors      uint32
	EndTime         int64  // 0 if the session did not end properly
	TimerResolution uint32 // in 100 ns
	MaximumFileSize uint32 // in MiB; 0 for no limit
	Mode            uint32 // Mode bits
	BuffersWritten  uint32
	StartBuffers    uint32
	PointerSize     uint32 // of the tool that wrote the file; records tell their own
	EventsLost      uint32 // final only if the session ended properly
	CPUMHz          uint32
	Bias            int32  // of local time, in minutes: UTC = local time + Bias
	BootTime        int64  // of the machine
	PerfFreq        int64  // ticks a second of ClockQPC
	StartTime       int64  // when Time was
	Clock           Clock  // of all time stamps
	BuffersLost     uint32 // as EventsLost
	Session         string // name of the session; "Relogger" after a merge
	FileName        string // the file's name when it was made

	// Time is the time stamp of the header record itself, in ticks.
	Time int64
}

// timeZoneRest is the bytes of a TIME_ZONE_INFORMATION after its bias.
const timeZoneRest = 172 - 4

var logFileLayout = layout[LogFile]{"log file header", []field[LogFile]{
	u32Field("BufferSize", 0, latest, func(h *LogFile) *uint32 { return &h.BufferSize }),
	byteField("Version", 0, latest, func(h *LogFile) *uint8 { return &h.Version[0] }),
	byteField("Version", 0, latest, func(h *LogFile) *uint8 { return &h.Version[1] }),
	byteField("Version", 0, latest, func(h *LogFile) *uint8 { return &h.Version[2] }),
	byteField("Version", 0, latest, func(h *LogFile) *uint8 { return &h.Version[3] }),
	u32Field("ProviderVersion", 0, latest, func(h *LogFile) *uint32 { return &h.Build }),
	u32Field("NumberOfProcessors", 0, latest, func(h *LogFile) *uint32 { return &h.Processors }),
	i64Field("EndTime", 0, latest, func(h *LogFile) *int64 { return &h.EndTime }),
	u32Field("TimerResolution", 0, latest, func(h *LogFile) *uint32 { return &h.TimerResolution }),
	u32Field("MaximumFileSize", 0, latest, func(h *LogFile) *uint32 { return &h.MaximumFileSize }),
	u32Field("LogFileMode", 0, latest, func(h *LogFile) *uint32 { return &h.Mode }),
	u32Field("BuffersWritten", 0, latest, func(h *LogFile) *uint32 { return &h.BuffersWritten }),
	u32Field("StartBuffers", 0, latest, func(h *LogFile) *uint32 { return &h.StartBuffers }),
	{name: "PointerSize", to: latest, // this payload's own pointers follow it
		read: func(p *payload, h *LogFile) {
			if h.PointerSize = p.U32(); h.PointerSize == 4 || h.PointerSize == 8 {
				p.ptr = int(h.PointerSize)
			} else {
				h.PointerSize = uint32(p.ptr)
			}
		},
		write: func(b []byte, h *LogFile, _ int) []byte { return binfmt.AppendU32(b, h.PointerSize) }},
	u32Field("EventsLost", 0, latest, func(h *LogFile) *uint32 { return &h.EventsLost }),
	u32Field("CpuSpeedInMHz", 0, latest, func(h *LogFile) *uint32 { return &h.CPUMHz }),
	unusedField[LogFile]("LoggerName, LogFileName", 0, latest, 0, 2),
	{name: "TimeZone.Bias", to: latest,
		read:  func(p *payload, h *LogFile) { h.Bias = int32(p.U32()) },
		write: func(b []byte, h *LogFile, _ int) []byte { return binfmt.AppendU32(b, uint32(h.Bias)) }},
	unusedField[LogFile]("TimeZone", 0, latest, timeZoneRest, 0),
	unusedField[LogFile]("padding", 0, latest, 4, 0),
	i64Field("BootTime", 0, latest, func(h *LogFile) *int64 { return &h.BootTime }),
	i64Field("PerfFreq", 0, latest, func(h *LogFile) *int64 { return &h.PerfFreq }),
	i64Field("StartTime", 0, latest, func(h *LogFile) *int64 { return &h.StartTime }),
	{name: "ReservedFlags", to: latest,
		read:  func(p *payload, h *LogFile) { h.Clock = Clock(p.U32()) },
		write: func(b []byte, h *LogFile, _ int) []byte { return binfmt.AppendU32(b, uint32(h.Clock)) }},
	u32Field("BuffersLost", 0, latest, func(h *LogFile) *uint32 { return &h.BuffersLost }),
	nameField("SessionName", func(h *LogFile) *string { return &h.Session }),
	nameField("FileName", func(h *LogFile) *string { return &h.FileName }),
}}

// nameField is a UTF-16 string that may lack its NUL or be missing: a file is
// not given up for a name.
func nameField(name string, at func(*LogFile) *string) field[LogFile] {
	f := asOptional(wideField(name, 0, latest, at))
	f.read = func(p *payload, h *LogFile) {
		rest := p.Bytes(uint64(p.Len()))
		c := binfmt.NewCursor(append(rest[:len(rest)&^1:len(rest)&^1], 0, 0), name, 0)
		*at(h) = c.WString()
		p.Seek(uint64(p.Pos() - len(rest) + min(c.Pos(), len(rest))))
	}
	return f
}

func decodeLogFile(r *Record, h *LogFile) error {
	_, err := logFileLayout.decode(r, int(r.PointerSize), h)
	h.Time = r.Time
	return err
}

// FileTime converts a time stamp of the file to a FILETIME. Order events by
// their ticks: rounding makes different ones equal.
func (h *LogFile) FileTime(ticks int64) int64 {
	const second = 10_000_000 // FILETIME units
	switch h.Clock {
	case ClockSystem:
		return ticks
	case ClockCycles:
		return h.StartTime + mulDiv(ticks-h.Time, 10, int64(h.CPUMHz))
	}
	return h.StartTime + mulDiv(ticks-h.Time, second, h.PerfFreq)
}

// Ticks converts a time of day to a time stamp of the file; it is the inverse
// of FileTime but for rounding.
func (h *LogFile) Ticks(fileTime int64) int64 {
	const second = 10_000_000
	switch h.Clock {
	case ClockSystem:
		return fileTime
	case ClockCycles:
		return h.Time + mulDiv(fileTime-h.StartTime, int64(h.CPUMHz), 10)
	}
	return h.Time + mulDiv(fileTime-h.StartTime, h.PerfFreq, second)
}

// WallTime converts a FILETIME to a time in UTC.
func WallTime(fileTime int64) time.Time {
	const second = 10_000_000
	const to1970 = 11_644_473_600 // seconds from 1601
	return time.Unix(fileTime/second-to1970, fileTime%second*100).UTC()
}

// mulDiv returns a*b/c with a product of 128 bits. A divisor that no clock
// can have counts as 1, a quotient out of range as the largest.
func mulDiv(a, b, c int64) int64 {
	if c <= 0 {
		c = 1
	}
	if b < 0 {
		b = 0
	}
	mag := uint64(a)
	if a < 0 {
		mag = -mag
	}
	hi, lo := bits.Mul64(mag, uint64(b))
	q := uint64(1<<63 - 1)
	if hi < uint64(c) {
		if d, _ := bits.Div64(hi, lo, uint64(c)); d < q {
			q = d
		}
	}
	if a < 0 {
		return -int64(q)
	}
	return int64(q)
}
