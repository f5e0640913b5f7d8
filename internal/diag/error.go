package diag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Error is a failure or warning as the user sees it. Its JSON form is part of
// the documented schema. Empty Cause and Next take the texts of the code.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Part    string `json:"part,omitempty"`
	Offset  *int64 `json:"offset,omitempty"` // in bytes
	Want    string `json:"want,omitempty"`
	Got     string `json:"got,omitempty"`
	Count   uint64 `json:"count,omitempty"` // how often, for warnings that stand for many
	Cause   string `json:"cause"`
	Next    string `json:"next"`
	Err     error  `json:"-"`
}

// New returns an error of the code with a message.
func New(code Code, format string, args ...any) *Error {
	info := Codes[code]
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Cause: info.Cause, Next: info.Next}
}

// In names the file that the error is about.
func (e *Error) In(file string) *Error {
	e.File = file
	return e
}

// Do replaces the next step by one that fits the case better.
func (e *Error) Do(format string, args ...any) *Error {
	e.Next = fmt.Sprintf(format, args...)
	return e
}

// Because replaces the probable cause by one that fits the case better.
func (e *Error) Because(format string, args ...any) *Error {
	e.Cause = fmt.Sprintf(format, args...)
	return e
}

// Error prints code, place and message on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	for _, s := range []string{e.File, e.Part} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	if e.Offset != nil {
		fmt.Fprintf(&b, ": offset %#x", *e.Offset)
	}
	b.WriteString(": " + e.Message)
	if e.Want != "" || e.Got != "" {
		fmt.Fprintf(&b, " (expected %s; found %s)", orDash(e.Want), orDash(e.Got))
	}
	return b.String()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Unwrap returns the error that this one presents.
func (e *Error) Unwrap() error { return e.Err }

// Exit is the exit status that the error leads to.
func (e *Error) Exit() Exit { return Codes[e.Code].Exit }

// Of presents any error: one of this package as it is, the defects of the
// codecs by their kind, errors of the operating system by what failed.
func Of(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	e := New(classify(err), "%v", err)
	e.Err = err
	if e.Code == Interrupted {
		e.Message = "stopped by a signal"
	}
	var defect *binfmt.Error
	if errors.As(err, &defect) {
		e.File, e.Part, e.Want, e.Got = defect.File, defect.Part, defect.Want, defect.Got
		if defect.Offset >= 0 {
			off := defect.Offset
			e.Offset = &off
		}
		e.Message = Codes[e.Code].Title
		if defect.Err != nil && !isKind(defect.Err) {
			e.Message += ": " + defect.Err.Error()
		}
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		e.File = path.Path
		e.Message = fmt.Sprintf("%s: %v", path.Op, path.Err)
	}
	return e
}

var kinds = []struct {
	err  error
	code Code
}{
	{context.Canceled, Interrupted},
	{binfmt.ErrMagic, UnknownFormat},
	{binfmt.ErrVersion, BadVersion},
	{binfmt.ErrLimit, TooLarge},
	{binfmt.ErrUnsupported, Unsupported},
	{binfmt.ErrTruncated, Truncated},
	{binfmt.ErrCorrupt, Corrupt},
	{io.ErrUnexpectedEOF, Truncated},
	{fs.ErrNotExist, CannotOpen},
	{fs.ErrInvalid, CannotOpen},
	{fs.ErrPermission, CannotOpen},
}

func classify(err error) Code {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.code
		}
	}
	var path *fs.PathError
	if errors.As(err, &path) && path.Op == "open" {
		return CannotOpen
	}
	return CannotRead
}

func isKind(err error) bool {
	for _, k := range kinds {
		if err == k.err {
			return true
		}
	}
	return false
}
