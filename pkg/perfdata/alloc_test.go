package perfdata

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/spgo-tools/spgo/internal/golden"
)

// TestHotLoops counts what is in files, and the allocations of a walk over all
// records and of decoding all samples for each record that a longer file has
// more.
func TestHotLoops(t *testing.T) {
	var table bytes.Buffer
	fmt.Fprintln(&table, "case\tbytes\trecords\tsamples\tbranches\tallocations per record\tper sample")
	for _, c := range benchCases {
		const n = 2000
		small, large := loopsOf(t, lbrFile(t, n, c.depth, c.opts)), loopsOf(t, lbrFile(t, 3*n, c.depth, c.opts))
		fmt.Fprintf(&table, "%s\t%d\t%d\t%d\t%d\t%.2f\t%.2f\n", c.name, large.bytes, large.records, large.samples, large.branches,
			max(0, large.walk-small.walk)/float64(large.records-small.records), max(0, large.decode-small.decode)/float64(large.samples-small.samples))
	}
	golden.Check(t, "testdata/hotloops.golden", table.Bytes())
}

type loops struct {
	bytes, records, samples, branches int
	walk, decode                      float64 // allocations
}

func loopsOf(t *testing.T, data []byte) (l loops) {
	f := openBytes(t, data)
	l.bytes = len(data)
	walk := func() *Index {
		l.records = 0
		rs := f.Records()
		defer rs.Close()
		for rs.Next() {
			l.records++
		}
		if err := rs.Err(); err != nil {
			t.Fatal(err)
		}
		return rs.Index()
	}
	index := walk()
	l.walk = testing.AllocsPerRun(5, func() { walk() })
	dec := f.NewDecoder(SampleIP | SampleTID | SampleTime | SampleBranchStack)
	var c Chunk
	l.decode = testing.AllocsPerRun(5, func() {
		l.samples, l.branches = 0, 0
		src := f.Chunks(index)
		defer src.Close()
		for src.Next(&c) {
			for dec.Reset(&c); dec.Next(); {
				l.samples++
				l.branches += len(dec.Sample().Branches)
			}
		}
		if err := src.Err(); err != nil {
			t.Fatal(err)
		}
	})
	return l
}
