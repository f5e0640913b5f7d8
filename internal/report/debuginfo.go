package report

import (
	"errors"
	"fmt"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/diag"
)

// SplitWarnings says which files with split debug information of an image are
// missing, damaged or of another build, once its units were used.
func SplitWarnings(s debuginfo.Stats, image string) (list []*diag.Error) {
	for _, err := range s.BadPackages {
		list = append(list, debugWarning(diag.SplitMissing, "the package of split debug information cannot be used", err))
	}
	if len(s.Unusable) > 0 {
		e := debugWarning(diag.SplitMissing, fmt.Sprintf("%d of %d files with split debug information cannot be used, such as this", len(s.Unusable), s.Split), s.Unusable[0])
		e.Count = uint64(len(s.Unusable))
		list = append(list, e)
	}
	// What a package was to have is not missing, the package is.
	if len(s.Missing) > 0 && len(s.BadPackages) == 0 {
		list = append(list, diag.New(diag.SplitMissing, "%d of %d files with split debug information are missing, such as %s", len(s.Missing), s.Split, s.Missing[0]).In(image))
	}
	return list
}

// UnusedDebugFile says why a debug file that nobody named is not used.
func UnusedDebugFile(err error) *diag.Error {
	return debugWarning(diag.UnusedDebug, "the debug file is not used", err)
}

// debugWarning is a warning of the code about a file of debug information, with
// its defect.
func debugWarning(code diag.Code, what string, err error) *diag.Error {
	e := *diag.Of(err)
	var mismatch *debuginfo.MismatchError
	if errors.As(err, &mismatch) {
		e.File, e.Message, e.Want, e.Got = mismatch.Path, "it is of another build: "+mismatch.What, mismatch.Want, mismatch.Got
		e.Cause = "It was made by another compilation than the image, or belongs to another program."
	}
	e.Code, e.Message, e.Next = code, what+": "+e.Message, diag.Codes[code].Next
	return &e
}
