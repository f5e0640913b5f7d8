package demangle

import "strings"

// template reads what follows "?$": a name and its arguments. Both have a
// memory of their own.
func (r *reader) template() leafName {
	if !r.down() {
		return leafName{}
	}
	defer r.up()
	outer := r.memory
	r.memory = memory{}
	name := r.leaf()
	arguments := r.join("<", r.templateArguments(), ">")
	r.memory = outer
	if name.kind == ordinaryName {
		name.text = r.join(name.text, arguments)
	} else {
		name.arguments = arguments
	}
	return name
}

// typeTemplate reads the template of a class or scope. Unlike that of a
// symbol it can be referred to.
func (r *reader) typeTemplate() string {
	name := r.template()
	if name.kind != ordinaryName {
		return r.fail()
	}
	r.rememberName(name.text)
	return name.text
}

// templateArguments reads arguments up to the "@" that ends them.
func (r *reader) templateArguments() string {
	var list []string
	for !r.failed && !r.eat("@") {
		if r.eat("$S") || r.eat("$$V") || r.eat("$$$V") || r.eat("$$Z") {
			continue // an empty pack, or the end of one
		}
		list = append(list, r.templateArgument())
	}
	return r.join(strings.Join(list, ", "))
}

func (r *reader) templateArgument() string {
	if !r.down() {
		return ""
	}
	defer r.up()
	switch {
	case r.eat("$M"):
		r.argumentType() // of a parameter that is declared as auto
		return r.constant()
	case r.eat("$$Y"):
		return r.typeName() // a template
	case r.peek() == '$' && !strings.HasPrefix(r.in, "$$"):
		r.next()
		return r.constant()
	}
	return r.print(r.argumentType())
}

// argumentType reads a type as template arguments have it: arrays and
// qualifiers are announced.
func (r *reader) argumentType() *declared {
	switch {
	case r.eat("$$B"):
		return r.bareType()
	case r.eat("$$C"):
		return r.qualifiedType()
	}
	return r.bareType()
}
