package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/golden"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// ran is what one instruction of a program really did.
type ran struct {
	rva             uint32
	executed, taken float64 // taken: how often it branched away
}

// instructionsOf reads the exact counts of a program's instructions, ascending.
func instructionsOf(t *testing.T, program string) []ran {
	t.Helper()
	img, err := image.Open(corpus.Path(t, "programs", program+".elf"))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	f, err := os.Open(corpus.Path(t, "programs", program+".truth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []ran
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		a, err := strconv.ParseUint(fields[0], 0, 64)
		if err != nil {
			continue // the heading
		}
		executed, err1 := strconv.ParseFloat(fields[2], 64)
		taken, err2 := strconv.ParseFloat(fields[3], 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("%q", lines.Text())
		}
		list = append(list, ran{uint32(a - img.Base), executed, taken})
	}
	return list
}

// aggregated writes the SPT of a recording of a program.
func aggregated(t *testing.T, program, recording, output string, keepBias bool) {
	t.Helper()
	aggregateFile(t, corpus.Path(t, "programs", recording), corpus.Path(t, "programs"), program+".elf", output, keepBias)
}

// aggregateFile writes the SPT of a recording, of one binary in a folder.
func aggregateFile(t *testing.T, recording, folder, binary, output string, keepBias bool) {
	t.Helper()
	profile := aggregate.New(spt.MaxEntries)
	var shards []*aggregate.Shard
	newSink := func() sample.Sink {
		shards = append(shards, profile.NewShard())
		return shards[len(shards)-1]
	}
	o := &ingest.Options{Workers: 1, Binaries: []string{binary}, ImagePath: []string{folder}, KeepBias: keepBias}
	ingest.ReadAll(t.Context(), []string{recording}, nil, o, profile, newSink, func(_ []*ingest.Facts, err error) {
		if err != nil {
			t.Fatal(err)
		}
	})
	for _, s := range shards {
		profile.Merge(s)
	}
	var b bytes.Buffer
	if _, err := profile.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(output, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func succeed(t *testing.T, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := command().Execute(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != 0 {
		t.Fatalf("spdconvert %s: exit %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
}

// shares sums up the smaller shares of two lists of weights, in percent.
func shares(a, b []float64) float64 {
	var x, y, sum float64
	for i := range a {
		x += a[i]
		y += b[i]
	}
	for i := range a {
		sum += min(a[i]/x, b[i]/y)
	}
	return 100 * sum
}

// compared holds overlaps with the truth: of what was imported, and for
// addresses of hits divided by instructions, with each block's count divided
// among its edges equally, and in proportion to the counts of the blocks behind.
type compared struct{ blocks, edges, entries, counted, equal, proportional float64 }

// compareWith compares an imported SPD with what ran. Blocks weigh by their
// instructions; instructions that never ran have the truth 0. Edges are those
// between blocks with code, but for indirect jumps: counts of instructions do
// not tell where those went.
func compareWith(t *testing.T, f *spd.File, truth []ran, hits map[uint32]uint64) compared {
	t.Helper()
	at := func(rva uint32) int { return sort.Search(len(truth), func(i int) bool { return truth[i].rva >= rva }) }
	var blocks, trueBlocks, edges, trueEdges, entries, trueEntries, counted, equal, proportional []float64
	for i := range f.Modules[0].Functions {
		fn := &f.Modules[0].Functions[i]
		if fn.RVA == 0 {
			continue
		}
		entry := 0.0
		if k := at(fn.RVA); k < len(truth) && truth[k].rva == fn.RVA {
			entry = truth[k].executed
		}
		entries, trueEntries = append(entries, float64(fn.EntryCount())), append(trueEntries, entry)
		measured := make([]float64, len(fn.Blocks)) // hits by instruction
		last := make([]ran, len(fn.Blocks))         // last instruction
		for b := range fn.Blocks {
			bl := &fn.Blocks[b]
			if bl.Instructions == 0 {
				continue
			}
			n, first := float64(bl.Instructions), 0.0
			for r, code := range bl.Ranges {
				start := fn.RVA + code.Start
				for k := at(start); k < len(truth) && truth[k].rva < start+code.Length; k++ {
					if r == 0 && truth[k].rva == start {
						first = truth[k].executed
					}
					last[b] = truth[k]
					measured[b] += float64(hits[truth[k].rva]) / n
				}
			}
			blocks, trueBlocks = append(blocks, float64(bl.Count)*n), append(trueBlocks, first*n)
			counted = append(counted, measured[b]*n)
		}
		for b := range fn.Blocks {
			out := fn.Blocks[b].Edges
			if fn.Blocks[b].Instructions == 0 || len(out) > 2 || len(out) == 2 && out[0].To == out[1].To {
				continue
			}
			if len(out) == 2 && fallsFirst(fn, b) {
				continue // a call that may throw: the way on comes first
			}
			behind := 0.0
			for _, e := range out {
				behind += measured[e.To-1]
			}
			for k, e := range out {
				if fn.Blocks[e.To-1].Instructions == 0 {
					continue
				}
				want, share := last[b].executed, measured[b]
				if len(out) == 2 {
					want, share = last[b].taken, 0
					if k == 1 {
						want = last[b].executed - last[b].taken
					}
					if behind > 0 {
						share = measured[b] * measured[e.To-1] / behind
					}
				}
				edges, trueEdges = append(edges, float64(e.Count)), append(trueEdges, want)
				equal, proportional = append(equal, measured[b]/float64(len(out))), append(proportional, share)
			}
		}
	}
	c := compared{blocks: shares(blocks, trueBlocks), edges: shares(edges, trueEdges), entries: shares(entries, trueEntries)}
	if hits != nil {
		c.counted, c.equal, c.proportional = shares(counted, trueBlocks), shares(equal, trueEdges), shares(proportional, trueEdges)
	}
	return c
}

// fallsFirst says whether the first edge of a block leads to the code behind it.
func fallsFirst(fn *spd.Function, b int) bool {
	code, to := fn.Blocks[b].Ranges, fn.Blocks[fn.Blocks[b].Edges[0].To-1].Ranges
	return len(code) > 0 && len(to) > 0 && to[0].Start == code[0].Start+code[0].Length
}

// addresses reads the sampled addresses of an SPT.
func addresses(t *testing.T, name string) map[uint32]uint64 {
	t.Helper()
	r, err := spt.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	hits := map[uint32]uint64{}
	for r.Next() {
		for _, rva := range r.Record().RVAs {
			hits[rva] += r.Record().Hits()
		}
	}
	return hits
}

// TestProgramsAccuracy imports the recordings of programs whose every
// instruction was counted into SPDs made of the executables.
func TestProgramsAccuracy(t *testing.T) {
	var table strings.Builder
	var gain, overEqual, overProportional, lost, regained float64
	for _, program := range []string{"wordstat", "minivm", "shapes"} {
		truth := instructionsOf(t, program)
		dir := t.TempDir()
		fresh := filepath.Join(dir, "fresh.spd")
		succeed(t, "-q", "/build:"+corpus.Path(t, "programs", program+".elf"), fresh)
		results := map[string]compared{}
		for _, c := range []struct {
			kind, recording string
			keep            bool
			blocks, entries float64 // at least
		}{
			{"LBR", program + ".data", false, map[string]float64{"wordstat": 99.58, "minivm": 99.79, "shapes": 98.87}[program], 99},
			{"IP", program + ".ip.data", false, 98.7, 97},
			{"LBR by instructions, weighed", program + ".insn.data", false, 97.5, 0},
			{"LBR by instructions, as they are", program + ".insn.data", true, 0, 0},
		} {
			samples, app := filepath.Join(dir, "run.spt"), filepath.Join(dir, "app.spd")
			aggregated(t, program, c.recording, samples, c.keep)
			content, err := os.ReadFile(fresh)
			if err == nil {
				err = os.WriteFile(app, content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			succeed(t, "-q", app, samples)
			f, err := spd.ReadFile(app)
			if err != nil {
				t.Fatal(err)
			}
			for v := range f.Violations() {
				t.Errorf("%s, %s: %v", program, c.kind, v)
			}
			var hits map[uint32]uint64
			if c.kind == "IP" {
				hits = addresses(t, samples)
			}
			got := compareWith(t, f, truth, hits)
			results[c.kind] = got
			if got.blocks < c.blocks || got.entries < c.entries {
				t.Errorf("%s, %s: blocks %.2f, entries %.2f, want at least %.2f and %.2f", program, c.kind, got.blocks, got.entries, c.blocks, c.entries)
			}
			counted, split := "", " | "
			if hits != nil {
				counted, split = fmt.Sprintf("%.2f", got.counted), fmt.Sprintf("%.2f | %.2f", got.equal, got.proportional)
			}
			fmt.Fprintf(&table, "| %s | %s | %s | %.2f | %s | %.2f | %.2f |\n", program, c.kind, counted, got.blocks, split, got.edges, got.entries)
		}
		ip := results["IP"]
		gain += (ip.blocks - ip.counted) / 3
		overEqual += (ip.edges - ip.equal) / 3
		overProportional += (ip.edges - ip.proportional) / 3
		goal, kept, weighed := results["LBR"].blocks, results["LBR by instructions, as they are"].blocks, results["LBR by instructions, weighed"].blocks
		lost += goal - kept
		regained += weighed - kept
	}
	t.Logf("addresses: blocks %.2f points nearer than hits / instructions, edges %.2f and %.2f; weighing regains %.0f %%", gain, overEqual, overProportional, 100*regained/lost)
	if gain < .35 || overEqual < 4 || overProportional < 1.8 || regained < .85*lost {
		t.Errorf("want at least .35, 4 and 1.8 points, and 85 %%")
	}
	const document, begin, end = "../../docs/accuracy.md", "<!-- programs -->\n", "<!-- end of programs -->"
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(old), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table", document)
	}
	head := "| program | samples | blocks, counted | imported | edges, equal shares | in proportion | imported | entries |\n|---|---|---:|---:|---:|---:|---:|---:|\n"
	golden.Check(t, document, []byte(before+begin+head+table.String()+end+after))
}
