package report

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Aggregation is the summary of a run of sptaggregate.
type Aggregation struct {
	Shard    *Shard  `json:"shard,omitempty"`
	Earlier  int     `json:"earlier,omitempty"` // inputs that an interrupted run read
	Inputs   []Input `json:"inputs"`
	Samples  Account `json:"samples"`
	Kinds    Kinds   `json:"kinds"`
	Branches Account `json:"branch_entries"`
	Frames   Account `json:"callchain_frames"`
	// SPERecords are the records of Arm SPE, SPEBranches those of branches.
	SPERecords  Account `json:"spe_records"`
	SPEBranches Account `json:"spe_branches"`

	Events   []Event  `json:"events"`
	Lost     Lost     `json:"lost"`
	Binaries []Binary `json:"binaries"`
	Output   Output   `json:"output"`
	Mode     string   `json:"mode"` // LBR, IP or none: what /mode suits the next step

	// Candidates are what the filters could have chosen; only where they
	// matched nothing or several things.
	Candidates *Candidates `json:"candidates,omitempty"`
}

// Shard says which share of the inputs was taken. Log files of one recording
// count as one.
type Shard struct {
	Index  int `json:"index"` // from 1
	Count  int `json:"count"`
	Taken  int `json:"taken"`
	Inputs int `json:"inputs"` // of all shares
}

// Input is one trace or SPT.
type Input struct {
	File            string            `json:"file"`
	Weight          uint64            `json:"weight,omitempty"` // how often its hits count, where not once
	Format          string            `json:"format"`
	Detail          string            `json:"detail,omitempty"`
	Host            string            `json:"host,omitempty"`
	Kernel          string            `json:"kernel,omitempty"`
	CPU             string            `json:"cpu,omitempty"`
	Arch            string            `json:"arch,omitempty"`
	Samples         uint64            `json:"samples"`
	BranchEntries   uint64            `json:"branch_entries"`
	CallchainFrames uint64            `json:"callchain_frames"`
	Lost            uint64            `json:"lost"`
	Losses          map[string]uint64 `json:"losses"`
	Records         map[string]uint64 `json:"records"`
	UnknownRecords  map[string]uint64 `json:"unknown_records"`
	Truncated       bool              `json:"truncated"`
	Managed         *Managed          `json:"managed,omitempty"`
	SPERecords      uint64            `json:"spe_records"` // of Arm SPE, which are no sample records
	SPE             *SPE              `json:"spe,omitempty"`
	Stacks          []BranchStacks    `json:"branch_stacks,omitempty"`
}

// BranchStacks says what triggered the branch stacks of an event and what was
// done about the bias of the trigger.
type BranchStacks struct {
	Event     string  `json:"event"`
	Trigger   string  `json:"trigger"` // what the event counts
	Biased    bool    `json:"biased"`
	Weighed   bool    `json:"weighed"`
	Kept      string  `json:"kept,omitempty"`    // why biased stacks were not weighed
	Windows   uint64  `json:"windows,omitempty"` // that the weights were found from
	Effective float64 `json:"effective_windows,omitempty"`
	Skew      float64 `json:"skew"` // between newest and other targets, 0 to 1
	Noise     float64 `json:"noise"`
	text      string
}

func branchStacks(list []ingest.Stacks) []BranchStacks {
	var out []BranchStacks
	for _, s := range list {
		out = append(out, BranchStacks{
			Event: s.Event, Trigger: s.Unit.String(), Biased: s.Biased, Weighed: s.Effective > 0, Kept: s.Kept,
			Windows: s.Windows, Effective: s.Effective, Skew: s.Skew, Noise: s.Noise, text: s.Describe(),
		})
	}
	return out
}

// Managed says where samples in managed code were.
type Managed struct {
	JIT     uint64          `json:"jit_samples"` // in methods compiled at run time
	Methods []ManagedMethod `json:"methods"`     // the hottest of these
	Modules []ManagedModule `json:"modules"`
}

// ManagedMethod is a method compiled at run time.
type ManagedMethod struct {
	Name    string `json:"name"`
	Module  string `json:"module,omitempty"`
	Samples uint64 `json:"samples"`
}

// ManagedModule says how many samples of a module were in precompiled code.
type ManagedModule struct {
	Path        string `json:"path"`
	Precompiled uint64 `json:"precompiled"`
	JIT         uint64 `json:"jit"`
}

// Account says how many items were read and used, and why the others were not.
type Account struct {
	Read    uint64            `json:"read"`
	Used    uint64            `json:"used"`
	Dropped map[string]uint64 `json:"dropped"`
}

// Kinds are the accounts of the kinds of samples.
type Kinds struct {
	LBR   Account `json:"lbr"`
	PMC   Account `json:"pmc"`
	Stack Account `json:"stack"`
	Timer Account `json:"timer"`
}

// Event is one sampled event.
type Event struct {
	Name      string `json:"name"`
	Opcode    string `json:"opcode,omitempty"` // empty: not recognised
	Samples   uint64 `json:"samples"`
	MinPeriod uint64 `json:"min_period,omitempty"`
	MaxPeriod uint64 `json:"max_period,omitempty"`
}

// Lost is what the recorders lost.
type Lost struct {
	Samples uint64  `json:"samples"`
	Percent float64 `json:"percent"` // of the samples lost and recorded
}

// Binary is one binary of the profile.
type Binary struct {
	Name        string            `json:"name"`
	Path        string            `json:"path"`
	GUID        string            `json:"guid"`
	Age         uint32            `json:"age"`
	Identity    string            `json:"identity"`
	Kernel      bool              `json:"kernel"`
	FileOffsets bool              `json:"file_offsets"`
	IP          map[string]uint64 `json:"ip"` // hits by opcode
	Branches    uint64            `json:"branches"`
	Pairs       uint64            `json:"branch_pairs"`
	StackArcs   uint64            `json:"stack_arcs"`
}

// Output is the file written; File is empty where there is none.
type Output struct {
	File    string `json:"file"`
	Bytes   int64  `json:"bytes"`
	Records uint64 `json:"records"`
}

// Candidates lists what filters can choose from, most samples first.
type Candidates struct {
	Processes []Candidate `json:"processes"`
	Binaries  []Candidate `json:"binaries"`
}

// Candidate is a process or binary with its samples.
type Candidate struct {
	Name    string `json:"name"`
	Samples uint64 `json:"samples"`
}

// maxCandidates bounds the list for people; more are of no help.
const maxCandidates = 20

// NewAggregation makes the summary of a run. The output is filled in by the
// caller when it is written.
func NewAggregation(inputs []*ingest.Facts, profile *aggregate.Profile) *Aggregation {
	total := sample.NewStats()
	a := &Aggregation{Inputs: []Input{}, Events: []Event{}, Binaries: []Binary{}}
	for _, f := range inputs {
		total.Merge(f.Stats)
		weight := f.Weight
		if weight == 1 {
			weight = 0
		}
		a.Inputs = append(a.Inputs, Input{
			File: f.File, Weight: weight, Format: f.Format, Detail: f.Detail, Host: f.Host, Kernel: f.Kernel, CPU: f.CPU, Arch: f.Arch,
			Samples: f.Samples, BranchEntries: f.BranchEntries, CallchainFrames: f.CallchainFrames,
			Lost: f.Lost, Losses: f.Losses, Records: f.Records, UnknownRecords: f.UnknownRecords, Truncated: f.Truncated,
			Managed:    managed(f.Managed),
			SPERecords: f.SPERecords, SPE: newSPE(f.SPE),
			Stacks: branchStacks(f.Stacks),
		})
		a.Lost.Samples += f.Lost
	}
	a.Samples = account(&total.Samples)
	a.Branches = account(&total.Branches)
	a.Frames = account(&total.Frames)
	a.SPERecords = account(&total.SPERecords)
	a.SPEBranches = account(&total.SPEBranches)
	a.Kinds = Kinds{account(&total.Kinds[sample.LBR]), account(&total.Kinds[sample.PMC]),
		account(&total.Kinds[sample.Stack]), account(&total.Kinds[sample.Timer])}
	if all := a.Lost.Samples + a.Samples.Read; all > 0 {
		a.Lost.Percent = 100 * float64(a.Lost.Samples) / float64(all)
	}
	for _, name := range sortedKeys(total.Events) {
		e := total.Events[name]
		event := Event{Name: name, Samples: e.Samples, MinPeriod: e.MinPeriod, MaxPeriod: e.MaxPeriod}
		if e.Opcode != 0 {
			event.Opcode = opcodeName(e.Opcode)
		}
		a.Events = append(a.Events, event)
	}
	a.Mode = "none"
	for _, t := range profile.Totals() {
		b := Binary{
			Name: t.Binary.ProgramName(), Path: t.Binary.Path, GUID: t.Binary.GUID.String(), Age: t.Binary.Age,
			Identity: t.Binary.Identity, Kernel: t.Binary.Kernel, FileOffsets: t.Binary.FileOffsets,
			IP: map[string]uint64{}, Branches: t.Branches, Pairs: t.Pairs, StackArcs: t.StackArcs,
		}
		for op, n := range t.IP {
			b.IP[opcodeName(op)] = n
		}
		a.Binaries = append(a.Binaries, b)
		kinds := correlate.Kinds{Branches: t.Branches, Neighbours: t.Pairs, BranchInstructions: t.IP[byte(spt.OpRetireBrInstr)], Instructions: t.IP[byte(spt.OpRetireInstr)]}
		switch {
		case kinds.Mode() == correlate.LBR:
			a.Mode = "LBR"
		case a.Mode == "none" && (len(t.IP) > 0 || t.StackArcs > 0):
			a.Mode = "IP"
		}
	}
	return a
}

// AddCandidates lists what the filters could have chosen.
func (a *Aggregation) AddCandidates(inputs []*ingest.Facts, profile *aggregate.Profile) {
	total := sample.NewStats()
	for _, f := range inputs {
		total.Merge(f.Stats)
	}
	binaries := map[string]uint64{}
	for i, n := range total.Hits {
		b := profile.Binary(i)
		binaries[b.Path] += n
	}
	a.Candidates = &Candidates{candidates(total.Processes), candidates(binaries)}
}

func candidates(counts map[string]uint64) []Candidate {
	list := []Candidate{}
	for _, name := range sortedKeys(counts) {
		list = append(list, Candidate{name, counts[name]})
	}
	slices.SortStableFunc(list, func(x, y Candidate) int {
		switch {
		case x.Samples > y.Samples:
			return -1
		case x.Samples < y.Samples:
			return 1
		}
		return 0
	})
	return list[:min(len(list), maxCandidates)]
}

func managed(m *ingest.Managed) *Managed {
	if m == nil {
		return nil
	}
	result := &Managed{JIT: m.JIT, Methods: []ManagedMethod{}, Modules: []ManagedModule{}}
	for _, x := range m.Methods {
		result.Methods = append(result.Methods, ManagedMethod(x))
	}
	for _, x := range m.Modules {
		result.Modules = append(result.Modules, ManagedModule(x))
	}
	return result
}

func account(a *sample.Account) Account {
	return Account{Read: a.Total(), Used: a.Used(), Dropped: a.Dropped()}
}

func opcodeName(op byte) string { return fmt.Sprintf("0x%02x", op) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// WriteText prints the summary, always in the same order.
func (a *Aggregation) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	if s := a.Shard; s != nil {
		t.line("Share %d of %d: %s of %s inputs", s.Index, s.Count, Count(uint64(s.Taken)), Count(uint64(s.Inputs)))
	}
	if a.Earlier > 0 {
		t.line("%s inputs were read by an interrupted run", Count(uint64(a.Earlier)))
	}
	if len(a.Inputs) > 0 {
		t.line("Inputs")
	}
	for _, in := range a.Inputs {
		format := in.Format
		if in.Detail != "" {
			format += " (" + in.Detail + ")"
		}
		about := []string{format}
		for _, fact := range []struct{ label, value string }{{"host", in.Host}, {"kernel", in.Kernel}, {"CPU", in.CPU}, {"arch", in.Arch}} {
			if fact.value != "" {
				about = append(about, fact.label+" "+fact.value)
			}
		}
		t.line("  %s: %s", in.File, strings.Join(about, ", "))
		if in.Weight > 0 {
			t.line("    its hits count %s times", Count(in.Weight))
		}
		t.line("    %s samples, %s branch entries, %s call-chain frames, %s lost",
			Count(in.Samples), Count(in.BranchEntries), Count(in.CallchainFrames), Count(in.Lost))
		for _, k := range sortedKeys(in.UnknownRecords) {
			t.line("    skipped %s records of unknown type %s", Count(in.UnknownRecords[k]), k)
		}
		if in.Truncated {
			t.line("    the data ends early; what is there was used")
		}
		for _, s := range in.Stacks {
			t.line("    stacks of %s: %s", s.Event, s.text)
		}
		if in.Managed != nil {
			t.managed(in.Managed)
		}
		if in.SPE != nil {
			t.spe(in.SPERecords, in.SPE)
		}
	}
	t.line("Samples")
	t.account("All Samples", a.Samples)
	t.account("Used LBR Samples", a.Kinds.LBR)
	t.account("Used PMC Samples", a.Kinds.PMC)
	t.account("Used Stack Samples", a.Kinds.Stack)
	t.account("Used Timer Samples", a.Kinds.Timer)
	if a.Branches.Read > 0 {
		t.account("Used Branches", a.Branches)
	}
	if a.Frames.Read > 0 {
		t.account("Used Call Frames", a.Frames)
	}
	if a.SPERecords.Read > 0 {
		t.account("Used SPE Records", a.SPERecords)
		t.account("Used SPE Branches", a.SPEBranches)
	}
	t.line("Events")
	for _, e := range a.Events {
		opcode := e.Opcode
		if opcode == "" {
			opcode = "not recognised"
		}
		periods := ""
		switch {
		case e.MinPeriod != e.MaxPeriod:
			periods = fmt.Sprintf(", period %s to %s", Count(e.MinPeriod), Count(e.MaxPeriod))
		case e.MinPeriod > 1:
			periods = fmt.Sprintf(", period %s", Count(e.MinPeriod))
		}
		t.line("  %s: %s samples, %s%s", e.Name, Count(e.Samples), opcode, periods)
	}
	t.line("Binaries")
	for _, b := range a.Binaries {
		t.line("  %s %s age %d (%s)", b.Name, b.GUID, b.Age, b.Identity)
		var counts []string
		for _, op := range sortedKeys(b.IP) {
			counts = append(counts, fmt.Sprintf("%s: %s", op, Count(b.IP[op])))
		}
		if b.Branches > 0 {
			counts = append(counts, fmt.Sprintf("branches: %s (%s pairs)", Count(b.Branches), Count(b.Pairs)))
		}
		if b.StackArcs > 0 {
			counts = append(counts, fmt.Sprintf("stack arcs: %s", Count(b.StackArcs)))
		}
		t.line("    %s", strings.Join(counts, ", "))
	}
	t.line("Lost: %s samples (%.2f %%)", Count(a.Lost.Samples), a.Lost.Percent)
	if a.Candidates != nil {
		t.candidates("Processes to choose from with /process", a.Candidates.Processes)
		t.candidates("Binaries to choose from with /binary", a.Candidates.Binaries)
	}
	switch a.Mode {
	case "none":
		t.line("Nothing for the next step")
	default:
		t.line("Next step: spdconvert /mode:%s", a.Mode)
	}
	if a.Output.File != "" {
		t.line("Output: %s, %s bytes, %s records", a.Output.File, Count(uint64(a.Output.Bytes)), Count(a.Output.Records))
	}
	return t.err
}

// shownManaged is how many methods and modules the text lists; the JSON has
// more.
const shownManaged = 10

func (t *textWriter) managed(m *Managed) {
	t.line("    managed code compiled at run time (JIT): %s samples", Count(m.JIT))
	for _, x := range m.Methods[:min(len(m.Methods), shownManaged)] {
		module := ""
		if x.Module != "" {
			module = " in " + x.Module
		}
		t.line("      %s%s: %s", x.Name, module, Count(x.Samples))
	}
	if len(m.Modules) > 0 {
		t.line("    managed modules:")
	}
	for _, x := range m.Modules[:min(len(m.Modules), shownManaged)] {
		all := float64(x.Precompiled + x.JIT)
		t.line("      %s: precompiled %s (%.1f %%), JIT %s (%.1f %%)", x.Path, Count(x.Precompiled), 100*float64(x.Precompiled)/all,
			Count(x.JIT), 100*float64(x.JIT)/all)
	}
}

func (t *textWriter) account(label string, a Account) {
	var dropped []string
	for _, reason := range sortedKeys(a.Dropped) {
		dropped = append(dropped, fmt.Sprintf("%s %s", reason, Count(a.Dropped[reason])))
	}
	tail := ""
	if len(dropped) > 0 {
		tail = "; dropped: " + strings.Join(dropped, ", ")
	}
	t.line("  %-19s %s of %s%s", label+":", Count(a.Used), Count(a.Read), tail)
}

func (t *textWriter) candidates(label string, list []Candidate) {
	t.line("%s", label)
	for _, c := range list {
		t.line("  %s: %s samples", c.Name, Count(c.Samples))
	}
}
