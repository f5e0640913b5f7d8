package cli

import (
	"slices"
	"strconv"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/diag"
)

// option is what the argument reader must know of an option.
type option struct {
	name     string // canonical name
	value    bool   // takes a value
	fallback string // value when none is attached; only for options whose value is optional
	optional bool
}

// optionTable indexes options by every lower-case spelling.
func optionTable(flags []urfave.Flag, optional map[string]string) map[string]option {
	table := map[string]option{}
	for _, f := range flags {
		_, isBool := f.(*urfave.BoolFlag)
		o := option{name: f.Names()[0], value: !isBool}
		o.fallback, o.optional = optional[o.name]
		for _, n := range f.Names() {
			table[strings.ToLower(n)] = o
		}
	}
	return table
}

// normalize turns arguments of either spelling into GNU options followed by
// "--" and the operands, in their order.
//
// Microsoft's spelling is /word, /word:value, -word:value in any case; GNU's is
// --word=value. "/word" and "/word:value" are options only if word is known
// and has no further slash, so that paths may start with a slash. Options may
// follow operands; "--" ends them. A value that is not attached is the next
// argument; where a value may be left out, it is only if it is a number and not
// the last argument, which then is a file.
//
// Unsure are the operands that may be misspelt options, if there are no such
// files: those of Microsoft's form that are not behind "--".
func normalize(args []string, table map[string]option) (normal, unsure []string, err error) {
	var options, operands []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			operands = append(operands, args[i+1:]...)
			break
		}
		o, value, attached, known := lookup(arg, table)
		if !known {
			if strings.HasPrefix(arg, "-") && arg != "-" {
				return nil, nil, suggest(diag.New(diag.BadOption, "unknown option %s", arg), arg, table)
			}
			if looksLikeOption(arg) {
				unsure = append(unsure, arg)
			}
			operands = append(operands, arg)
			continue
		}
		switch {
		case !o.value && !attached:
			options = append(options, "--"+o.name)
		case attached && o.value && value == "":
			// Often an unset variable of a script: it must not switch a check off.
			return nil, nil, diag.New(diag.BadValue, "option %s has an empty value", arg)
		case attached && !o.value && !isSwitch(value):
			return nil, nil, diag.New(diag.BadValue, "option %s takes no value, but %q is attached", arg[:len(arg)-len(value)-1], value).
				Do("Write a space between the option and a file.")
		case attached:
			options = append(options, "--"+o.name+"="+value)
		case o.optional && i+1 < len(args) && isNumber(args[i+1]) && (i+2 < len(args) || len(operands) > 0):
			i++
			options = append(options, "--"+o.name+"="+args[i])
		case o.optional:
			options = append(options, "--"+o.name+"="+o.fallback)
		default:
			if i+1 == len(args) || isOption(args[i+1], table) {
				return nil, nil, diag.New(diag.BadValue, "option %s needs a value", arg)
			}
			i++
			options = append(options, "--"+o.name+"="+args[i])
		}
	}
	return append(append(options, "--"), operands...), unsure, nil
}

// isSwitch says whether a value switches on or off.
func isSwitch(value string) bool {
	return strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
}

func isNumber(arg string) bool {
	_, err := strconv.ParseUint(arg, 10, 64)
	return err == nil
}

func isOption(arg string, table map[string]option) bool {
	_, _, _, known := lookup(arg, table)
	return known || arg == "--"
}

// lookup splits an argument into option and attached value.
func lookup(arg string, table map[string]option) (o option, value string, attached, known bool) {
	var body string
	switch {
	case strings.HasPrefix(arg, "--"):
		body = arg[2:]
	case strings.HasPrefix(arg, "-"), strings.HasPrefix(arg, "/"):
		body = arg[1:]
	default:
		return option{}, "", false, false
	}
	word := body
	if n := strings.IndexAny(body, ":="); n >= 0 {
		word, value, attached = body[:n], body[n+1:], true
	}
	if o, known = table[strings.ToLower(word)]; known {
		return o, value, attached, true
	}
	// A one-letter option may have its value attached, as in -j8.
	if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && len(body) > 1 {
		if o, ok := table[body[:1]]; ok && o.value {
			return o, strings.TrimPrefix(body[1:], "="), true, true
		}
	}
	return option{}, "", false, false
}

// looksLikeOption says whether an operand has the form of a Microsoft option.
func looksLikeOption(arg string) bool {
	return len(arg) > 1 && arg[0] == '/' && !strings.ContainsAny(arg[1:], `/\`)
}

// override is an option that was given again with another value.
type override struct{ name, first, last string }

// overridden lists the options that were given more than one value of which
// the last one counts, in the order of the command line. Lists take all.
func overridden(normal []string, flags []urfave.Flag) (list []override) {
	lists := make(map[string]bool)
	for _, f := range flags {
		switch f.(type) {
		case *urfave.StringSliceFlag, *urfave.IntSliceFlag:
			lists[f.Names()[0]] = true
		}
	}
	at := make(map[string]int)
	for _, arg := range normal {
		if arg == "--" {
			break
		}
		name, value, attached := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !attached {
			value = "true"
		}
		if k, again := at[name]; again {
			list[k].last = value
			continue
		}
		at[name] = len(list)
		list = append(list, override{name, value, value})
	}
	return slices.DeleteFunc(list, func(o override) bool { return lists[o.name] || strings.EqualFold(o.first, o.last) })
}
