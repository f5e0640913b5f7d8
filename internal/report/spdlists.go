package report

import (
	"bufio"
	"cmp"
	"io"

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
	ranking := d.Content.Ranking()
	var total, sum uint64
	for _, r := range ranking {
		total = binfmt.SatAdd(total, r.Weight)
	}
	list := []hotFunction{}
	for _, r := range ranking[:min(d.DynInst, len(ranking))] {
		if r.Weight == 0 {
			break
		}
		sum = binfmt.SatAdd(sum, r.Weight)
		list = append(list, hotFunction{r.ID, r.Name, r.Weight, r.EntryCount(), share(r.Weight, total), share(sum, total)})
	}
	return list
}

// list prints the heaviest functions of a comparison.
func (t *spdText) list(label string, fns []compare.Function) {
	for _, f := range fns[:min(len(fns), t.d.Top)] {
		reason := ""
		if f.Reason != "" {
			reason = ": " + f.Reason
		}
		t.line("  %s %6.2f %% %s%s", label, f.Percent, t.d.readable(f.Name), reason)
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
		j.member("modules", d.moduleList())
	}
	if d.Symbols {
		j.member("symbols", d.symbolList())
	}
	if d.Functions || d.Lines || d.Text || d.dot != nil {
		d.jsonFunctions(j)
	}
	if d.Coverage {
		s := d.Content.Summary()
		j.member("coverage", coverageCounts{s.CoveredBlocks, s.Blocks, s.CoveredCodeBlocks, s.CodeBlocks})
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

func (d *SPDDump) moduleList() any {
	if d.Content == nil {
		list := []moduleInfo{}
		for _, m := range d.Reader.Modules() {
			list = append(list, moduleInfo{m.Name, m.Flags, m.Generation, m.Functions, m.HashBuckets})
		}
		return list
	}
	list := []*spd.ModuleSummary{}
	for i := range d.Content.Modules {
		m := &d.Content.Modules[i]
		list = append(list, &spd.ModuleSummary{Module: *m, Summary: m.Summary()})
	}
	return list
}

func (d *SPDDump) symbolList() []spd.Symbol {
	list := []spd.Symbol{}
	for _, module := range d.symbols {
		list = append(list, module...)
	}
	if d.Content != nil {
		_ = d.eachFunction(func(fn *spd.Function, _ int) error {
			list = append(list, fn.Symbol)
			return nil
		})
	}
	return list
}

func (d *SPDDump) jsonFunctions(j *jsonWriter) {
	j.name("functions")
	j.w.WriteByte('[')
	var b []byte
	separator := "\n"
	err := d.eachFunction(func(fn *spd.Function, module int) error {
		if d.dot != nil && fn != d.dot {
			return nil
		}
		b = append(b[:0], separator...)
		separator = ",\n"
		_, err := j.w.Write(fn.AppendJSON(b, module, spd.JSONOptions{NoCode: d.Mini}))
		return err
	})
	j.err = cmp.Or(j.err, err)
	j.w.WriteByte(']')
}
