package demangle

import "strings"

// qualified is the name of a symbol with the scopes that it is in.
type qualified struct {
	leaf leafName
	// scopes from the innermost on.
	scopes []string
}

// leafName is a name without scopes. Those of some members depend on what is
// read later.
type leafName struct {
	kind leafKind
	text string // the name
	// arguments are the template arguments of a constructor, destructor or
	// conversion with the angle brackets; for other names text has them.
	arguments string
}

type leafKind uint8

const (
	ordinaryName leafKind = iota
	constructorName
	destructorName
	conversionName
)

// printName returns the name with its scopes. Result is the result type of a
// conversion.
func (r *reader) printName(q qualified, result *declared) string {
	var leaf string
	switch q.leaf.kind {
	case ordinaryName:
		leaf = q.leaf.text
	case conversionName:
		if result == nil {
			return r.fail()
		}
		leaf = r.join("operator", q.leaf.arguments, " ", r.print(result))
	default:
		if len(q.scopes) == 0 {
			return r.fail()
		}
		tilde := ""
		if q.leaf.kind == destructorName {
			tilde = "~"
		}
		leaf = r.join(tilde, q.scopes[0], q.leaf.arguments)
	}
	return r.inScopes(q.scopes, leaf)
}

// inScopes puts scopes, the innermost first, in front of a name.
func (r *reader) inScopes(scopes []string, leaf string) string {
	parts := make([]string, 0, 2*len(scopes)+1)
	for i := len(scopes) - 1; i >= 0; i-- {
		parts = append(parts, scopes[i], "::")
	}
	return r.join(append(parts, leaf)...)
}

// symbolName reads the name of a function or variable.
func (r *reader) symbolName() qualified {
	leaf := r.leaf()
	return qualified{leaf, r.scopes()}
}

// typeName reads the name of a class or enumeration.
func (r *reader) typeName() string {
	leaf := r.typePiece()
	return r.inScopes(r.scopes(), leaf)
}

// scopes reads the scopes of a name, up to the "@" that ends them.
func (r *reader) scopes() (list []string) {
	for !r.failed && !r.eat("@") {
		list = append(list, r.scope())
	}
	return list
}

// leaf reads the name of a symbol without its scopes.
func (r *reader) leaf() leafName {
	switch {
	case isDigit(r.peek()):
		return leafName{text: r.backReference()}
	case r.eat("?$"):
		return r.template()
	case r.eat("?"):
		return r.operator()
	}
	return leafName{text: r.simple()}
}

// typePiece reads the name of a type without its scopes.
func (r *reader) typePiece() string {
	switch {
	case isDigit(r.peek()):
		return r.backReference()
	case r.eat("?$"):
		return r.typeTemplate()
	}
	return r.simple()
}

// scope reads one scope of a name.
func (r *reader) scope() string {
	if !r.down() {
		return ""
	}
	defer r.up()
	switch {
	case isDigit(r.peek()):
		return r.backReference()
	case r.eat("?$"):
		return r.typeTemplate()
	case isFunctionScope(r.in):
		return r.functionScope()
	case r.eat("?A"):
		// Each file has a namespace without name of its own; the hash that
		// tells them apart counts for back-references.
		hash, rest, ok := strings.Cut(r.in, "@")
		if !ok {
			return r.fail()
		}
		r.in = rest
		r.rememberName(anonymousPrefix + hash)
		return anonymous
	}
	return r.simple()
}

const (
	anonymous = "`anonymous namespace'"
	// anonymousPrefix marks names of namespaces without a name in memory. No
	// simple name holds an "@".
	anonymousPrefix = "?A@"
)

// isFunctionScope says whether a scope in a function comes next: "?", the
// number of the block, "?", and the name of the function.
func isFunctionScope(s string) bool {
	s, ok := strings.CutPrefix(s, "?")
	number, _, found := strings.Cut(s, "?")
	if !ok || !found || number == "" {
		return false
	}
	if len(number) == 1 {
		return isDigit(number[0]) || number == "@"
	}
	digits, ok := strings.CutSuffix(number, "@")
	return ok && digits[0] != 'A' && strings.Trim(digits, "ABCDEFGHIJKLMNOP") == ""
}

// functionScope reads a block of a function.
func (r *reader) functionScope() string {
	r.eat("?")
	number := r.unsigned()
	r.eat("?")
	return r.join("`", r.symbol().text, "'::`", number, "'")
}

// simple reads a name that is written out.
func (r *reader) simple() string {
	s := r.until("@")
	r.rememberName(s)
	return s
}

func (r *reader) backReference() string {
	i := int(r.next() - '0')
	if i >= len(r.names) {
		return r.fail()
	}
	if strings.HasPrefix(r.names[i], anonymousPrefix) {
		return anonymous
	}
	return r.names[i]
}

// operators by their code, which follows a question mark.
var operators = map[string]string{
	"2": "operator new", "3": "operator delete", "4": "operator=", "5": "operator>>", "6": "operator<<",
	"7": "operator!", "8": "operator==", "9": "operator!=", "A": "operator[]", "C": "operator->",
	"D": "operator*", "E": "operator++", "F": "operator--", "G": "operator-", "H": "operator+",
	"I": "operator&", "J": "operator->*", "K": "operator/", "L": "operator%", "M": "operator<",
	"N": "operator<=", "O": "operator>", "P": "operator>=", "Q": "operator,", "R": "operator()",
	"S": "operator~", "T": "operator^", "U": "operator|", "V": "operator&&", "W": "operator||",
	"X": "operator*=", "Y": "operator+=", "Z": "operator-=",

	"_0": "operator/=", "_1": "operator%=", "_2": "operator>>=", "_3": "operator<<=", "_4": "operator&=",
	"_5": "operator|=", "_6": "operator^=", "_D": "`vbase dtor'", "_E": "`vector deleting dtor'",
	"_F": "`default ctor closure'", "_G": "`scalar deleting dtor'", "_H": "`vector ctor iterator'",
	"_I": "`vector dtor iterator'", "_J": "`vector vbase ctor iterator'", "_K": "`virtual displacement map'",
	"_L": "`eh vector ctor iterator'", "_M": "`eh vector dtor iterator'", "_N": "`eh vector vbase ctor iterator'",
	"_O": "`copy ctor closure'", "_T": "`local vftable ctor closure'", "_U": "operator new[]", "_V": "operator delete[]",

	"__A": "`managed vector ctor iterator'", "__B": "`managed vector dtor iterator'",
	"__C": "`EH vector copy ctor iterator'", "__D": "`EH vector vbase copy ctor iterator'",
	"__G": "`vector copy ctor iterator'", "__H": "`vector vbase copy constructor iterator'",
	"__I": "`managed vector vbase copy constructor iterator'", "__L": "operator co_await", "__M": "operator<=>",
}

// operator reads the code of an operator or of a function that the compiler
// made.
func (r *reader) operator() leafName {
	code := string(rune(r.next()))
	for len(code) < 3 && code[len(code)-1] == '_' {
		code += string(rune(r.next()))
	}
	switch code {
	case "0":
		return leafName{kind: constructorName}
	case "1":
		return leafName{kind: destructorName}
	case "B":
		return leafName{kind: conversionName}
	case "__K":
		return leafName{text: r.join(`operator ""`, r.until("@"))}
	}
	name := operators[code]
	if name == "" {
		r.fail()
	}
	return leafName{text: name}
}
