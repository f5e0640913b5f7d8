package flow

import (
	"context"
	"math"
	"math/bits"
)

const (
	// leakFactor times the mean confidence of the observed blocks is what a
	// unit of flow through a leak costs: about what it costs to add it to one
	// block that nothing speaks for.
	leakFactor = 1
	// If 1-Overlap exceeds misfit + noiseFactor*Noise, the graph or the
	// measurements must be wrong. The factor keeps functions with few samples
	// out.
	misfit      = .05
	noiseFactor = 2
)

// Infer returns the consistent profile that fits the measurements of g best.
// It fails only if g is not a graph (indexes or the unit out of range), or when
// ctx is done.
func Infer(ctx context.Context, g *Graph) (*Result, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	l := newLayout(g)
	f := fitting{layout: l, evidence: newEvidence(g)}
	r := &Result{}
	s, err := f.fit(ctx, false)
	if err != nil {
		return nil, err
	}
	f.judge(r, s)
	if r.FellBack {
		if s, err = f.rescale(ctx, s); err != nil {
			return nil, err
		}
		f.judge(r, s)
		r.FellBack = true
	}
	parts := []stream{s}
	if g.Leaky {
		loose, err := f.fit(ctx, true)
		if err != nil {
			return nil, err
		}
		r.LooseOverlap = f.overlap(loose)
		parts = append(parts, loose)
	}
	f.publish(r, parts)
	f.join(r)
	return r, nil
}

// A fitting is a graph with everything that the fits of it share.
type fitting struct {
	*layout
	*evidence
}

// fit returns the circulation that minimizes the objective.
func (f fitting) fit(ctx context.Context, leaky bool) (stream, error) {
	return newModel(f.layout, f.costs(f.layout, leaky)).flow(ctx)
}

// rescale returns a circulation near s times the factor that gives it the
// measured weight.
func (f fitting) rescale(ctx context.Context, s stream) (stream, error) {
	factor := f.factor(s)
	if factor <= 1 {
		return s, nil
	}
	scaled := func(xs []int64) []shape {
		shapes := make([]shape, len(xs))
		for i, x := range xs {
			shapes[i] = shape{nearest, int64(float64(x) * factor), 1}
		}
		return shapes
	}
	return newModel(f.layout, &costs{
		block: scaled(s.block),
		edge:  scaled(s.edge),
		back:  scaled([]int64{s.entry})[0],
		unit:  f.unit,
	}).flow(ctx)
}

// factor returns measured weight / weight of s, but no more than what makes
// the hottest observed block of s as hot as the hottest measured one and what
// keeps flows within their bound.
func (f fitting) factor(s stream) float64 {
	measured, inferred, hottest, hot := 0.0, 0.0, 0.0, 0.0
	f.each(s, func(c, x, n float64) {
		measured += float64(n * c)
		inferred += float64(n * x)
		hottest = max(hottest, c)
		hot = max(hot, x)
	})
	if hot == 0 {
		return 1
	}
	total := float64(s.entry)
	for _, x := range s.block {
		total += float64(x)
	}
	for _, x := range s.edge {
		total += float64(x)
	}
	return min(measured/inferred, hottest/hot, f.most/total)
}

// each calls do with the measured flow, the flow of s and the confidence of
// every observed block.
func (f fitting) each(s stream, do func(c, x, n float64)) {
	for v, o := range f.g.Blocks {
		if o.Known() {
			do(float64(f.block[v]), float64(s.block[v]), o.confidence())
		}
	}
}

// overlap returns the sum over the observed blocks of the lesser of the shares
// of the weight that were measured and inferred.
func (f fitting) overlap(s stream) float64 {
	measured, inferred, sum := 0.0, 0.0, 0.0
	f.each(s, func(c, x, n float64) {
		measured += float64(n * c)
		inferred += float64(n * x)
	})
	if measured == 0 && inferred == 0 {
		return 1
	}
	if measured == 0 || inferred == 0 {
		return 0
	}
	f.each(s, func(c, x, n float64) {
		sum += float64(n * min(c/measured, x/inferred))
	})
	return sum
}

// judge fills in the qualities of r that tell how well s fits.
func (f fitting) judge(r *Result, s stream) {
	observed, inferred, off, noise := 0.0, 0.0, 0.0, 0.0
	f.each(s, func(c, x, n float64) {
		observed += float64(n * c / f.unit)
		inferred += float64(n * x / f.unit)
		off += float64(n * math.Abs(x-c) / f.unit)
	})
	f.each(s, func(c, x, n float64) {
		// What was hit by chance tells as much as what was not: with one hit
		// on a hundred blocks nearly all of them are far from their share.
		spread := halfDeviation(n * c / f.unit)
		if inferred > 0 {
			spread = max(spread, halfDeviation(n*x/f.unit*(observed/inferred)))
		}
		noise += spread
	})
	r.Observed, r.Correction, r.Noise = observed, 0, 0
	if observed > 0 {
		r.Correction = off / observed
		r.Noise = noise / observed
	}
	r.Overlap = f.overlap(s)
	r.FellBack = 1-r.Overlap > misfit+noiseFactor*r.Noise

	r.Unexplained, r.UnexplainedEdges, r.Unreached = 0, 0, 0
	for v, o := range f.g.Blocks {
		if f.runs(int32(v)) {
			continue
		}
		hits := f.hits(o, f.block[v])
		r.Unexplained += hits
		if !f.reached[v] {
			r.Unreached += hits
		}
	}
	for i, e := range f.g.Edges {
		if !f.carries(int32(i)) {
			r.UnexplainedEdges += f.hits(e.Obs, f.edge[i])
		}
	}
}

// halfDeviation returns about half the mean deviation of a number of hits with
// the given mean.
func halfDeviation(mean float64) float64 {
	return min(mean, math.Sqrt(mean/(2*math.Pi)))
}

// hits returns the weight of a flow that was measured as o.
func (f fitting) hits(o Obs, x int64) float64 {
	return float64(o.confidence() * float64(x) / f.unit)
}

// publish turns flows into the counts of r: the first stream into Counts, the
// second, if any, into Loose.
func (f fitting) publish(r *Result, parts []stream) {
	greatest := int64(0)
	for _, s := range parts {
		greatest = max(greatest, s.entry)
		for _, x := range s.block {
			greatest = max(greatest, x)
		}
	}
	fits := uint(63 - bits.Len64(uint64(greatest)))
	r.Shift = f.shift - min(f.shift, fits)
	up := f.shift - r.Shift
	raise := func(xs []int64) []uint64 {
		counts := make([]uint64, len(xs))
		for i, x := range xs {
			counts[i] = uint64(x) << up
		}
		return counts
	}
	r.Entry = uint64(parts[0].entry) << up
	r.Counts = Counts{raise(parts[0].block), raise(parts[0].edge)}
	if len(parts) > 1 {
		r.Loose = Counts{raise(parts[1].block), raise(parts[1].edge)}
	}
}
