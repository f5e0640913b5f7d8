package demangle

import "strings"

// microsoft reads a name of Microsoft's scheme. A suffix that starts with a
// dot or dollar sign is what compilers append to the names of parts and copies
// of a function.
func microsoft(decorated string) (string, bool) {
	r := &reader{in: decorated}
	var text string
	if r.eat(".") {
		text = r.declare(r.resultType(), "`RTTI Type Descriptor Name'")
	} else {
		text = r.symbol().text
	}
	switch c := r.peek(); {
	case c == '.' || c == '$':
		text = r.join(text, " [clone ", r.in, "]")
		r.in = ""
	case strings.HasPrefix(r.in, "::<!"): // the module that owns the function
		text = r.join(text, r.in)
		r.in = ""
	}
	return text, !r.failed && r.in == ""
}
