package report

import (
	"io"
	"strings"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// writeDot draws a flow graph: blocks with their counts, edges with counts and
// probabilities.
func (d *SPDDump) writeDot(w io.Writer, fn *spd.Function) error {
	t := &textWriter{w: w}
	name := dotString(d.readable(fn.Name))
	t.line("digraph \"%s\" {", name)
	t.line("  label=\"%s entry %d\"; node [shape=box, fontname=monospace];", name, fn.EntryCount())
	hottest := uint64(1)
	for i := range fn.Blocks {
		hottest = max(hottest, fn.Blocks[i].Count)
	}
	for i := range fn.Blocks {
		b := &fn.Blocks[i]
		// The hotter the block, the redder: HSV with the saturation by count.
		t.line("  b%d [label=\"B%d\\ncount %d\\n%d instructions\", style=filled, fillcolor=\"0.05 %.3f 1.0\"];",
			i+1, i+1, b.Count, b.Instructions, float64(b.Count)/float64(hottest))
		for _, e := range b.Edges {
			style := ""
			if e.Flags&spd.EdgeDead != 0 {
				style = ", style=dotted"
			}
			t.line("  b%d -> b%d [label=\"%d\\n%.1f %%\"%s];", i+1, e.To, e.Count, share(e.Count, b.Count), style)
		}
	}
	t.line("}")
	return t.err
}

// dotString makes a name fit between quotes of the DOT language, whose labels
// have escapes of their own.
func dotString(name string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(name))
}
