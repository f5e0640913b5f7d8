package report

import (
	"errors"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// SPDError presents a failure to read an SPD or the file that carries it. The
// texts of some codes speak of recordings, which an SPD is not. Of errors that
// were joined each is presented.
func SPDError(err error, file string) error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, SPDError(e, file))
		}
		return errors.Join(all...)
	}
	e := *diag.Of(binfmt.InFile(err, file))
	if info := diag.Codes[e.Code]; e.Next != info.Next {
		return &e // it has a text of its own
	}
	switch e.Code {
	case diag.Truncated:
		e.Because("The file was not written to its end, or was copied only in part.").
			Do("Compare its size with the original; copy it again, or build it again.")
	case diag.Corrupt:
		e.Because("Bytes were changed, or the program that wrote it is at fault.").
			Do("Compare its checksum with the original; copy it again, or build it again.")
	case diag.UnknownFormat:
		e.Because("It is no SPD, PDB, PE image, COFF object or library, or its beginning is damaged.")
	case diag.Unsupported:
		e.Do("Name the file that has the SPD itself.")
	}
	return &e
}
