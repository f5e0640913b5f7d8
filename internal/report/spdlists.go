package report

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/spgo-tools/spgo/internal/compare"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// hotFunction is a function with its estimate of instructions executed.
type hotFunction struct {
	ID           spd.ID  `json:"id"`
	Name         string  `json:"name"`
	Instructions uint64  `json:"instructions"`
	Entries      uint64  `json:"entries"`
	Percent      float64 `json:"percent"`
	Cumulative   float64 `json:"cumulative_percent"`
}

// dynamic lists the functions with most instructions executed.
func (d *SPDDump) dynamic() []hotFunction {
	ranking := slices.Clone(d.facts)
	slices.SortStableFunc(ranking, func(a, b functionFacts) int { return cmp.Compare(b.weight, a.weight) })
	var sum uint64
	list := []hotFunction{}
	for _, r := range ranking[:min(d.DynInst, len(ranking))] {
		if r.weight == 0 {
			break
		}
		sum = binfmt.SatAdd(sum, r.weight)
		list = append(list, hotFunction{r.id, r.name, r.weight, r.entries, share(r.weight, d.weight), share(sum, d.weight)})
	}
	return list
}

// coverage adds up the modules.
func (d *SPDDump) coverage() coverageCounts {
	c := coverageCounts{Functions: []coveredFunction{}}
	for _, s := range d.counted {
		c.Covered += s.CoveredBlocks
		c.Blocks += s.Blocks
		c.CoveredCode += s.CoveredCodeBlocks
		c.CodeBlocks += s.CodeBlocks
	}
	for _, f := range d.facts {
		if f.covered > 0 || d.only != nil {
			c.Functions = append(c.Functions, coveredFunction{f.id, f.name, f.covered, f.blocks})
		}
	}
	return c
}

// list prints the heaviest functions of a comparison.
func (t *spdText) list(label string, fns []compare.Function) {
	for _, f := range fns[:min(len(fns), t.d.Top)] {
		reason := ""
		if f.Reason != "" {
			reason = ": " + f.Reason
		}
		t.line("  %s %6.2f %% %s%s", label, f.Percent, t.d.both(f.Name), reason)
	}
	if more := len(fns) - t.d.Top; more > 0 {
		t.line("  %s: %d more", label, more)
	}
}

// coverageCounts is /coverage in JSON.
type coverageCounts struct {
	Covered     int `json:"covered"`
	Blocks      int `json:"blocks"`
	CoveredCode int `json:"covered_code"`
	CodeBlocks  int `json:"code_blocks"`

	// Functions with a covered block, or all that were chosen.
	Functions []coveredFunction `json:"functions"`
}

// coveredFunction is the coverage of a function.
type coveredFunction struct {
	ID      spd.ID `json:"id"`
	Name    string `json:"name"`
	Covered int    `json:"covered"`
	Blocks  int    `json:"blocks"`
}

// symbolJSON is a symbol in JSON; as in functions, NameBytes are those of a
// name that is not UTF-8, and Module is there from the second module on.
type symbolJSON struct {
	spd.Symbol
	NameBytes string `json:"name_bytes,omitempty"`
	Module    int    `json:"module,omitempty"`
}

// dataProfile is what is known of the data profile of a module.
type dataProfile struct {
	Module  int    `json:"module"`
	Records uint32 `json:"records"`
	Bytes   uint32 `json:"bytes"`
}

// violation is a broken rule in JSON.
type violation struct {
	Rule     spd.Rule `json:"rule"`
	Module   string   `json:"module"`
	Function string   `json:"function,omitempty"`
	ID       spd.ID   `json:"id,omitempty"`
	Block    uint32   `json:"block,omitempty"`
	Want     string   `json:"want"`
	Got      string   `json:"got"`
	Known    bool     `json:"known"`
}

// moduleInfo is a module in JSON where only its header was read.
type moduleInfo struct {
	Name        string `json:"name"`
	Flags       uint32 `json:"flags"`
	Generation  uint32 `json:"generation"`
	Functions   uint32 `json:"functions"`
	HashBuckets uint32 `json:"hash_buckets"`
}

// WriteJSONMembers writes the chosen parts. Functions are written one at a
// time.
func (d *SPDDump) WriteJSONMembers(w io.Writer) error {
	j := &jsonWriter{w: bufio.NewWriterSize(w, 64<<10)}
	j.member("file", d.File)
	if d.Where != "" {
		j.member("where", d.Where)
	}
	if d.Header {
		j.member("header", d.Reader.Header())
	}
	if d.Modules {
		list, err := d.moduleList()
		j.err = cmp.Or(j.err, err)
		j.member("modules", list)
	}
	if d.Symbols {
		d.jsonSymbols(j)
	}
	if d.Functions || d.Text || d.Dot != "" {
		d.jsonFunctions(j)
	}
	if d.Data {
		list := []dataProfile{}
		for m, info := range d.Reader.Modules() {
			list = append(list, dataProfile{m, info.DataRecords, info.DataBytes})
		}
		j.member("data", list)
	}
	if d.Coverage {
		j.member("coverage", d.coverage())
	}
	if d.DynInst > 0 {
		j.member("dynamic_instructions", d.dynamic())
	}
	if d.Validate {
		list := []violation{}
		for _, v := range d.violations {
			list = append(list, violation{v.Rule, v.Module, v.Name, v.ID, v.Block, v.Want, v.Got, v.Known})
		}
		j.member("violations", list)
	}
	if d.Diff != nil {
		j.member("diff", d.Diff)
	}
	if d.Stale != nil {
		j.member("stale", d.Stale)
	}
	return cmp.Or(j.err, j.w.Flush())
}

func (d *SPDDump) moduleList() (any, error) {
	if d.counted == nil {
		list := []moduleInfo{}
		for _, m := range d.Reader.Modules() {
			list = append(list, moduleInfo{m.Name, m.Flags, m.Generation, m.Functions, m.HashBuckets})
		}
		return list, nil
	}
	list := []*spd.ModuleSummary{}
	for m := range d.counted {
		module, err := d.Reader.Module(m)
		if err != nil {
			return list, binfmt.InFile(err, d.File)
		}
		list = append(list, &spd.ModuleSummary{Module: module, Summary: d.counted[m]})
	}
	return list, nil
}

func (d *SPDDump) jsonSymbols(j *jsonWriter) {
	j.name("symbols")
	separator := "["
	for m := range d.symbols {
		d.eachSymbol(m, func(symbol *spd.Symbol) {
			s := symbolJSON{Symbol: *symbol, Module: m}
			if d.Mini {
				s.FoldedInto = 0
			}
			if !utf8.ValidString(s.Name) {
				s.NameBytes = hex.EncodeToString([]byte(s.Name))
			}
			data, err := json.Marshal(s)
			j.err = cmp.Or(j.err, err)
			j.w.WriteString(separator)
			j.w.Write(data)
			separator = ",\n"
		})
	}
	if separator == "[" {
		j.w.WriteString(separator)
	}
	j.w.WriteByte(']')
}

func (d *SPDDump) jsonFunctions(j *jsonWriter) {
	j.name("functions")
	j.w.WriteByte('[')
	var b []byte
	separator := "\n"
	err := d.eachFunction(func(fn *spd.Function, module int) error {
		b = append(b[:0], separator...)
		separator = ",\n"
		b = fn.AppendJSON(b, module, spd.JSONOptions{NoCode: d.Mini})
		_, err := j.w.Write(b)
		return err
	})
	j.err = cmp.Or(j.err, err)
	j.w.WriteByte(']')
}
