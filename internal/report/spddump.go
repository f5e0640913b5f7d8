package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/compare"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// SPDDump shows an SPD. The fields up to Top say which parts; Select completes
// them by what they imply.
type SPDDump struct {
	Header, Modules, Symbols, Functions, Callees, FlowGraphs, Data, Coverage bool

	FuncID   string // only this function; empty: all
	DynInst  int    // number of functions with most instructions executed; 0: none
	Dot      string // function to draw; empty: none
	Text     bool   // the lossless text form
	Lines    bool   // functions as JSON lines
	Mini     bool   // without RVAs and ranges
	Plain    bool   // names as they are
	Validate bool
	Top      int // functions that comparisons list

	File   string
	Where  string // where in File the SPD is; empty: it is the file
	Reader *spd.Reader

	// What Load reads; nil where no part needs it.
	Content *spd.File
	Diff    *compare.Diff
	Stale   *compare.Staleness

	symbols    [][]spd.Symbol // by module
	only       *spd.Function  // of FuncID
	dot        *spd.Function
	violations []spd.Violation
	compares   bool
}

// Select applies what the options imply, as documented for Microsoft's tool.
// Without any part everything is shown.
func (d *SPDDump) Select(all, compares bool) {
	d.compares = compares
	some := d.Header || d.Modules || d.Symbols || d.Functions || d.Callees || d.FlowGraphs || d.Data || d.Coverage ||
		d.FuncID != "" || d.DynInst > 0 || d.Dot != "" || d.Text || d.Lines || d.Validate || compares
	if all || !some {
		d.Header, d.Modules, d.Symbols, d.Functions, d.Callees, d.FlowGraphs, d.Data = true, true, true, true, true, true, true
	}
	if d.FuncID != "" && !d.Callees && !d.FlowGraphs {
		d.Callees, d.FlowGraphs = true, true
	}
	d.Functions = d.Functions || d.Callees || d.FlowGraphs
	d.Modules = d.Modules || d.Symbols || d.Functions || d.Data
	d.Header = d.Header || d.Modules
}

// Specific says whether more is asked for than to look at what there is: a
// check, a comparison, one function or a form for other programs.
func (d *SPDDump) Specific() bool {
	return d.compares || d.Validate || d.Lines || d.Text || d.FuncID != "" || d.Dot != ""
}

// Load reads as much of the file as the parts need: the header alone, the
// symbols, or everything.
func (d *SPDDump) Load() error {
	whole := d.Functions || d.Coverage || d.DynInst > 0 || d.Dot != "" || d.Text || d.Lines || d.Validate || d.Data || d.compares || d.Modules && !d.Symbols
	if !whole {
		for m := range d.Reader.Modules() {
			if !d.Symbols {
				break
			}
			list, err := d.Reader.Symbols(m)
			if err != nil {
				return err
			}
			d.symbols = append(d.symbols, list)
		}
		return nil
	}
	var err error
	if d.Content, err = d.Reader.Read(); err != nil {
		return err
	}
	if d.Validate {
		for v := range d.Content.Violations() {
			d.violations = append(d.violations, v)
		}
	}
	if d.only, err = d.function(d.FuncID); err != nil {
		return err
	}
	d.dot, err = d.function(d.Dot)
	return err
}

// CountViolations is the number of broken rules that real files keep.
func (d *SPDDump) CountViolations() (n int) {
	for _, v := range d.violations {
		if !v.Known {
			n++
		}
	}
	return n
}

// function finds a function by its id (16 hex digits, or 0x and hex digits),
// its ordinal (decimal) or its name. An empty text is no function.
func (d *SPDDump) function(fid string) (*spd.Function, error) {
	if fid == "" {
		return nil, nil
	}
	match := func(fn *spd.Function) bool { return fn.Name == fid || d.readable(fn.Name) == fid }
	hex, prefixed := strings.CutPrefix(strings.ToLower(fid), "0x")
	if id, err := strconv.ParseUint(hex, 16, 64); err == nil && (prefixed || len(fid) == 16) {
		match = func(fn *spd.Function) bool { return fn.ID == spd.ID(id) }
	} else if ordinal, err := strconv.ParseUint(fid, 10, 32); err == nil {
		match = func(fn *spd.Function) bool { return fn.Ordinal == uint32(ordinal) }
	}
	for m := range d.Content.Modules {
		for i := range d.Content.Modules[m].Functions {
			if fn := &d.Content.Modules[m].Functions[i]; match(fn) {
				return fn, nil
			}
		}
	}
	return nil, diag.New(diag.NoFunction, "no function %s", fid).In(d.File)
}

// WriteText prints the parts in the order of the file, then the comparisons.
func (d *SPDDump) WriteText(w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	err := d.writeText(buffered)
	return cmp.Or(err, buffered.Flush())
}

func (d *SPDDump) writeText(w *bufio.Writer) error {
	switch {
	case d.Text:
		return spd.WriteText(w, d.Content)
	case d.Lines:
		return d.eachFunction(func(fn *spd.Function, module int) error {
			_, err := w.Write(append(fn.AppendJSON(nil, module, spd.JSONOptions{NoCode: d.Mini}), '\n'))
			return err
		})
	case d.dot != nil:
		return d.writeDot(w, d.dot)
	}
	t := &spdText{textWriter: textWriter{w: w}, d: d}
	if d.Where != "" {
		t.line("SPD in %s of %s", d.Where, d.File)
	}
	if d.Header {
		t.header()
	}
	if d.Modules {
		t.modules()
	}
	if d.Coverage {
		t.coverage()
	}
	if d.DynInst > 0 {
		t.dynamicInstructions()
	}
	if d.Validate {
		t.validation()
	}
	if d.Diff != nil {
		t.diff()
	}
	if d.Stale != nil {
		t.stale()
	}
	return t.err
}

// eachFunction calls f for the functions to show.
func (d *SPDDump) eachFunction(f func(fn *spd.Function, module int) error) error {
	for m := range d.Content.Modules {
		for i := range d.Content.Modules[m].Functions {
			fn := &d.Content.Modules[m].Functions[i]
			if d.only != nil && fn != d.only {
				continue
			}
			if err := f(fn, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// CarrierList lists the SPDs in a file that has several.
type CarrierList struct {
	File  string
	Found []carrier.Found
}

// carried is one of them in JSON.
type carried struct {
	Index  int    `json:"index"`
	Where  string `json:"where"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Error  string `json:"error,omitempty"` // why it cannot be used
}

// WriteText lists them.
func (l *CarrierList) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	t.line("%s holds %d SPDs; choose one with --index", l.File, len(l.Found))
	for i, f := range l.Found {
		unusable := ""
		if f.Err != nil {
			unusable = fmt.Sprintf(" (%v)", f.Err)
		}
		t.line("  %d: %s, offset %#x, %s bytes%s", i, f.Where, f.Offset, Count(uint64(f.Size)), unusable)
	}
	return t.err
}

// WriteJSONMembers lists them.
func (l *CarrierList) WriteJSONMembers(w io.Writer) error {
	list := []carried{}
	for i, f := range l.Found {
		c := carried{Index: i, Where: f.Where, Offset: f.Offset, Size: f.Size}
		if f.Err != nil {
			c.Error = f.Err.Error()
		}
		list = append(list, c)
	}
	j := &jsonWriter{w: bufio.NewWriter(w)}
	j.member("file", l.File)
	j.member("found", list)
	return cmp.Or(j.err, j.w.Flush())
}

// writeDot draws a flow graph: blocks with their counts, edges with counts and
// probabilities.
func (d *SPDDump) writeDot(w io.Writer, fn *spd.Function) error {
	t := &textWriter{w: w}
	t.line("digraph %q {", d.readable(fn.Name))
	t.line("  label=%q; node [shape=box, fontname=monospace];", fmt.Sprintf("%s entry %d", d.readable(fn.Name), fn.EntryCount()))
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

// share is a part of a whole in percent.
func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
