package flow

import (
	"math/rand/v2"
	"testing"
)

// TestSampled compares sampled and inferred profiles of random programs with
// the truth, on average. The figures are what was measured, less .002; random
// numbers are the same in every run.
func TestSampled(t *testing.T) {
	for _, c := range []struct {
		name             string
		programs, blocks int
		codeless         float64
		hits             float64 // of instruction pointers
		windows          int     // of branches
		raw              float64 // overlap of the sampled blocks at most
		block, edge      float64 // overlap of the inferred at least
	}{
		{name: "0.3 hits per block", programs: 60, blocks: 100, hits: 30, raw: .71, block: .851, edge: .783},
		{name: "1 hit per block", programs: 60, blocks: 100, hits: 100, raw: .84, block: .917, edge: .875},
		{name: "3 hits per block", programs: 60, blocks: 100, hits: 300, raw: .91, block: .951, edge: .924},
		{name: "10 hits per block", programs: 60, blocks: 100, hits: 1000, raw: .95, block: .971, edge: .956},
		{name: "100 hits per block", programs: 60, blocks: 100, hits: 1e4, raw: .985, block: .990, edge: .985},
		{name: "10,000 hits per block", programs: 60, blocks: 100, hits: 1e6, raw: .9984, block: .9990, edge: .9984},
		{name: "1 hit per block, codeless blocks", programs: 60, blocks: 100, codeless: .15, hits: 100, raw: .862, block: .919, edge: .866},
		{name: "10 hits per block, codeless blocks", programs: 60, blocks: 100, codeless: .15, hits: 1000, raw: .952, block: .971, edge: .944},
		{name: "large function", programs: 5, blocks: 2000, hits: 2e4, raw: .976, block: .986, edge: .982},

		// Branch stacks conserve flow but for their ends: nothing to gain,
		// but nothing may be lost.
		{name: "10 windows of branches", programs: 60, blocks: 100, windows: 10, raw: .89, block: .8897, edge: .8762},
		{name: "100 windows of branches", programs: 60, blocks: 100, windows: 100, raw: .968, block: .9672, edge: .9624},
		{name: "1000 windows of branches", programs: 60, blocks: 100, windows: 1000, raw: .99, block: .9891, edge: .9876},
	} {
		t.Run(c.name, func(t *testing.T) {
			var raw, rawEdge, block, edge float64
			for seed := range uint64(c.programs) {
				p := newProgram(seed, c.blocks, c.codeless)
				r := rand.New(rand.NewPCG(seed, 7))
				if c.windows > 0 {
					p.sampleBranches(r, c.windows)
					counts := make([]uint64, len(p.g.Edges))
					for i, e := range p.g.Edges {
						counts[i] = e.Obs.Count
					}
					rawEdge += p.edgeOverlap(counts) / float64(c.programs)
				} else {
					p.sampleIP(r, c.hits)
				}
				res := mustInfer(t, p.g)
				if res.FellBack {
					t.Errorf("program %d: fell back with overlap %.3f, noise %.3f", seed, res.Overlap, res.Noise)
				}
				raw += p.blockOverlap(func(v int) uint64 { return p.g.Blocks[v].Count }) / float64(c.programs)
				block += p.blockOverlap(func(v int) uint64 { return res.Blocks[v] }) / float64(c.programs)
				edge += p.edgeOverlap(res.Edges) / float64(c.programs)
			}
			t.Logf("sampled: blocks %.4f, edges %.4f; inferred: blocks %.4f, edges %.4f", raw, rawEdge, block, edge)
			if raw > c.raw || block < c.block || edge < c.edge || block < raw || edge < rawEdge {
				t.Errorf("want blocks from at most %v to at least %v, edges at least %v, and none worse than sampled", c.raw, c.block, c.edge)
			}
		})
	}
}

// TestMissingEdges takes the edges of a dispatch from an interpreter.
func TestMissingEdges(t *testing.T) {
	const programs = 30
	for _, c := range []struct {
		name          string
		missing       float64
		counts, loose float64 // overlap with the truth at least
		countsMost    float64 // and at most
		fellBack      int     // programs at least
	}{
		{name: "complete", missing: 0, counts: .984, loose: .984, countsMost: 1},
		{name: "one third", missing: .3, counts: .70, loose: .95, countsMost: .80, fellBack: 26},
		{name: "all", missing: 1, counts: .05, loose: .984, countsMost: .2, fellBack: 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			var raw, counts, loose float64
			fell := 0
			for seed := range uint64(programs) {
				p, dispatch := newInterpreter(seed, 30)
				r := rand.New(rand.NewPCG(seed, 7))
				p.sampleIP(r, 100*float64(len(p.block)))
				p.g.Leaky = true
				edges := p.g.Edges
				p.g.Edges = nil
				for _, e := range edges {
					if e.From != dispatch || r.Float64() >= c.missing {
						p.g.Edges = append(p.g.Edges, e)
					}
				}
				res := mustInfer(t, p.g)
				if res.FellBack {
					fell++
				}
				raw += p.blockOverlap(func(v int) uint64 { return p.g.Blocks[v].Count }) / programs
				counts += p.blockOverlap(func(v int) uint64 { return res.Blocks[v] }) / programs
				loose += p.blockOverlap(func(v int) uint64 { return res.Loose.Blocks[v] }) / programs
			}
			t.Logf("sampled %.4f, counts %.4f, loose %.4f, fell back %d of %d", raw, counts, loose, fell, programs)
			if counts < c.counts || counts > c.countsMost || loose < c.loose || fell < c.fellBack || c.missing == 0 && fell > 0 {
				t.Errorf("want counts %v to %v, loose %v, fallen back at least %d", c.counts, c.countsMost, c.loose, c.fellBack)
			}
		})
	}
}
