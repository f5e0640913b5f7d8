package export

import (
	"bytes"
	"io"
	"regexp"
)

// magics are how binary formats begin.
var magics = map[Format]string{
	LLVMBinary: "\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53\x67",
	Pprof:      "\x1f\x8b", // gzip
	GCOV:       gcovMagic,
}

// firstLines are what the first lines of text formats look like.
var firstLines = map[Format]*regexp.Regexp{
	LLVM: regexp.MustCompile(`^[^ \n][^\n]*:[0-9]+:[0-9]+\r?\n`),
	BOLT: regexp.MustCompile(`^(no_lbr|boltedcollection|[0-5] )`),
}

// Is says whether a file begins as one of the format does. An empty file is
// one of any.
func Is(format Format, r io.ReaderAt) bool {
	head := make([]byte, 1<<14)
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	if len(head) == 0 {
		return true
	}
	if magic, binary := magics[format]; binary {
		return bytes.HasPrefix(head, []byte(magic))
	}
	return firstLines[format].Match(head)
}
