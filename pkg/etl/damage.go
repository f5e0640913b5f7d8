package etl

import (
	"errors"
	"iter"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Reason says why bytes of a file yielded no records.
type Reason uint8

// Reasons, with what was dropped.
const (
	// BadMarker: no record starts where one should; the rest of the buffer.
	BadMarker Reason = iota
	// BadSize: a record smaller than its header or larger than what is left
	// of its buffer; the rest of the buffer.
	BadSize
	// BadItems: the counter values or extended items of a record run past
	// it; that record.
	BadItems
	// UnknownType: a header type without a known layout; yielded as
	// ClassOther, without ids or time.
	UnknownType
	// EarlyEnd: the end marker stands before the place that the buffer
	// header names; the rest of the buffer.
	EarlyEnd
	// BadCompression: the buffer does not unpack; the buffer.
	BadCompression
	// CutBuffer: the file ends inside the buffer; what is missing of it.
	CutBuffer
	// BadFill: the buffer claims more bytes in use than it has; the excess.
	BadFill
	// BadBuffer: a buffer header that cannot be right; the file up to the next
	// buffer that can be found.
	BadBuffer
	// Trailing: too few bytes for a buffer header at the end of the file.
	Trailing
	// ZeroTail: nothing but zeros follows, as in a file that was given its
	// size in advance; the rest of the file.
	ZeroTail

	reasonEnd
)

var reasonText = [reasonEnd]string{
	BadMarker:      "no record marker",
	BadSize:        "record size out of range",
	BadItems:       "record items out of range",
	UnknownType:    "unknown record type",
	EarlyEnd:       "end marker before the end",
	BadCompression: "buffer does not unpack",
	CutBuffer:      "file ends inside a buffer",
	BadFill:        "buffer fill out of range",
	BadBuffer:      "damaged buffer header",
	Trailing:       "trailing bytes",
	ZeroTail:       "zeros at the end",
}

// String describes the reason in a few words.
func (r Reason) String() string { return reasonText[r] }

// Tally counts one kind of damage.
type Tally struct {
	Count uint64 // occurrences
	Bytes uint64 // bytes dropped, as they stand in the buffer (unpacked) or in the file
}

// Damage counts what was dropped, by reason. The zero value is empty.
type Damage [reasonEnd]Tally

func (d *Damage) count(r Reason, bytes int64) {
	d[r].Count++
	d[r].Bytes += uint64(max(bytes, 0))
}

// Add adds the counts of o.
func (d *Damage) Add(o *Damage) {
	for i := range d {
		d[i].Count += o[i].Count
		d[i].Bytes += o[i].Bytes
	}
}

// All yields the reasons that occurred, in the order of their constants.
func (d *Damage) All() iter.Seq2[Reason, Tally] {
	return func(yield func(Reason, Tally) bool) {
		for i, t := range d {
			if t.Count > 0 && !yield(Reason(i), t) {
				return
			}
		}
	}
}

// IsDamage says whether err tells of bad content, after which other buffers
// can still be read, rather than of a file that cannot be read at all.
func IsDamage(err error) bool {
	for _, kind := range []error{binfmt.ErrTruncated, binfmt.ErrCorrupt, binfmt.ErrLimit, binfmt.ErrUnsupported, binfmt.ErrVersion} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
