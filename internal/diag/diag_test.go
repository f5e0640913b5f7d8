package diag

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func TestOfClassifiesByKind(t *testing.T) {
	_, missing := os.Open("no-such-file")
	for _, tc := range []struct {
		err  error
		code Code
		exit Exit
	}{
		{missing, CannotOpen, Failed},
		{&fs.PathError{Op: "read", Path: "x", Err: fmt.Errorf("I/O error")}, CannotRead, Failed},
		{&binfmt.Error{Err: binfmt.ErrMagic}, UnknownFormat, Failed},
		{&binfmt.Error{Err: binfmt.ErrVersion}, BadVersion, Failed},
		{fmt.Errorf("x: %w", &binfmt.Error{Err: binfmt.ErrTruncated}), Truncated, Damaged},
		{&binfmt.Error{Err: binfmt.ErrCorrupt}, Corrupt, Damaged},
		{fmt.Errorf("y: %w", context.Canceled), Interrupted, Failed},
		{fmt.Errorf("z: %w", New(LostTooMany, "5 %%")), LostTooMany, Gate},
	} {
		e := Of(tc.err)
		if e.Code != tc.code || e.Exit() != tc.exit {
			t.Errorf("Of(%v) = %s exit %d, want %s exit %d", tc.err, e.Code, e.Exit(), tc.code, tc.exit)
		}
	}
}

func TestOfKeepsThePlace(t *testing.T) {
	e := Of(&binfmt.Error{File: "a.data", Part: "record", Offset: 0x40, Want: "8", Got: "4", Err: binfmt.ErrTruncated})
	const want = "SPT0112: a.data: record: offset 0x40: the input ends too early (expected 8; found 4)"
	if e.Error() != want {
		t.Errorf("got  %s\nwant %s", e, want)
	}
}

func TestWorst(t *testing.T) {
	if Worst(OK, Damaged) != Damaged || Worst(Nothing, Damaged) != Nothing || Worst(Damaged, Failed) != Failed {
		t.Error("order of exit codes is wrong")
	}
}
