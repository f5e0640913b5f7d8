package traceexport

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// PerfScript writes branch stacks as `perf script -F ip,brstack` prints them,
// each with a line before it that says how often it counts, as llvm-profgen
// --perfscript takes it. Mispredictions are not in an SPT: all are told as
// predicted.
func PerfScript(w io.Writer, s *Source) (Stats, error) {
	out := bufio.NewWriter(w)
	var stats Stats
	var line []byte
	reversed, err := s.stacks(func(pairs []spt.Pair, hits uint64) error {
		line = strconv.AppendUint(line[:0], hits, 10)
		line = append(line, "\n "...)
		line = strconv.AppendUint(line, s.address(pairs[0].To, external), 16)
		for _, p := range pairs {
			line = append(line, " 0x"...)
			line = strconv.AppendUint(line, s.address(p.From, external), 16)
			line = append(line, "/0x"...)
			line = strconv.AppendUint(line, s.address(p.To, external), 16)
			line = append(line, "/P/-/-/0"...)
		}
		line = append(line, '\n')
		stats.Records++
		stats.Samples = binfmt.SatAdd(stats.Samples, hits)
		_, err := out.Write(line)
		return err
	})
	stats.Reversed = reversed
	if err != nil {
		return stats, err
	}
	return stats, out.Flush()
}

// Addresses that stand for everything outside of the binary.
const (
	external = 1 // in llvm-profgen
	unknown  = 0 // in perf2bolt
)

// address is the address of an RVA, or the given one for what is outside.
func (s *Source) address(rva uint32, elsewhere uint64) uint64 {
	if rva == outside {
		return elsewhere
	}
	return s.Base + uint64(rva)
}

// Unsymbolized writes sums of straight code and of branches as llvm-profgen
// --unsymbolized-profile takes them. TextBase is the RVA of the first page
// that is executable: the tool counts addresses from there.
func Unsymbolized(w io.Writer, s *Source, textBase uint32) (Stats, error) {
	branches, runs, stats, err := s.sums()
	if err != nil {
		return stats, err
	}
	// The tool has no word for branches that leave the binary.
	branches = slices.DeleteFunc(branches, func(b counted) bool { return b.to == outside })
	stats.Records = uint64(len(branches) + len(runs))
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%d\n", len(runs))
	for _, r := range runs {
		fmt.Fprintf(out, "%x-%x:%d\n", r.from-textBase, r.to-textBase, r.hits)
	}
	fmt.Fprintf(out, "%d\n", len(branches))
	for _, b := range branches {
		from := uint64(b.from) - uint64(textBase)
		if b.from == outside {
			from = external - s.Base - uint64(textBase)
		}
		fmt.Fprintf(out, "%x->%x:%d\n", from, b.to-textBase, b.hits)
	}
	return stats, out.Flush()
}

// PreAggregated writes sums of branches (B) and of straight code (F) as
// perf2bolt -pa takes them. Mispredictions are not in an SPT: they are 0.
func PreAggregated(w io.Writer, s *Source) (Stats, error) {
	branches, runs, stats, err := s.sums()
	if err != nil {
		return stats, err
	}
	stats.Records = uint64(len(branches) + len(runs))
	out := bufio.NewWriter(w)
	for _, b := range branches {
		fmt.Fprintf(out, "B %x %x %d 0\n", s.address(b.from, unknown), s.address(b.to, unknown), b.hits)
	}
	for _, r := range runs {
		fmt.Fprintf(out, "F %x %x %d\n", s.Base+uint64(r.from), s.Base+uint64(r.to), r.hits)
	}
	return stats, out.Flush()
}
