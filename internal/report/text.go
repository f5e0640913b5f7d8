package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textWriter writes lines and keeps the first error.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// Count prints a number with separators between groups of three digits.
func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted is a number of things, whose name stands in the singular.
func counted(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Count(n) + " " + thing
}

// printable is a name as it is, or with escapes as in Go if it has characters
// that could do something to a terminal, or is not UTF-8.
func printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// share is a part of a whole in percent.
func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// Percent prints a percentage with two decimals, rounded down: what is below a
// limit is printed below it, too.
func Percent(p float64) string {
	s := strconv.FormatFloat(p, 'f', 2, 64)
	if v, err := strconv.ParseFloat(s, 64); err == nil && v > p {
		s = strconv.FormatFloat(v-0.01, 'f', 2, 64)
	}
	return s
}
