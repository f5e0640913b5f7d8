package traceexport

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// callStacks lists stacks of addresses, the innermost first, with what they
// count: call stacks, then the addresses sampled that are not the innermost
// of a stack, or in a file with branches only, the branches. Return addresses
// are moved back into their call instruction.
//
// An SPT keeps how often each caller was seen above each callee, and stacks
// that have these sums: pairs are exact, longer stacks need not have occurred.
func (s *Source) callStacks(do func(rvas []uint32, hits uint64) error) (kind string, err error) {
	kind = "samples"
	sampled, inner, branches := map[uint32]uint64{}, map[uint32]uint64{}, map[uint32]uint64{}
	var frames []uint32
	err = s.records(func(r *spt.Record) error {
		hits := r.Hits()
		switch {
		case r.Op == spt.OpETWCallStack:
			add(inner, r.RVAs[0], hits)
			frames = append(frames[:0], r.RVAs[0])
			for _, ret := range r.RVAs[1:] {
				frames = append(frames, max(ret, 1)-1)
			}
			return do(frames, hits)
		case r.Op == spt.OpLBR:
			for _, p := range r.Pairs {
				add(branches, p.From, hits)
			}
		case r.Op != spt.OpL1ICacheMiss && r.Op != spt.OpL1DCacheMiss:
			for _, rva := range r.RVAs {
				add(sampled, rva, hits)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(sampled)+len(inner) == 0 {
		kind, sampled = "branches", branches
	}
	for _, rva := range sortedKeys(sampled) {
		if rest := sampled[rva] - min(sampled[rva], inner[rva]); rest > 0 {
			if err := do([]uint32{rva}, rest); err != nil {
				return "", err
			}
		}
	}
	return kind, nil
}

func sortedKeys(m map[uint32]uint64) []uint32 {
	keys := make([]uint32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// name returns the functions at an address, innermost first, or the binary
// and the address where nothing is known.
func (s *Source) name(binary string, rva uint32) []debuginfo.Frame {
	if s.Name != nil {
		if frames := s.Name(rva); len(frames) > 0 {
			return frames
		}
	}
	return []debuginfo.Frame{{Function: fmt.Sprintf("%s+%#x", binary, rva)}}
}

// Folded writes a line per stack, outermost function first, with the number of
// samples, as flame graphs are made from. Binary names what has no function.
func Folded(w io.Writer, s *Source, binary string) (Stats, error) {
	var stats Stats
	lines := map[string]uint64{}
	_, err := s.callStacks(func(rvas []uint32, hits uint64) error {
		var names []string
		for _, rva := range rvas {
			for _, f := range s.name(binary, rva) {
				// A line ends at the last space, and frames at semicolons.
				names = append(names, strings.NewReplacer(";", ":", "\n", " ").Replace(f.Function))
			}
		}
		slices.Reverse(names)
		add(lines, strings.Join(names, ";"), hits)
		stats.Samples = binfmt.SatAdd(stats.Samples, hits)
		return nil
	})
	if err != nil {
		return stats, err
	}
	texts := make([]string, 0, len(lines))
	for text := range lines {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	out := bufio.NewWriter(w)
	for _, text := range texts {
		fmt.Fprintf(out, "%s %d\n", text, lines[text])
	}
	stats.Records = uint64(len(texts))
	return stats, out.Flush()
}

// PProf writes a profile of the addresses, for go tool pprof. Mapping
// describes the binary; its Start is set to the base.
func PProf(w io.Writer, s *Source, mapping profile.Mapping) (Stats, error) {
	var stats Stats
	mapping.ID, mapping.Start = 1, s.Base
	mapping.HasFunctions, mapping.HasInlineFrames = s.Name != nil, s.Name != nil
	mapping.HasFilenames, mapping.HasLineNumbers = s.Name != nil, s.Name != nil
	p := &profile.Profile{Mapping: []*profile.Mapping{&mapping}}
	locations := map[uint32]*profile.Location{}
	functions := map[debuginfo.Frame]*profile.Function{}
	locate := func(rva uint32) *profile.Location {
		if l := locations[rva]; l != nil {
			return l
		}
		l := &profile.Location{ID: uint64(len(p.Location) + 1), Mapping: &mapping, Address: s.Base + uint64(rva)}
		mapping.Limit = max(mapping.Limit, l.Address+1)
		for _, f := range s.name(mapping.File, rva) {
			key := debuginfo.Frame{Function: f.Function, File: f.File, StartLine: f.StartLine}
			fn := functions[key]
			if fn == nil {
				fn = &profile.Function{ID: uint64(len(p.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File, StartLine: int64(f.StartLine)}
				functions[key] = fn
				p.Function = append(p.Function, fn)
			}
			l.Line = append(l.Line, profile.Line{Function: fn, Line: int64(f.Line)})
		}
		locations[rva] = l
		p.Location = append(p.Location, l)
		return l
	}
	kind, err := s.callStacks(func(rvas []uint32, hits uint64) error {
		sample := &profile.Sample{Value: []int64{int64(min(hits, 1<<63-1))}}
		for _, rva := range rvas {
			sample.Location = append(sample.Location, locate(rva))
		}
		p.Sample = append(p.Sample, sample)
		stats.Samples = binfmt.SatAdd(stats.Samples, hits)
		return nil
	})
	if err != nil {
		return stats, err
	}
	stats.Records = uint64(len(p.Sample))
	p.SampleType = []*profile.ValueType{{Type: kind, Unit: "count"}}
	return stats, p.Write(w)
}
