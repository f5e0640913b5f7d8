package demangle

import "fmt"

// symbol is what a decorated name stands for.
type symbol struct {
	text     string
	variable bool
}

// symbol reads a decorated name, from its question mark on.
func (r *reader) symbol() symbol {
	if !r.down() {
		return symbol{}
	}
	defer r.up()
	if r.eat("??@") {
		return symbol{text: r.hashed()}
	}
	if text, ok := r.special(); ok {
		return symbol{text: text}
	}
	if !r.eat("?") {
		return symbol{text: r.fail()}
	}
	return r.declaration(r.symbolName())
}

// hashed reads a name that was too long and of which only the MD5 is left. It
// is shown as it is.
func (r *reader) hashed() string {
	hash := r.until("@")
	locator := ""
	if r.eat("??_R4@") {
		locator = "??_R4@"
	}
	return r.join("??@", hash, "@", locator)
}

// declaration reads what follows a name: the type of a variable, or access and
// type of a function.
func (r *reader) declaration(name qualified) symbol {
	if c := r.peek(); c >= '0' && c <= '4' {
		return symbol{r.variable(name), true}
	}
	return symbol{text: r.functionNamed(name)}
}

var variableClasses = [...]string{"private: static ", "protected: static ", "public: static ", "", ""}

// variable reads class and type of a variable. Qualifiers follow the type;
// where it is a pointer, they are those of what it points to, and a pointer to
// member repeats its class.
func (r *reader) variable(name qualified) string {
	class := variableClasses[r.next()-'0']
	t := r.bareType()
	if t.kind != pointerType {
		q, _ := r.qualifiers()
		t = qualify(t, q)
	} else {
		c := *t
		c.quals |= r.extension()
		q, member := r.qualifiers()
		if member {
			r.typeName()
		}
		c.to = qualify(c.to, q)
		t = &c
	}
	return r.join(class, r.declare(t, r.printName(name, nil)))
}

// method is what the code of a function says besides its type.
type method struct {
	access  string
	static  bool
	virtual bool
	adjust  bool // a thunk that adjusts "this"
	free    bool // not a member
}

var accesses = [...]string{"private: ", "protected: ", "public: "}

// methodOf decodes a letter: eight for each access, the last two for functions
// that are no members. Every second letter means the same in far memory.
func methodOf(code byte) (m method, ok bool) {
	if code < 'A' || code > 'Z' {
		return m, false
	}
	i := int(code - 'A')
	if i >= 24 {
		return method{free: true}, true
	}
	m.access = accesses[i/8]
	switch i % 8 / 2 {
	case 1:
		m.static = true
	case 2:
		m.virtual = true
	case 3:
		m.adjust = true
		// As llvm-undname has it: all but private ones are virtual.
		m.virtual = i/8 > 0
	}
	return m, true
}

// functionNamed reads access and type of a function.
func (r *reader) functionNamed(name qualified) string {
	external := ""
	if r.eat("$$J0") {
		external = `extern "C" `
	}
	if r.eat("9") { // extern "C" without a type
		return r.join(`extern "C" `, r.printName(name, nil))
	}
	m, adjustor := r.method()
	t := r.function(!m.free && !m.static)
	left, right := r.sides(t)
	text := r.join(left, " ", r.printName(name, t.to), adjustor, right)
	prefix := m.access
	if adjustor != "" {
		prefix = "[thunk]: " + prefix
	}
	if m.static {
		prefix += "static "
	}
	if m.virtual {
		prefix += "virtual "
	}
	return r.join(prefix, external, text)
}

// method reads the code of a function, and what a thunk adjusts "this" by as
// text.
func (r *reader) method() (m method, adjustor string) {
	if r.eat("$") {
		return r.displaced()
	}
	m, ok := methodOf(r.next())
	if !ok {
		r.fail()
	}
	if m.adjust {
		adjustor = fmt.Sprintf("`adjustor{%d}'", r.word())
	}
	return m, adjustor
}

// displaced reads the code of a thunk that adjusts "this" by a displacement
// found in the object. The last number is added to "this", the others say
// where the displacement is.
func (r *reader) displaced() (m method, adjustor string) {
	kind, places := "`vtordisp", 1
	if r.eat("R") {
		kind, places = "`vtordispex", 3
	}
	c := r.next()
	if c < '0' || c > '5' {
		r.fail()
		return m, ""
	}
	m = method{access: accesses[(c-'0')/2], virtual: true}
	adjustor = kind + "{"
	for ; places > 0; places-- {
		adjustor += fmt.Sprintf("%d, ", int32(r.word()))
	}
	return m, adjustor + fmt.Sprintf("%d}'", r.word())
}
