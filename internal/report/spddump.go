package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/compare"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
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
	Content *spd.File // for comparisons, rules and the text form, which need everything at once
	Diff    *compare.Diff
	Stale   *compare.Staleness

	symbols    [][]spd.Symbol    // by module
	counted    []spd.Summary     // by module
	facts      []functionFacts   // of the functions to show
	weight     uint64            // of all functions
	only       map[place]bool    // functions to show; nil: all
	names      map[spd.ID]string // of functions, as they are; made when needed
	texts      map[spd.ID]string // of functions, as they are shown; those met so far
	violations []spd.Violation
	compares   bool
	damaged    bool // Load met a defect: what is in front of it can be shown
}

// place is a function of the file.
type place struct{ module, index int }

// functionFacts is what lists of functions show of one.
type functionFacts struct {
	id              spd.ID
	name            string
	weight, entries uint64
	covered, blocks int
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
	// One function is shown with all there is of it, unless an option says what
	// to show of it.
	if d.FuncID != "" && !(d.Symbols || d.Functions || d.Callees || d.FlowGraphs || d.Coverage || d.DynInst > 0 || d.Lines) {
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
// symbols, or everything, but keeps no function unless a part needs all at
// once. After a defect WriteText and WriteJSONMembers show what is in front of
// it. Do runs long work so that it can be interrupted.
func (d *SPDDump) Load(do func(func()) error) error {
	err := d.load(do)
	if err != nil {
		d.damaged = true
		d.counted, d.facts, d.Content = nil, nil, nil
		d.Coverage, d.DynInst, d.Validate = false, 0, false
		d.Symbols, d.Functions = d.Symbols && d.symbols != nil, d.Functions && d.symbols != nil
	}
	return err
}

func (d *SPDDump) load(do func(func()) error) error {
	if d.Symbols || d.Functions || d.FuncID != "" || d.Dot != "" {
		if err := d.readSymbols(); err != nil {
			return err
		}
	}
	var err error
	switch {
	case d.Dot != "":
		err = d.chooseOne(d.Dot)
	case d.FuncID != "":
		err = d.choose(d.FuncID)
	}
	if err != nil {
		return err
	}
	if d.Text || d.Validate || d.compares {
		if d.Content, err = d.Reader.Read(); err != nil {
			return err
		}
	}
	if d.Validate {
		if err := do(func() { d.violations = slices.Collect(d.Content.Violations()) }); err != nil {
			return err
		}
	}
	if d.Functions || d.Coverage || d.DynInst > 0 || d.Data || d.Modules && !d.Symbols {
		return d.count()
	}
	return nil
}

func (d *SPDDump) readSymbols() error {
	var all [][]spd.Symbol
	for m := range d.Reader.Modules() {
		list, err := d.Reader.Symbols(m)
		if err != nil {
			return err
		}
		all = append(all, list)
	}
	d.symbols = all
	return nil
}

// count reads all functions for the numbers of the modules and of lists of
// functions.
func (d *SPDDump) count() error {
	for m := range d.Reader.Modules() {
		var sum spd.Summary
		index := 0
		for fn, err := range d.Reader.Functions(m) {
			if err != nil {
				return err
			}
			sum.Add(fn)
			d.weight = binfmt.SatAdd(d.weight, fn.Weight())
			if d.wanted(place{m, index}) {
				d.facts = append(d.facts, functionFacts{fn.ID, fn.Name, fn.Weight(), fn.EntryCount(), fn.Covered(), len(fn.Blocks)})
			}
			index++
		}
		d.counted = append(d.counted, sum)
	}
	return nil
}

// CountViolations is the number of broken rules that real files keep; the other
// violations are remarks.
func (d *SPDDump) CountViolations() (n int) {
	for _, v := range d.violations {
		if !v.Known {
			n++
		}
	}
	return n
}

// choose limits what is shown to the functions that a text names: by id (16 hex
// digits, or 0x and hex digits), by ordinal (decimal) or by name. A name as it
// is in the file goes before one that is only read like that.
func (d *SPDDump) choose(fid string) error {
	matches := []func(*spd.Symbol) bool{
		func(s *spd.Symbol) bool { return s.Name == fid },
		func(s *spd.Symbol) bool { return d.readable(s.Name) == fid },
	}
	hex, prefixed := strings.CutPrefix(strings.ToLower(fid), "0x")
	if id, err := strconv.ParseUint(hex, 16, 64); err == nil && (prefixed || len(fid) == 16) {
		matches = []func(*spd.Symbol) bool{func(s *spd.Symbol) bool { return s.ID == spd.ID(id) }}
	} else if ordinal, err := strconv.ParseUint(fid, 10, 32); err == nil {
		matches = []func(*spd.Symbol) bool{func(s *spd.Symbol) bool { return s.Ordinal == uint32(ordinal) }}
	}
	d.only = map[place]bool{}
	for _, match := range matches {
		for m := range d.symbols {
			for k := range d.symbols[m] {
				if match(&d.symbols[m][k]) {
					d.only[place{m, k}] = true
				}
			}
		}
		if len(d.only) > 0 {
			return nil
		}
	}
	return diag.New(diag.NoFunction, "no function %s", printable(fid)).In(d.File)
}

// chooseOne is choose for what shows one function only.
func (d *SPDDump) chooseOne(fid string) error {
	const most = 20 // candidates listed
	if err := d.choose(fid); err != nil || len(d.only) == 1 {
		return err
	}
	var list []string
	for m := range d.symbols {
		for k, s := range d.symbols[m] {
			if d.wanted(place{m, k}) && len(list) < most {
				list = append(list, s.ID.String()+" "+printable(s.Name))
			}
		}
	}
	if more := len(d.only) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return diag.New(diag.SeveralFunctions, "%s is the name of %d functions: %s", printable(fid), len(d.only), strings.Join(list, ", ")).In(d.File)
}

// wanted says whether a function is to be shown.
func (d *SPDDump) wanted(p place) bool { return d.only == nil || d.only[p] }

// each calls f for the functions of a module that are to be shown. They are
// read one by one.
func (d *SPDDump) each(module int, f func(*spd.Function) error) error {
	index := 0
	for fn, err := range d.Reader.Functions(module) {
		switch {
		case err != nil && d.damaged:
			return nil // Load has reported it
		case err != nil:
			return binfmt.InFile(err, d.File)
		case d.wanted(place{module, index}):
			if err := f(fn); err != nil {
				return err
			}
		}
		index++
	}
	return nil
}

// eachSymbol calls f for the symbols to show.
func (d *SPDDump) eachSymbol(module int, f func(*spd.Symbol)) {
	for k := range d.symbols[module] {
		if d.wanted(place{module, k}) {
			f(&d.symbols[module][k])
		}
	}
}

// WriteText prints the parts in the order of the file, then the comparisons.
func (d *SPDDump) WriteText(w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	err := d.writeText(buffered)
	return cmp.Or(err, buffered.Flush())
}

func (d *SPDDump) writeText(w *bufio.Writer) error {
	form := d.Text || d.Lines || d.Dot != ""
	switch {
	case form && d.damaged:
		return nil
	case d.Text:
		return spd.WriteText(w, d.Content)
	case d.Lines:
		return d.writeLines(w)
	case d.Dot != "":
		return d.eachFunction(func(fn *spd.Function, _ int) error { return d.writeDot(w, fn) })
	}
	t := &spdText{textWriter: textWriter{w: w}, d: d}
	if d.Where != "" {
		t.line("SPD in %s of %s", d.Where, printable(d.File))
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

// writeLines prints functions as JSON, one a line.
func (d *SPDDump) writeLines(w io.Writer) error {
	var b []byte
	return d.eachFunction(func(fn *spd.Function, module int) error {
		b = append(fn.AppendJSON(b[:0], module, spd.JSONOptions{NoCode: d.Mini}), '\n')
		_, err := w.Write(b)
		return err
	})
}

// eachFunction is each for all modules.
func (d *SPDDump) eachFunction(f func(fn *spd.Function, module int) error) error {
	for m := range d.Reader.Modules() {
		if err := d.each(m, func(fn *spd.Function) error { return f(fn, m) }); err != nil {
			return err
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
	t.line("%s holds %d SPDs; choose one with --index", printable(l.File), len(l.Found))
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
