package walks

import "math"

// ratios are the schedules that Decompose tries, see [folder.fold]. Small ones
// give fewer bytes for more work, which grows with 1/log(ratio); which of them
// is best is luck.
func (g *graph) ratios() []float64 {
	const budget = 8 << 20 // arcs looked at in all layers
	var octaves float64    // the same for ratio 2
	f := folder{g: g, left: g.flow}
	widest := f.widest()
	for _, c := range g.flow {
		octaves += math.Log2(float64(min(c, widest))) + 1
	}
	var ratios []float64
	work := 0.0
	for _, r := range []float64{1.01, 1.02, 1.03, 1.05, 1.07, 1.1, 1.15, 1.2, 1.4, 2} {
		if w := octaves / math.Log2(r); work+w <= budget || r == 2 && len(ratios) == 0 {
			work += w
			ratios = append(ratios, r)
		}
	}
	return ratios
}
