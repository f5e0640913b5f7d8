package flow

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Without structure, and with counts that no flow comes near.
func BenchmarkInferRandom(b *testing.B) {
	for _, blocks := range []int{1000, 10000, 50000} {
		b.Run(fmt.Sprint(blocks), func(b *testing.B) {
			g := unstructuredGraph(rand.New(rand.NewPCG(11, 12)), blocks)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Infer(b.Context(), g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkInfer(b *testing.B) {
	for _, blocks := range []int{20, 200, 2000, 50000} {
		for _, c := range []struct {
			name   string
			sample func(p *program, r *rand.Rand)
		}{
			{"ip", func(p *program, r *rand.Rand) { p.sampleIP(r, 10*float64(blocks)) }},
			{"branches", func(p *program, r *rand.Rand) { p.sampleBranches(r, blocks) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, blocks), func(b *testing.B) {
				p := newProgram(1, blocks, .1)
				c.sample(p, rand.New(rand.NewPCG(2, 3)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Infer(b.Context(), p.g); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(p.g.Blocks)), "ns/block")
			})
		}
	}
}
