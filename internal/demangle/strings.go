package demangle

import (
	"fmt"
	"strings"
)

// maxLiteral is how many bytes of a string literal its name can hold.
const maxLiteral = 128

// stringLiteral reads the name of a string literal: whether its characters are
// wide, its size in bytes, a checksum, and its first bytes.
func (r *reader) stringLiteral() string {
	kind := r.next()
	size, negative := r.number()
	if kind != '0' && kind != '1' || negative || size == 0 {
		return r.fail()
	}
	r.until("@") // the checksum
	var b []byte
	for !r.failed && !r.eat("@") {
		b = append(b, r.literalByte())
		if len(b) > maxLiteral {
			return r.fail()
		}
	}
	if r.failed {
		return ""
	}
	if kind == '1' {
		return r.wideLiteral(b, size)
	}
	return r.narrowLiteral(b, size)
}

// literalByte reads one byte of a string literal.
func (r *reader) literalByte() byte {
	if !r.eat("?") {
		return r.next()
	}
	c := r.next()
	switch {
	case c == '$':
		high, low := r.next()-'A', r.next()-'A'
		if high > 15 || low > 15 {
			r.fail()
		}
		return high<<4 | low
	case isDigit(c):
		return ",/\\:. \n\t'-"[c-'0']
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return c | 0x80
	}
	r.fail()
	return 0
}

// wideLiteral shows a literal of wchar_t; its name has the high byte first.
func (r *reader) wideLiteral(b []byte, size uint64) string {
	if len(b)%2 != 0 || size%2 != 0 {
		return r.fail()
	}
	chars := make([]uint32, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		chars = append(chars, uint32(b[i])<<8|uint32(b[i+1]))
	}
	return r.quote("L", chars, size > uint64(len(b)))
}

// narrowLiteral shows a literal of char, char16_t or char32_t. The name does
// not tell them apart, but zero bytes do: those at the end where the literal is
// whole, the number of them where it is not.
func (r *reader) narrowLiteral(b []byte, size uint64) string {
	width, prefix := charWidth(b, size), ""
	switch width {
	case 2:
		prefix = "u"
	case 4:
		prefix = "U"
	}
	var chars []uint32
	for i := 0; i+width <= len(b); i += width {
		var c uint32
		for j := width - 1; j >= 0; j-- {
			c = c<<8 | uint32(b[i+j])
		}
		chars = append(chars, c)
	}
	return r.quote(prefix, chars, size > uint64(len(b)))
}

func charWidth(b []byte, size uint64) int {
	if size%2 != 0 {
		return 1
	}
	zeros, needed := 0, [...]int{4: 4, 2: 2}
	if size < 32 {
		for zeros < len(b) && b[len(b)-1-zeros] == 0 {
			zeros++
		}
	} else {
		for _, c := range b {
			if c == 0 {
				zeros++
			}
		}
		needed = [...]int{4: 2 * len(b) / 3, 2: len(b) / 3}
	}
	switch {
	case size%4 == 0 && zeros >= needed[4]:
		return 4
	case zeros >= needed[2]:
		return 2
	}
	return 1
}

// quote shows characters as a literal. The terminating zero of a whole literal
// is left out.
func (r *reader) quote(prefix string, chars []uint32, cut bool) string {
	var b strings.Builder
	b.WriteString(prefix + `"`)
	if !cut && len(chars) > 0 {
		chars = chars[:len(chars)-1]
	}
	for _, c := range chars {
		b.WriteString(escape(c))
	}
	b.WriteByte('"')
	if cut {
		b.WriteString("...")
	}
	return r.join(b.String())
}

var escapes = map[uint32]string{
	0: `\0`, '\'': `\'`, '"': `\"`, '\\': `\\`, '\a': `\a`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\v': `\v`,
}

func escape(c uint32) string {
	if s, ok := escapes[c]; ok {
		return s
	}
	if c >= 0x20 && c < 0x7f {
		return string(rune(c))
	}
	// Whole bytes in hexadecimal.
	s := fmt.Sprintf("%X", c)
	if len(s)%2 != 0 {
		s = "0" + s
	}
	return `\x` + s
}
