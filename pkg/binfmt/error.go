package binfmt

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Kinds of defect. Codecs wrap one of them in an [Error]; callers test with
// errors.Is.
var (
	// ErrTruncated means that the bytes ended inside a structure.
	ErrTruncated = fmt.Errorf("truncated: %w", io.ErrUnexpectedEOF)
	// ErrMagic means that the input is not of this format at all.
	ErrMagic = errors.New("wrong signature")
	// ErrVersion means a version of the format that this module does not know.
	ErrVersion = errors.New("unsupported version")
	// ErrCorrupt means that a field contradicts another or its format.
	ErrCorrupt = errors.New("corrupt")
	// ErrLimit means that a value is beyond a limit of the format or of the
	// caller's options.
	ErrLimit = errors.New("limit exceeded")
	// ErrUnsupported means a well-formed input of a variant that is not handled.
	ErrUnsupported = errors.New("unsupported")
)

// Error tells where an input is wrong and how. Every field may be zero.
type Error struct {
	File   string // name as the user gave it; filled in where it is known
	Part   string // structure or field, such as "section table" or "record 17: size"
	Offset int64  // absolute offset of the field in File, in bytes; -1 if there is none
	Want   string // what was expected
	Got    string // what was there
	Err    error  // kind of the defect, one of the Err... values, or a cause
}

// Error prints "FILE: PART: offset 0x1a40: want W, got G: KIND", leaving out
// what is not known.
func (e *Error) Error() string {
	var parts []string
	if e.File != "" {
		parts = append(parts, e.File)
	}
	if e.Part != "" {
		parts = append(parts, e.Part)
	}
	if e.Offset >= 0 {
		parts = append(parts, fmt.Sprintf("offset %#x", e.Offset))
	}
	switch {
	case e.Want != "" && e.Got != "":
		parts = append(parts, fmt.Sprintf("want %s, got %s", e.Want, e.Got))
	case e.Want != "":
		parts = append(parts, "want "+e.Want)
	case e.Got != "":
		parts = append(parts, "got "+e.Got)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the kind or cause.
func (e *Error) Unwrap() error { return e.Err }

// InFile fills in the file name of the first [Error] in err's chain that has
// none, and returns err. Other errors are returned with the name in front.
func InFile(err error, file string) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		if e.File == "" {
			e.File = file
		}
		return err
	}
	return &Error{File: file, Offset: -1, Err: err}
}
