package demangle

import (
	"strconv"
	"strings"
)

const (
	// maxNesting bounds types in types and names in names.
	maxNesting = 512
	// maxText bounds the bytes of text that are built for one name, parts that
	// are built into larger parts included. Names that compilers write need a
	// few thousand; back-references can make a short name ask for any number.
	maxText = 4 << 20
)

// reader reads one name of Microsoft's scheme from left to right. The first
// defect sticks: from then on there is nothing left to read.
type reader struct {
	in      string // what is left
	failed  bool
	nesting int
	text    int // bytes built
	memory
}

// memory is what the back-references 0 to 9 refer to. A template with its
// arguments has a memory of its own.
type memory struct {
	names []string
	types []*declared // of parameters
}

// rememberName makes a name available to back-references.
func (r *reader) rememberName(s string) {
	if len(r.names) == 10 {
		return
	}
	for _, n := range r.names {
		if n == s {
			return
		}
	}
	r.names = append(r.names, s)
}

// fail records a defect. Its result stands for the text that cannot be read.
func (r *reader) fail() string {
	r.failed = true
	r.in = ""
	return ""
}

// down enters a nested part; it is false if there are too many.
func (r *reader) down() bool {
	if r.nesting == maxNesting {
		r.fail()
		return false
	}
	r.nesting++
	return true
}

func (r *reader) up() { r.nesting-- }

// join builds a text from parts.
func (r *reader) join(parts ...string) string {
	for _, p := range parts {
		r.text += len(p)
	}
	if r.text > maxText {
		return r.fail()
	}
	return strings.Join(parts, "")
}

// eat steps over s if it comes next.
func (r *reader) eat(s string) bool {
	rest, ok := strings.CutPrefix(r.in, s)
	r.in = rest
	return ok
}

// peek returns the next byte, 0 at the end.
func (r *reader) peek() byte {
	if r.in == "" {
		return 0
	}
	return r.in[0]
}

// next reads a byte; the end of the name is a defect.
func (r *reader) next() byte {
	if r.in == "" {
		r.fail()
		return 0
	}
	c := r.in[0]
	r.in = r.in[1:]
	return c
}

// until reads up to and including a terminator and returns what is before it,
// at least one byte.
func (r *reader) until(terminator string) string {
	s, rest, ok := strings.Cut(r.in, terminator)
	if !ok || s == "" {
		return r.fail()
	}
	r.in = rest
	return s
}

// number reads an integer: a digit d stands for d+1; others are written in
// hexadecimal with the digits A to P, none for 0, and closed by "@". A
// question mark in front makes it negative.
func (r *reader) number() (n uint64, negative bool) {
	negative = r.eat("?")
	if c := r.peek(); isDigit(c) {
		r.next()
		return uint64(c-'0') + 1, negative
	}
	for digits := 0; ; digits++ {
		c := r.next()
		switch {
		case c == '@':
			return n, negative
		case c < 'A' || c > 'P' || digits == 16:
			r.fail()
			return 0, false
		}
		n = n<<4 | uint64(c-'A')
	}
}

// decimal reads an integer and returns it in decimal.
func (r *reader) decimal() string {
	n, negative := r.number()
	text := strconv.FormatUint(n, 10)
	if negative && n != 0 {
		text = "-" + text
	}
	return text
}

// word reads an integer and returns its low 32 bits.
func (r *reader) word() uint32 {
	n, negative := r.number()
	if negative {
		n = -n
	}
	return uint32(n)
}

// unsigned reads an integer that cannot be negative.
func (r *reader) unsigned() string {
	if r.peek() == '?' {
		return r.fail()
	}
	return r.decimal()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
