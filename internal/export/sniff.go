package export

import (
	"bytes"
	"io"
	"regexp"
)

// beginnings are how files of the formats begin.
var beginnings = map[Format]*regexp.Regexp{
	LLVM:       regexp.MustCompile(`^[^ \n][^\n]*:[0-9]+:[0-9]+\r?\n`),
	LLVMBinary: regexp.MustCompile(`^\x84`), // the lowest bits of the magic number
	Pprof:      regexp.MustCompile(`^\x1f\x8b`),
	GCOV:       regexp.MustCompile(`^adcg`),
	BOLT:       regexp.MustCompile(`^(no_lbr|boltedcollection|[0-5] )`),
}

// Is says whether a file begins as one of the format does. An empty file is
// one of any.
func Is(format Format, r io.ReaderAt) bool {
	head := make([]byte, 1<<14)
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	return len(bytes.TrimSpace(head)) == 0 || beginnings[format].Match(head)
}
