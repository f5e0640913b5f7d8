package demangle

import "strings"

// special reads names of data and functions that the compiler makes; false if
// none comes next.
func (r *reader) special() (text string, ok bool) {
	switch {
	case r.eat("??_7"):
		return r.table("`vftable'"), true
	case r.eat("??_8"):
		return r.table("`vbtable'"), true
	case r.eat("??_S"):
		return r.table("`local vftable'"), true
	case r.eat("??_R4"):
		return r.table("`RTTI Complete Object Locator'"), true
	case r.eat("??_9"):
		return r.virtualCall(), true
	case r.eat("??_B"):
		return r.guard("`local static guard'"), true
	case r.eat("??__J"):
		return r.guard("`local static thread guard'"), true
	case r.eat("??_C@_"):
		return r.stringLiteral(), true
	case r.eat("??_R0"):
		t := r.resultType()
		if !r.eat("@8") {
			r.fail()
		}
		return r.declare(t, "`RTTI Type Descriptor'"), true
	case r.eat("??_R1"):
		list := []string{r.unsigned(), r.decimal(), r.unsigned(), r.unsigned()}
		return r.untyped(r.join("`RTTI Base Class Descriptor at (", strings.Join(list, ", "), ")'")), true
	case r.eat("??_R2"):
		return r.untyped("`RTTI Base Class Array'"), true
	case r.eat("??_R3"):
		return r.untyped("`RTTI Class Hierarchy Descriptor'"), true
	case r.eat("??__E"):
		return r.initializer("`dynamic initializer for "), true
	case r.eat("??__F"):
		return r.initializer("`dynamic atexit destructor for "), true
	}
	return "", false
}

// table reads the class of a table, and the bases that it is for.
func (r *reader) table(name string) string {
	text := r.inScopes(r.scopes(), name)
	if !r.eat("6") && !r.eat("7") {
		return r.fail()
	}
	q, _ := r.qualifiers()
	if words := q.words(); words != "" {
		text = r.join(words[1:], " ", text)
	}
	var bases []string
	for !r.failed && !r.eat("@") {
		bases = append(bases, r.typeName())
	}
	if bases != nil {
		text = r.join(text, "{for `", strings.Join(bases, "'s `"), "'}")
	}
	return text
}

// untyped reads the class that a piece of type information is of.
func (r *reader) untyped(name string) string {
	text := r.inScopes(r.scopes(), name)
	if !r.eat("8") {
		r.fail()
	}
	return text
}

// virtualCall reads a thunk that calls the function at an offset in the table
// of virtual functions.
func (r *reader) virtualCall() string {
	scopes := r.scopes()
	if !r.eat("$B") {
		return r.fail()
	}
	offset := r.unsigned()
	if !r.eat("A") { // the memory model
		return r.fail()
	}
	return r.join("[thunk]: ", r.convention(), " ", r.inScopes(scopes, "`vcall'{"), offset, ", {flat}}")
}

// guard reads the variable that says whether the static variables of a
// function are initialized.
func (r *reader) guard(name string) string {
	text := r.inScopes(r.scopes(), name)
	switch {
	case r.eat("4IA"):
	case r.eat("5"):
		if r.in == "" {
			break
		}
		if index := r.unsigned(); index != "0" {
			text = r.join(text, "{", index, "}")
		}
	default:
		r.fail()
	}
	return text
}

// initializer reads a function that initializes a variable or destroys it at
// exit. Of a static member the whole symbol is part of the name, of other
// variables the name alone.
func (r *reader) initializer(what string) string {
	if !r.eat("?") {
		name := r.symbolName()
		text := r.join(what, "'", r.printName(name, nil), "''")
		return r.functionNamed(qualified{leaf: leafName{text: text}})
	}
	s := r.declaration(r.symbolName())
	if !s.variable || !r.eat("@@") {
		return r.fail()
	}
	text := r.join(what, "`", s.text, "''")
	return r.functionNamed(qualified{leaf: leafName{text: text}})
}
