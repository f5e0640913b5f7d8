package walks

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkDecompose(b *testing.B) {
	for _, tokens := range []int{500, 5000, 50_000} {
		b.Run(fmt.Sprintf("tokens=%d", tokens), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			c := program(r, tokens).walks(r, 20*tokens, tokens, 32)
			visits, trans := c.counts()
			var report *Result
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if report, err = Decompose(visits, trans, 255, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(trans)), "transitions")
			b.ReportMetric(float64(report.Records), "records")
			b.ReportMetric(float64(report.Bytes), "bytes")
			b.ReportMetric(float64(c.mergedBytes()), "bytes-merged")
		})
	}
}
