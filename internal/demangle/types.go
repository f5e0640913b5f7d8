package demangle

import "strings"

// declared is a type as C++ declares it: around a name, which may be empty.
type declared struct {
	kind  typeKind
	text  string // of a plain type: its name
	quals qualifiers
	// to is what a pointer points to, the element of an array, or the result
	// of a function, nil if it has none.
	to *declared
	// sigil of a pointer is "*", "&" or "&&"; class is that of a pointer to a
	// member.
	sigil, class string
	// convention of a function.
	convention string
	// tail is what follows the name: the bounds of an array, or the parameters
	// of a function with what qualifies them.
	tail string
}

type typeKind uint8

const (
	plainType typeKind = iota
	pointerType
	arrayType
	functionType
)

type qualifiers uint8

const (
	isConst qualifiers = 1 << iota
	isVolatile
	isRestrict
	isUnaligned
)

// words lists the qualifiers that follow what they qualify, with a space in
// front of each. "__unaligned" belongs to what a pointer points to.
func (q qualifiers) words() string {
	var b strings.Builder
	for i, w := range [...]string{" const", " volatile", " __restrict"} {
		if q&(1<<i) != 0 {
			b.WriteString(w)
		}
	}
	return b.String()
}

// print returns the type on its own.
func (r *reader) print(t *declared) string {
	left, right := r.sides(t)
	return r.join(left, right)
}

// declare returns a declaration of name with the type.
func (r *reader) declare(t *declared, name string) string {
	left, right := r.sides(t)
	return r.join(left, space(left), name, right)
}

// space is what separates a name or sigil from what stands before it.
func space(before string) string {
	if before == "" {
		return ""
	}
	c := before[len(before)-1]
	if isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '>' {
		return " "
	}
	return ""
}

// sides returns what stands before and after a name of the type.
func (r *reader) sides(t *declared) (left, right string) {
	if t == nil || !r.down() {
		return "", ""
	}
	defer r.up()
	switch t.kind {
	case pointerType:
		return r.pointerSides(t)
	case arrayType:
		left, right = r.sides(t.element())
		return left, r.join(t.tail, right)
	case functionType:
		left, right = r.sides(t.to)
		if t.to != nil {
			left = r.join(left, " ", t.convention)
		} else {
			left = t.convention
		}
		return left, r.join(t.tail, right)
	}
	return r.join(t.text, t.quals.words()), ""
}

// element is the element of an array. What qualifies an array qualifies its
// elements.
func (t *declared) element() *declared {
	e := *t.to
	e.quals |= t.quals
	return &e
}

func (r *reader) pointerSides(t *declared) (left, right string) {
	to, convention := t.to, ""
	if to.kind == functionType {
		// The calling convention stands inside of the parentheses.
		bare := *to
		bare.convention = ""
		to, convention = &bare, to.convention+" "
	}
	left, right = r.sides(to)
	left = r.join(left, space(left))
	if t.quals&isUnaligned != 0 {
		left = r.join(left, "__unaligned ")
	}
	if to.kind == functionType || to.kind == arrayType {
		left, right = r.join(left, "(", convention), r.join(")", right)
	}
	if t.class != "" {
		left = r.join(left, t.class, "::")
	}
	return r.join(left, t.sigil, strings.TrimPrefix(t.quals.words(), " ")), right
}

// simpleTypes maps the codes of types without parts.
var simpleTypes = map[string]string{
	"X": "void", "C": "signed char", "D": "char", "E": "unsigned char", "F": "short", "G": "unsigned short",
	"H": "int", "I": "unsigned int", "J": "long", "K": "unsigned long", "M": "float", "N": "double", "O": "long double",
	"_D": "__int8", "_E": "unsigned __int8", "_F": "__int16", "_G": "unsigned __int16", "_H": "__int32", "_I": "unsigned __int32",
	"_J": "__int64", "_K": "unsigned __int64", "_L": "__int128", "_M": "unsigned __int128", "_N": "bool",
	"_P": "auto", "_Q": "char8_t", "_S": "char16_t", "_T": "decltype(auto)", "_U": "char32_t", "_W": "wchar_t",
}

// bareType reads a type that no qualifiers precede.
func (r *reader) bareType() *declared {
	t := &declared{}
	if !r.down() {
		return t
	}
	defer r.up()
	switch {
	case r.eat("$$T"):
		t.text = "std::nullptr_t"
	case r.eat("$$A6"):
		return r.function(false)
	case r.eat("$$A8@@"):
		return r.function(true)
	case r.eat("$$Q"):
		return r.pointer("&&", 0)
	case r.eat("$$R"):
		return r.pointer("&&", isVolatile)
	case r.eat("?"):
		// A type by its name alone, such as "?<auto>@@".
		t.text = r.typePiece()
		if !r.eat("@") {
			r.fail()
		}
	default:
		return r.typeOfLetter()
	}
	return t
}

func (r *reader) typeOfLetter() *declared {
	t := &declared{}
	switch c := r.next(); c {
	case 'A':
		return r.pointer("&", 0)
	case 'B':
		return r.pointer("&", isVolatile)
	case 'P':
		return r.pointer("*", 0)
	case 'Q':
		return r.pointer("*", isConst)
	case 'R':
		return r.pointer("*", isVolatile)
	case 'S':
		return r.pointer("*", isConst|isVolatile)
	case 'T':
		t.text = r.join("union ", r.typeName())
	case 'U':
		t.text = r.join("struct ", r.typeName())
	case 'V':
		t.text = r.join("class ", r.typeName())
	case 'W':
		// The digit is the underlying type; compilers write 4 whatever it is.
		if c := r.next(); c < '0' || c > '7' {
			r.fail()
		}
		t.text = r.join("enum ", r.typeName())
	case 'Y':
		return r.array()
	default:
		code := string(rune(c))
		if c == '_' {
			code += string(rune(r.next()))
		}
		if t.text = simpleTypes[code]; t.text == "" {
			r.fail()
		}
	}
	return t
}

// qualifiedType reads qualifiers and the type that has them.
func (r *reader) qualifiedType() *declared {
	q, member := r.qualifiers()
	if member {
		r.fail()
	}
	return qualify(r.bareType(), q)
}

// resultType reads the type of a result, where a question mark announces
// qualifiers.
func (r *reader) resultType() *declared {
	if r.eat("?") {
		return r.qualifiedType()
	}
	return r.bareType()
}

// qualify returns the type with further qualifiers. Types are shared by
// back-references, so t stays as it is.
func qualify(t *declared, q qualifiers) *declared {
	if q == 0 || t.kind == functionType {
		return t
	}
	c := *t
	c.quals |= q
	return &c
}

// qualifiers reads one letter: A to D of something, Q to T of a member.
func (r *reader) qualifiers() (q qualifiers, member bool) {
	c := r.next()
	switch {
	case c >= 'A' && c <= 'D':
		return qualifiers(c - 'A'), false // bits isConst and isVolatile
	case c >= 'Q' && c <= 'T':
		return qualifiers(c - 'Q'), true
	}
	r.fail()
	return 0, false
}

// extension reads what can stand between a pointer and its qualifiers. E says
// that the pointer has 64 bits, which is not shown.
func (r *reader) extension() (q qualifiers) {
	r.eat("E")
	if r.eat("I") {
		q |= isRestrict
	}
	if r.eat("F") {
		q |= isUnaligned
	}
	return q
}

// pointer reads what a pointer or reference leads to.
func (r *reader) pointer(sigil string, q qualifiers) *declared {
	t := &declared{kind: pointerType, sigil: sigil, quals: q | r.extension()}
	switch {
	case r.eat("6"):
		t.to = r.function(false)
	case r.eat("8"):
		t.class = r.typeName()
		t.to = r.function(true)
	default:
		to, member := r.qualifiers()
		if member {
			t.class = r.typeName()
		}
		t.to = qualify(r.bareType(), to)
	}
	return t
}

// array reads the number of bounds, the bounds, and the element.
func (r *reader) array() *declared {
	t := &declared{kind: arrayType}
	rank, negative := r.number()
	if negative || rank == 0 {
		r.fail()
	}
	for ; rank > 0 && !r.failed; rank-- {
		bound := r.unsigned()
		if bound == "0" {
			bound = ""
		}
		t.tail = r.join(t.tail, "[", bound, "]")
	}
	if r.eat("$$C") {
		t.quals, _ = r.qualifiers()
	}
	t.to = r.bareType()
	return t
}

// function reads a function type: what qualifies "this" if it has one,
// calling convention, result, parameters, exceptions.
func (r *reader) function(hasThis bool) *declared {
	t := &declared{kind: functionType}
	var this qualifiers
	var reference string
	if hasThis {
		this = r.extension()
		switch {
		case r.eat("G"):
			reference = " &"
		case r.eat("H"):
			reference = " &&"
		}
		q, _ := r.qualifiers()
		this |= q
	}
	t.convention = r.convention()
	if !r.eat("@") { // constructors and destructors have no result
		t.to = r.resultType()
	}
	t.tail = r.join("(", r.parameters(), ")", this.words())
	if this&isUnaligned != 0 {
		t.tail = r.join(t.tail, " __unaligned")
	}
	if r.eat("_E") {
		t.tail = r.join(t.tail, " noexcept")
	} else if !r.eat("Z") {
		r.fail()
	}
	t.tail = r.join(t.tail, reference)
	return t
}

// conventions by letter. Every second letter up to P means the same in an
// exporting function of 16-bit code.
var conventions = map[byte]string{
	'A': "__cdecl", 'B': "__cdecl", 'C': "__pascal", 'D': "__pascal", 'E': "__thiscall", 'F': "__thiscall",
	'G': "__stdcall", 'H': "__stdcall", 'I': "__fastcall", 'J': "__fastcall", 'M': "__clrcall", 'N': "__clrcall",
	'O': "__eabi", 'P': "__eabi", 'Q': "__vectorcall", 'S': "__attribute__((__swiftcall__))",
	'W': "__attribute__((__swiftasynccall__))", 'w': "__regcall",
}

func (r *reader) convention() string {
	c := conventions[r.next()]
	if c == "" {
		return r.fail()
	}
	return c
}

// parameters reads the types of parameters up to their end.
func (r *reader) parameters() string {
	if r.eat("X") {
		return "void"
	}
	var list []string
	for !r.failed {
		switch {
		case r.eat("@"):
			return r.join(strings.Join(list, ", "))
		case r.peek() == 'Z':
			// What follows is the Z of the exceptions, or their noexcept.
			r.next()
			return r.join(strings.Join(append(list, "..."), ", "))
		}
		list = append(list, r.print(r.parameter()))
	}
	return ""
}

// parameter reads a type or a back-reference to one.
func (r *reader) parameter() *declared {
	if c := r.peek(); isDigit(c) {
		r.next()
		if int(c-'0') >= len(r.types) {
			r.fail()
			return nil
		}
		return r.types[c-'0']
	}
	before := len(r.in)
	t := r.bareType()
	if before-len(r.in) > 1 && len(r.types) < 10 {
		r.types = append(r.types, t)
	}
	return t
}
