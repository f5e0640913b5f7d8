// Command gen writes the decoders of a made-up protocol, one C function for
// each kind of message, as generators do from a schema.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// A field is a value of a message.
type field struct {
	name    string
	kind    string // number, price, fixed or text
	most    uint64 // the greatest value allowed, or length of a text
	present int    // in per cent of the messages
}

// A message is a kind of messages.
type message struct {
	name   string
	fields []field
}

var (
	subjects = strings.Fields("account basket broker deposit margin order quote session trade")
	verbs    = strings.Fields("accept amend cancel confirm expire list reject update")
	nouns    = strings.Fields("amount batch bid ask limit owner price quantity rate reference route side strike time total unit venue")
)

// schema makes up the messages, the same ones at every time.
func schema() []message {
	var list []message
	state := uint64(1)
	draw := func(below uint64) uint64 {
		state = state*6364136223846793005 + 1442695040888963407
		return state >> 33 % below
	}
	for _, subject := range subjects {
		for _, verb := range verbs {
			m := message{name: subject + "_" + verb}
			first := draw(uint64(len(nouns)))
			for k := range 5 + draw(4) {
				f := field{name: nouns[(first+k*3)%uint64(len(nouns))], present: 100}
				switch draw(8) {
				case 0:
					f.kind, f.most = "text", 8+draw(24)
				case 1:
					f.kind, f.most = "fixed", 1<<(16+draw(14))
				case 2, 3:
					f.kind, f.most = "price", 1000+draw(1<<20)
				default:
					f.kind, f.most = "number", 100+draw(1<<16)
				}
				if draw(8) == 0 {
					f.present = 0
				}
				m.fields = append(m.fields, f)
			}
			list = append(list, m)
		}
	}
	return list
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	line := func(depth int, format string, args ...any) {
		fmt.Fprintf(out, strings.Repeat("    ", depth)+format+"\n", args...)
	}
	list := schema()
	line(0, "/* Made by gen. */")
	for number, m := range list {
		line(0, "\nstatic int decode_%s(struct input *in, struct sink *s) {", m.name)
		line(1, "const unsigned char *p = in->at;")
		line(1, "struct value x;")
		line(1, "unsigned present = *p++;")
		for k, f := range m.fields {
			line(1, "if (present & %d) {", 1<<k)
			line(2, "x = read_%s(s, p);", f.kind)
			line(2, "if (x.next > in->end)")
			line(3, "return cut(in, s, p, %d, %d);", number, k)
			line(2, "if (x.v > %d) {", f.most)
			line(3, "if (s->strict)")
			line(4, "return cut(in, s, p, %d, %d);", number, k)
			line(3, "x = too_great(in, s, x, %d, %d, \"%s\", %d);", number, k, f.name, f.most)
			line(2, "}")
			line(2, "p = x.next;")
			if f.kind == "text" {
				line(2, "if (in->end - p < (long)x.v)")
				line(3, "return cut(in, s, p, %d, %d);", number, k)
				line(2, "s->type->text(s, %d, p, x.v);", k)
				line(2, "p += x.v;")
			} else {
				line(2, "s->type->number(s, %d, x.v);", k)
			}
			line(1, "} else {")
			line(2, "s->type->missing(s, %d);", k)
			line(1, "}")
		}
		line(1, "in->at = p;")
		line(1, "s->type->end(s, %d);", number)
		line(1, "return 1;")
		line(0, "}")
	}
	line(0, "\nstatic const struct message messages[] = {")
	for _, m := range list {
		line(1, "{decode_%s, \"%s\", %d, {", m.name, m.name, len(m.fields))
		for _, f := range m.fields {
			line(2, "{%s, %d, %d},", strings.ToUpper(f.kind), f.most, f.present)
		}
		line(1, "}},")
	}
	line(0, "};")
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
