package cli

import (
	"fmt"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/diag"
)

// help is the text of /help: examples first, then the forms, the options and
// the exit codes.
func (c *Command) help(flags []urfave.Flag) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\nExamples:\n", c.Name, c.Summary)
	for _, e := range c.Examples {
		fmt.Fprintf(&b, "  %s\n", e)
	}
	b.WriteString("\nUsage:\n")
	for _, f := range c.Forms {
		fmt.Fprintf(&b, "  %s %s\n", c.Name, f)
	}
	b.WriteString("\nOptions may be written /name:value, -name:value or --name=value, in any case and place;\n-- ends them.\n")
	category := ""
	for _, f := range flags {
		if cat := f.(urfave.CategorizableFlag).GetCategory(); cat != category {
			category = cat
			fmt.Fprintf(&b, "\n%s\n", cat)
		}
		b.WriteString(c.flagHelp(f))
	}
	if c.Notes != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Notes))
	}
	b.WriteString("\nExit codes:\n")
	for _, e := range diag.Exits {
		fmt.Fprintf(&b, "  %d  %s\n", e.Code, e.Meaning)
	}
	return b.String()
}

// usageOf splits the usage text of an option. A name in back quotes is the name
// of the value, as in urfave/cli.
func usageOf(f urfave.Flag) (value, usage string) {
	usage = f.(urfave.DocGenerationFlag).GetUsage()
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		if name, after, ok := strings.Cut(rest, "`"); ok {
			return name, before + strings.TrimPrefix(after, ": ")
		}
	}
	return "", usage
}

// flagHelp prints one option.
func (c *Command) flagHelp(f urfave.Flag) string {
	value, usage := usageOf(f)
	names := f.Names()
	left := "/" + names[0]
	if _, optional := c.OptionalValue[names[0]]; optional {
		left += "[:" + value + "]"
	} else if value != "" {
		left += ":" + value
	}
	for _, n := range names[1:] {
		if len(n) == 1 {
			left += ", -" + n
		} else {
			left += ", /" + n
		}
	}
	const column = 28
	indent := strings.Repeat(" ", column)
	usage = strings.ReplaceAll(usage, "\n", "\n"+indent)
	if len(left)+4 > column {
		return fmt.Sprintf("  %s\n%s%s\n", left, indent, usage)
	}
	return fmt.Sprintf("  %-*s%s\n", column-2, left, usage)
}
