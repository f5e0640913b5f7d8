package demangle

import (
	"math"
	"strconv"
	"strings"
)

// constant reads a template argument that is a value.
func (r *reader) constant() string {
	if !r.down() {
		return ""
	}
	defer r.up()
	switch r.next() {
	case '0':
		return r.decimal()
	case '1':
		return r.join("&", r.symbol().text)
	case 'E':
		return r.symbol().text
	case 'F':
		return r.offsets("", 2)
	case 'G':
		return r.offsets("", 3)
	case 'H':
		return r.memberFunction(1)
	case 'I':
		return r.memberFunction(2)
	case 'J':
		return r.memberFunction(3)
	case 'A':
		n, _ := r.number()
		return formatFloat(float64(math.Float32frombits(uint32(n))), 32)
	case 'B':
		n, _ := r.number()
		return formatFloat(math.Float64frombits(n), 64)
	case '2':
		return r.object()
	case '3':
		return r.elements()
	case '6':
		of := r.constant()
		return r.join(of, ".", r.lastPart())
	case '7':
		union := r.print(r.bareType())
		member := r.simple()
		value := r.constant()
		if !r.eat("@") {
			r.fail()
		}
		return r.join(union, "{.", member, " = ", value, "}")
	case '8':
		class := r.typeName()
		return r.join("&", class, "::", r.lastPart())
	case 'C':
		of := r.constant()
		index := r.constant()
		if !r.eat("@") {
			r.fail()
		}
		return r.join(of, "[", index, "]")
	case 'N': // a null pointer to a data member
		return "nullptr"
	}
	return r.fail()
}

func formatFloat(f float64, bits int) string { return strconv.FormatFloat(f, 'g', -1, bits) }

// lastPart reads the name of a member and the end of the value.
func (r *reader) lastPart() string {
	name := r.simple()
	if !r.eat("@") {
		r.fail()
	}
	return name
}

// object reads a value of class type: the class, the values of its bases, the
// types and values of its members.
func (r *reader) object() string {
	class := r.print(r.bareType())
	var list []string
	for !r.failed && !r.eat("@") {
		switch r.peek() {
		case '2', '3', '7': // have their type in them
		default:
			r.argumentType()
		}
		list = append(list, r.constant())
	}
	return r.join(class, "{", strings.Join(list, ", "), "}")
}

// elements reads a value of array type: the type of the elements, then each
// element, closed by "@".
func (r *reader) elements() string {
	r.argumentType()
	var list []string
	for !r.failed && !r.eat("@") {
		list = append(list, r.constant())
		if !r.eat("@") {
			r.fail()
		}
	}
	return r.join("{", strings.Join(list, ", "), "}")
}

// memberFunction reads a pointer to a member function, which can be null, and
// the n numbers that adjust "this".
func (r *reader) memberFunction(n int) string {
	if r.peek() != '?' {
		return r.offsets("", n)
	}
	return r.offsets(r.symbol().text, n)
}

// offsets reads n numbers of a pointer to a member and shows them behind
// symbol.
func (r *reader) offsets(symbol string, n int) string {
	var list []string
	if symbol != "" {
		list = append(list, symbol)
	}
	for ; n > 0; n-- {
		list = append(list, r.decimal())
	}
	return r.join("{", strings.Join(list, ", "), "}")
}
