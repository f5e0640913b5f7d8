package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/profile"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// Conversion is the result of spdconvert, except for /extract.
type Conversion struct {
	File      string `json:"file"`      // the SPD that was read; the newest of a merge
	Output    string `json:"output"`    // the SPD that was written; empty if none was
	Operation string `json:"operation"` // import, retire, merge, reset or summary

	Binary     string `json:"binary"`
	GUID       string `json:"guid"`
	Age        uint32 `json:"age"`
	Generation uint32 `json:"generation"`
	Imported   bool   `json:"imported"` // the result holds a profile

	// Mode is IP or LBR, and empty where nothing was imported.
	Mode           string   `json:"mode"`
	IPEvent        string   `json:"ip_event,omitempty"`
	SingleBranches bool     `json:"single_branches,omitempty"` // why AUTO is IP though there are branches
	Retired        int      `json:"retired"`                   // sixteenths
	CoverageBefore Coverage `json:"coverage_before"`
	CoverageAfter  Coverage `json:"coverage_after"`
	// CoverageCounted is that of the functions with a count alone.
	CoverageCounted Coverage `json:"coverage_counted"`
	// MachineCode says that the SPD was made of an image, whose code it has all,
	// that of libraries and of the runtime too.
	MachineCode bool `json:"machine_code"`

	Samples          SampleUse         `json:"samples"`
	Branches         map[string]uint64 `json:"branches,omitempty"` // used branches by kind
	FunctionsTouched int               `json:"functions_touched"`
	FlowCorrection   float64           `json:"flow_correction_percent"`
	Unreached        float64           `json:"unreached_percent"` // in blocks that no way leads to from the entry
	Trapped          float64           `json:"trapped_percent"`   // in blocks that no way leads on from

	// Hot functions are those in the 99 % set of the result, which are
	// compiled for speed.
	Hot              int     `json:"hot_functions"`
	Functions        int     `json:"functions"`
	HotInstructions  float64 `json:"hot_instructions_percent"`
	HotThreshold     uint64  `json:"hot_threshold"`
	DynamicExecution uint64  `json:"dynamic_instructions"`

	Density       float64 `json:"density"` // samples per covered block that 90 % of the hot weight reach
	DensityFactor float64 `json:"density_factor"`
	Verdict       string  `json:"verdict"` // excellent, fair, limiting, or none without a profile or of machine code

	Inputs []ConvertedInput `json:"inputs"`
	Merged []MergedInput    `json:"merged,omitempty"`
	// Doubtful is the number of functions whose counts are far from their
	// samples; Doubts are those with most samples.
	Doubtful int                `json:"doubtful_functions"`
	Doubts   []DoubtfulFunction `json:"doubts,omitempty"`
	// Ignored are the SPTs and lists of them that /reset does not read.
	Ignored []string `json:"ignored,omitempty"`

	hasSamples bool
	timed      bool // samples say how long code took
	branches   []correlate.BranchCount
	losses     []loss
}

// Coverage is a number of blocks with a count among all blocks.
type Coverage struct {
	Covered int     `json:"covered"`
	Blocks  int     `json:"blocks"`
	Percent float64 `json:"percent"`
}

// SampleUse is how many samples were used, and why the others were not.
type SampleUse struct {
	Used    uint64            `json:"used"` // in mode LBR branches, of which a stack has several
	Dropped map[string]uint64 `json:"dropped"`
	// DroppedPercent is the share of samples of this binary, of the kind that
	// was used, that lie in no function.
	DroppedPercent float64 `json:"dropped_percent"`
}

// ConvertedInput is an SPT.
type ConvertedInput struct {
	File    string `json:"file"`
	Weight  uint64 `json:"weight"`
	Samples uint64 `json:"samples"` // of this binary and the kind that was used, without weight
	// NormalizedWeight is what a sample counts with --normalize.
	NormalizedWeight float64 `json:"normalized_weight,omitempty"`
}

// MergedInput is an SPD of a merge, compared with what was merged before it.
type MergedInput struct {
	File string `json:"file"`
	GUID string `json:"guid"`
	Age  uint32 `json:"age"`
	profile.MergeStep
	MatchedWeightPercent float64 `json:"matched_weight_percent"`
}

// DoubtfulFunction is one whose counts are far from its samples.
type DoubtfulFunction struct {
	ID      spd.ID  `json:"id"`
	Name    string  `json:"name"`
	Hits    uint64  `json:"hits"`
	Overlap float64 `json:"overlap_percent"` // of the counts with the samples
}

// loss is a reason for not using samples, in words.
type loss struct {
	text    string
	hits    uint64
	another bool // they are another account of what the used ones tell
}

// NewConversion describes an SPD before anything is done to it.
func NewConversion(operation, file string, f *spd.File) *Conversion {
	c := &Conversion{Operation: operation, File: file, Inputs: []ConvertedInput{}, Samples: SampleUse{Dropped: map[string]uint64{}},
		DensityFactor: 1, Binary: f.Header.Binary, GUID: f.Header.GUID.String(), Age: f.Header.Age}
	c.CoverageBefore = coverageOf(f)
	c.After(f)
	return c
}

func coverageOf(f *spd.File) Coverage {
	s := f.Summary()
	return Coverage{s.CoveredBlocks, s.Blocks, 100 * s.BlockCoverage()}
}

// After describes the result.
func (c *Conversion) After(f *spd.File) {
	c.CoverageAfter = coverageOf(f)
	c.Imported = f.Header.Flags&spd.HeaderProfiled != 0
	c.Binary, c.GUID, c.Age = f.Header.Binary, f.Header.GUID.String(), f.Header.Age
	c.Hot, c.Functions, c.Generation = 0, 0, 0
	c.MachineCode, c.CoverageCounted = f.OfMachineCode(), Coverage{}
	var hot, all uint64
	threshold := f.Header.HotThreshold
	for m := range f.Modules {
		c.Functions += len(f.Modules[m].Functions)
		c.Generation = max(c.Generation, f.Modules[m].Generation)
		for i := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[i]
			if covered := fn.Covered(); covered > 0 {
				c.CoverageCounted.Covered += covered
				c.CoverageCounted.Blocks += len(fn.Blocks)
			}
			var own uint64
			for k := range fn.Blocks {
				own += uint64(fn.Blocks[k].OwnInstructions())
			}
			all += own
			if threshold > 0 && fn.Weight() >= threshold {
				c.Hot++
				hot += own
			}
		}
	}
	c.HotInstructions = share(hot, all)
	c.HotThreshold, c.DynamicExecution = threshold, f.Header.DynamicInstructions
	c.CoverageCounted.Percent = share(uint64(c.CoverageCounted.Covered), uint64(c.CoverageCounted.Blocks))
	c.Verdict = verdict(c.CoverageAfter, c.Imported && !c.MachineCode)
}

// verdict judges the coverage as Microsoft's documentation does, where it
// applies: to profiles of what link.exe compiles.
func verdict(coverage Coverage, applies bool) string {
	switch {
	case !applies:
		return "none"
	case coverage.Percent > 70:
		return "excellent"
	case coverage.Percent < 40:
		return "limiting"
	}
	return "fair"
}

// Sampled describes what was made of the samples. Elsewhere is the number of
// samples in other binaries.
func (c *Conversion) Sampled(r *correlate.Result, touched int, elsewhere uint64, f *spd.File) {
	c.hasSamples = true
	c.Mode, c.SingleBranches = r.Mode.String(), r.SingleBranches
	if r.IPEvent != 0 {
		c.IPEvent = opcodeName(byte(r.IPEvent))
	}
	c.Samples.Used = r.Used
	var lost uint64
	for _, l := range r.Dropped {
		another := l.Reason == correlate.OtherMode || l.Reason == correlate.OtherEvent
		c.drop(strings.ReplaceAll(l.Reason.String(), " ", "_"), loss{l.Reason.String(), l.Hits, another})
		if !another {
			lost += l.Hits
		}
	}
	if elsewhere > 0 {
		c.drop("other_binaries", loss{"in other binaries", elsewhere, false})
	}
	if lost > 0 {
		c.Samples.DroppedPercent = 100 * float64(lost) / (float64(lost) + float64(r.Used))
	}
	if len(r.Branches) > 0 {
		c.branches = r.Branches
		c.Branches = map[string]uint64{}
		for _, b := range r.Branches {
			c.Branches[strings.ReplaceAll(b.Kind.String(), " ", "_")] = b.Hits
		}
	}
	c.FunctionsTouched = touched
	c.FlowCorrection = 100 * r.Correction
	c.Unreached, c.Trapped = 100*r.Unreached, 100*r.Trapped
	c.timed = r.SampledTime()
	c.Density, c.DensityFactor = r.Density.Hits, max(r.Density.Factor, 1)
	c.doubt(r, f)
}

func (c *Conversion) drop(name string, l loss) {
	c.Samples.Dropped[name] = l.hits
	c.losses = append(c.losses, l)
}

// maxDoubts bounds the list of doubtful functions; more are of no help.
const maxDoubts = 20

// doubt lists the functions whose counts are far from the samples, those with
// most samples first.
func (c *Conversion) doubt(r *correlate.Result, f *spd.File) {
	doubtful := make([]bool, len(r.Functions))
	for _, i := range r.FellBack {
		doubtful[i] = true
	}
	next := 0
	for m := range f.Modules {
		for i := range f.Modules[m].Functions {
			if doubtful[next] {
				fn, n := &f.Modules[m].Functions[i], &r.Functions[next]
				c.Doubts = append(c.Doubts, DoubtfulFunction{fn.ID, fn.Name, n.Hits, 100 * n.Quality.Overlap})
			}
			next++
		}
	}
	c.Doubtful = len(c.Doubts)
	slices.SortStableFunc(c.Doubts, func(a, b DoubtfulFunction) int { return cmp.Compare(b.Hits, a.Hits) })
	c.Doubts = c.Doubts[:min(len(c.Doubts), maxDoubts)]
}

// Merged describes an SPD of a merge.
func Merged(file string, f *spd.File, s profile.MergeStep) MergedInput {
	return MergedInput{File: file, GUID: f.Header.GUID.String(), Age: f.Header.Age, MergeStep: s,
		MatchedWeightPercent: share(s.MatchedWeight, s.Weight)}
}

// WriteText prints the result for people.
func (c *Conversion) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	t.line("%s: %s %s age %d, generation %d", c.File, printable(c.Binary), c.GUID, c.Age, c.Generation)
	for i := range c.Merged {
		t.merged(&c.Merged[i], i == 0)
	}
	if c.hasSamples {
		c.writeSamples(t)
	}
	if c.Retired > 0 {
		t.line("Retired                 : %d/%d of the counts before", c.Retired, profile.MaxRetire)
	}
	for _, x := range []struct {
		when string
		Coverage
	}{{"before", c.CoverageBefore}, {"after", c.CoverageAfter}} {
		if c.Operation == "summary" && !c.hasSamples && x.when == "before" {
			continue
		}
		t.line("Block coverage %-9s: %5.2f%% (%5d/%6d)", "("+x.when+")", x.Percent, x.Covered, x.Blocks)
	}
	switch {
	case c.Imported && c.MachineCode:
		n := c.CoverageCounted
		t.line("  functions with counts : %5.2f%% (%5d/%6d); the others are of the whole image, with libraries and runtime", n.Percent, n.Covered, n.Blocks)
		t.line("Hot functions           : %d of %d, with %.2f%% of the instructions, make up 99%% of the executed ones", c.Hot, c.Functions, c.HotInstructions)
	case c.Imported:
		t.line("Coverage verdict        : %s", verdictText[c.Verdict])
		t.line("Compiled for speed      : %d of %d functions with %.2f%% of the instructions, for 99%% of the executed ones", c.Hot, c.Functions, c.HotInstructions)
	default:
		t.line("Profile                 : none, nothing was imported yet")
	}
	if c.DensityFactor > 1 {
		t.line("Compiler may be conservative on some hot functions due to sparse sample coverage.")
		t.line("SPGO is estimated to optimize better if sample density is increased to %.1fx of current level.", c.DensityFactor)
		t.line("Sample density can be increased by sampling for longer period, or increasing sample rate.")
	}
	for _, name := range c.Ignored {
		t.line("Ignored                 : %s", name)
	}
	if c.Output == "" {
		t.line("Nothing was written")
	} else {
		t.line("Written                 : %s", c.Output)
	}
	return t.err
}

var verdictText = map[string]string{
	"excellent": "excellent (above 70%)",
	"fair":      "fair (40% to 70%)",
	"limiting":  "limiting (below 40%): profile a wider workload",
}

func (c *Conversion) writeSamples(t *textWriter) {
	event := ""
	if c.IPEvent != "" {
		event = " of event " + c.IPEvent
	}
	if c.Mode == correlate.LBR.String() {
		event = "; each branch of a stack counts as a sample"
	}
	t.line("Mode                    : %s%s", c.Mode, event)
	if c.SingleBranches {
		t.line("  the branches are single ones, which do not tell how long code ran between them; /mode:LBR takes them")
	}
	for _, in := range c.Inputs {
		weight := ""
		if in.Weight != 1 {
			weight = fmt.Sprintf(", weight %d", in.Weight)
		}
		if in.NormalizedWeight != 0 {
			weight += fmt.Sprintf(", a sample counts %.4g", in.NormalizedWeight)
		}
		t.line("  %s: %s samples%s", in.File, Count(in.Samples), weight)
	}
	total := float64(c.Samples.Used)
	for _, l := range c.losses {
		if !l.another {
			total += float64(l.hits)
		}
	}
	part := func(n uint64) float64 {
		if total == 0 {
			return 0
		}
		return 100 * float64(n) / total
	}
	t.line("Samples used            : %s (%.2f%%)", Count(c.Samples.Used), part(c.Samples.Used))
	for _, l := range c.losses {
		if l.another {
			t.line("  %-22s: %s", l.text, Count(l.hits))
			continue
		}
		t.line("  %-22s: %s (%.2f%%)", l.text, Count(l.hits), part(l.hits))
	}
	if len(c.branches) > 0 {
		var kinds []string
		for _, b := range c.branches {
			kinds = append(kinds, fmt.Sprintf("%s %s", b.Kind, Count(b.Hits)))
		}
		t.line("Branches                : %s", strings.Join(kinds, ", "))
	}
	t.line("Functions touched       : %d of %d", c.FunctionsTouched, c.Functions)
	note := ""
	if c.timed {
		note = "; time was sampled, so that slow instructions count for more"
	}
	t.line("Flow correction         : %.2f%% of the weight%s", c.FlowCorrection, note)
	if c.Unreached > 0 {
		t.line("  lost, not reached     : %.2f%%, in blocks that no edges lead to from the entry", c.Unreached)
	}
	if c.Trapped > 0 {
		t.line("  lost, no way on       : %.2f%%, in blocks that no edges lead on from to the exit", c.Trapped)
	}
}

func (t *textWriter) merged(m *MergedInput, first bool) {
	if first {
		t.line("  %s: age %d %s, %s", m.File, m.Age, m.GUID, counted(uint64(m.Functions), "function"))
		return
	}
	t.line("  %s: age %d %s, %s: %d matched with %.2f%% of the older weight, %d changed, %d with another flow graph, %d new, %d only in older ones",
		m.File, m.Age, m.GUID, counted(uint64(m.Functions), "function"), m.Matched, m.MatchedWeightPercent, m.Changed, m.Reshaped, m.OnlyNewer, m.OnlyOlder)
	if m.LostSites > 0 {
		t.line("    %d indirect call sites with hits are gone", m.LostSites)
	}
}
