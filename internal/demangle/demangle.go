// Package demangle turns decorated (mangled) symbol names into the
// declarations that they stand for, for people to read.
//
// It reads three schemes, which it tells apart by how a name starts:
//
//	?       Microsoft C++
//	_Z      Itanium C++ (GCC, Clang), and Rust before 2021
//	_R      Rust, the scheme of RFC 2603
//
// Microsoft's scheme is not published. What is known of it is in the public
// documentation of compilers and debuggers that follow it; the text form here
// is that of llvm-undname. The other schemes are read by
// github.com/ianlancetaylor/demangle.
//
// Names come from files and are not trusted: length, nesting and the size of
// what is built are bounded, and no name panics.
package demangle

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// maxName is the longest name that is looked at. Microsoft's compilers hash
	// names beyond 4,096 characters. Others write them out, but what is longer
	// is of no use to a reader either, and the time that some of them take
	// grows with the square of their length.
	maxName = 8 << 10
	// maxTextBits bounds what a name of the Itanium and Rust schemes becomes:
	// back-references can make it grow exponentially.
	maxTextBits = 18
)

// Name returns the declaration that a decorated name stands for: with
// parameters, return type and template arguments where the name has them. If
// decorated is in none of the schemes or does not follow its scheme, the
// result is decorated itself and false.
//
// The prefix "__imp_" of a pointer in the import table is shown as
// "__declspec(dllimport)".
func Name(decorated string) (readable string, ok bool) {
	if len(decorated) > maxName {
		return decorated, false
	}
	name, imported := strings.CutPrefix(decorated, "__imp_")
	switch {
	case strings.HasPrefix(name, "?"), strings.HasPrefix(name, ".?A"):
		readable, ok = microsoft(name)
	case strings.HasPrefix(name, "_Z"), strings.HasPrefix(name, "_R"):
		var err error
		readable, err = demangle.ToString(name, demangle.MaxLength(maxTextBits))
		ok = err == nil && len(readable) < 1<<maxTextBits
	}
	if !ok {
		return decorated, false
	}
	if imported {
		readable = "__declspec(dllimport) " + readable
	}
	return readable, true
}
