package profile

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/spgo-tools/spgo/pkg/spd"
)

// FuzzCombine retires, merges and resets databases with any counts: no rule is
// broken that was kept before, and retired counts are within one of their
// values.
func FuzzCombine(f *testing.F) {
	for seed := range uint64(8) {
		var b bytes.Buffer
		if err := spd.Write(&b, walk(rand.New(rand.NewPCG(seed, 7)), 2+int(seed), 3)); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), byte(seed*2))
	}
	f.Fuzz(func(t *testing.T, data []byte, amount byte) {
		open := func() *spd.File {
			r, err := spd.NewReader(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return nil
			}
			file, err := r.Read()
			if err != nil {
				return nil
			}
			return file
		}
		before := open()
		if before == nil || huge(before) {
			return
		}
		amount %= MaxRetire + 1
		before.Header.Statistics = before.ComputeStatistics()
		broken := violated(before)
		for v := range broken {
			if v.Rule == spd.RuleEntryExit {
				return // entry and exit are no ends of the flow, so nothing keeps their counts equal
			}
		}
		retired := open()
		Retire(retired, int(amount))
		checkViolations(t, "retire", broken, retired)
		checkBounds(t, retired, before, int(amount))
		g := NewMerger(int(amount))
		g.Add(open())
		g.Add(open())
		checkViolations(t, "merge", broken, g.Result())
		Reset(retired)
		Reset(retired)
		if retired.Header.Statistics != (spd.Statistics{}) {
			t.Errorf("statistics %+v", retired.Header.Statistics)
		}
	})
}

// huge says whether sums of counts may reach their maximum, beyond which no
// flow is kept.
func huge(f *spd.File) bool {
	const limit = 1 << 40
	found := false
	eachBlock(f, func(_ *spd.Function, b *spd.Block, _, _, _ int) {
		found = found || b.Count > limit
		for _, e := range b.Edges {
			found = found || e.Count > limit
		}
		for _, s := range b.Indirect {
			found = found || s.Hits > limit
			for _, t := range s.Targets {
				found = found || t.Hits > limit
			}
		}
	})
	return found
}
