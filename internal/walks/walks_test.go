package walks

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// decompose calls Decompose, checks everything that it promises, and returns
// the walks.
func decompose(tb testing.TB, visits []uint64, trans []Transition, maxLen int) ([]record, Report) {
	tb.Helper()
	var records []record
	result, err := Decompose(visits, trans, maxLen, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for walk, times := range result.All {
		records = append(records, record{walk, times})
	}
	report := result.Report
	if err := checkRecords(records, report, maxLen); err != nil {
		tb.Fatal(err)
	}
	extra, lost := difference(visits, trans, records)
	if want := saturate(extra); report.ExtraVisits != want {
		tb.Errorf("ExtraVisits = %d, want %d", report.ExtraVisits, want)
	}
	if want := saturate(lost); report.LostPairs != want {
		tb.Errorf("LostPairs = %d, want %d", report.LostPairs, want)
	}
	return records, report
}

func checkRecords(records []record, report Report, maxLen int) error {
	bytes := uint64(0)
	for i, r := range records {
		if len(r.walk) == 0 || len(r.walk) > maxLen || r.times == 0 {
			return fmt.Errorf("record %d: %d tokens %d times", i, len(r.walk), r.times)
		}
		if i > 0 && !(records[i-1].times > r.times ||
			records[i-1].times == r.times && slices.Compare(records[i-1].walk, r.walk) < 0) {
			return fmt.Errorf("record %d: %v x%d after %v x%d", i, r.walk, r.times, records[i-1].walk, records[i-1].times)
		}
		bytes += uint64(2 + 8*len(r.walk))
		if r.times > 1 {
			bytes += 10
		}
	}
	if report.Records != len(records) || report.Bytes != bytes {
		return fmt.Errorf("report of %d records and %d bytes, want %d and %d", report.Records, report.Bytes, len(records), bytes)
	}
	return nil
}

// difference counts the visits that the records have more than visits, and
// the pairs that they have fewer than trans. It panics where they have fewer
// visits or more pairs.
func difference(visits []uint64, trans []Transition, records []record) (extra, lost *big.Int) {
	u := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	gotVisits := make([]*big.Int, len(visits))
	for v := range gotVisits {
		gotVisits[v] = new(big.Int)
	}
	gotPairs := map[[2]int32]*big.Int{}
	for _, r := range records {
		for i, v := range r.walk {
			gotVisits[v].Add(gotVisits[v], u(r.times))
			if i > 0 {
				k := [2]int32{r.walk[i-1], v}
				if gotPairs[k] == nil {
					gotPairs[k] = new(big.Int)
				}
				gotPairs[k].Add(gotPairs[k], u(r.times))
			}
		}
	}
	extra, lost = new(big.Int), new(big.Int)
	for v, n := range visits {
		d := gotVisits[v].Sub(gotVisits[v], u(n))
		if d.Sign() < 0 {
			panic(fmt.Sprintf("token %d: %v visits fewer than %d", v, d, n))
		}
		extra.Add(extra, d)
	}
	for _, t := range trans {
		k := [2]int32{t.From, t.To}
		d := u(t.Count)
		if got := gotPairs[k]; got != nil {
			d.Sub(d, got)
			delete(gotPairs, k)
		}
		if d.Sign() < 0 {
			panic(fmt.Sprintf("pair %v: %v more than %d", k, d, t.Count))
		}
		lost.Add(lost, d)
	}
	for k, n := range gotPairs {
		panic(fmt.Sprintf("pair %v: %v that are not among the transitions", k, n))
	}
	return extra, lost
}

func saturate(x *big.Int) uint64 {
	if !x.IsUint64() {
		return math.MaxUint64
	}
	return x.Uint64()
}

func TestDecompose(t *testing.T) {
	loop32 := make([]int32, 32)
	for _, test := range []struct {
		name   string
		chains chains
		want   []record
	}{
		{"nothing", chains{}, nil},
		{"no visits", chains{tokens: 3}, nil},
		{"one token", chains{2, []chain{{[]int32{1}, 7}}}, []record{{[]int32{1}, 7}}},
		{"one chain", chains{3, []chain{{[]int32{0, 1, 2}, 5}}}, []record{{[]int32{0, 1, 2}, 5}}},
		{"equal chains", chains{2, []chain{{[]int32{1, 0}, 5}, {[]int32{1, 0}, 1}}}, []record{{[]int32{1, 0}, 6}}},
		{"apart", chains{4, []chain{{[]int32{3, 1}, 2}, {[]int32{0, 2}, 2}, {[]int32{2, 0}, 3}}},
			[]record{{[]int32{0, 2}, 2}, {[]int32{2, 0}, 3}, {[]int32{3, 1}, 2}}},
		{"self-loop", chains{1, []chain{{loop32, 1000}}}, []record{{loop32, 1000}}},
		{"cycle through a token", chains{3, []chain{{[]int32{0, 1, 2, 1, 2, 1}, 9}}}, []record{{[]int32{0, 1, 2, 1, 2, 1}, 9}}},
		{"shared middle", chains{5, []chain{{[]int32{0, 2, 3}, 4}, {[]int32{1, 2, 4}, 4}}},
			[]record{{[]int32{0, 2, 3}, 4}, {[]int32{1, 2, 4}, 4}}},
		{"great counts", chains{2, []chain{{[]int32{0, 1, 0}, 1 << 62}}}, []record{{[]int32{0, 1, 0}, 1 << 62}}},
		{"greatest count", chains{2, []chain{{[]int32{0, 1}, math.MaxUint64}}}, []record{{[]int32{0, 1}, math.MaxUint64}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			visits, trans := test.chains.counts()
			got, report := decompose(t, visits, trans, 255)
			if !report.Exact() {
				t.Errorf("not exact: %+v", report)
			}
			slices.SortFunc(test.want, func(a, b record) int { return slices.Compare(a.walk, b.walk) })
			slices.SortFunc(got, func(a, b record) int { return slices.Compare(a.walk, b.walk) })
			if !slices.EqualFunc(got, test.want, func(a, b record) bool {
				return a.times == b.times && slices.Equal(a.walk, b.walk)
			}) {
				t.Errorf("got  %v\nwant %v", got, test.want)
			}
		})
	}
}

// Chains of up to n tokens come back exactly in walks of up to maxLen.
func TestDecomposeIsExact(t *testing.T) {
	seeds := uint64(3)
	if os.Getenv("SPGO_LONG") != "" {
		seeds = 2000
	}
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			for _, size := range []struct{ n, maxLen int }{{16, 255}, {32, 255}, {64, 255}, {32, 64}, {127, 255}} {
				for seed := range seeds {
					r := rand.New(rand.NewPCG(seed, uint64(size.n)))
					c := shape.make(r, size.n)
					c.weigh(r)
					visits, trans := c.counts()
					if _, report := decompose(t, visits, trans, size.maxLen); !report.Exact() {
						t.Errorf("chains of up to %d tokens in walks of %d, seed %d: %+v", size.n, size.maxLen, seed, report)
					}
				}
			}
		})
	}
}

// Stacks of a program take a small part of what they take one by one.
func TestDecomposeIsShort(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := program(r, 200).windows(r, 5000, 32)
		visits, trans := c.counts()
		_, report := decompose(t, visits, trans, 255)
		if merged := c.mergedBytes(); report.Bytes > uint64(merged)/10 {
			t.Errorf("seed %d: %d bytes in %d records, want at most a tenth of %d", seed, report.Bytes, report.Records, merged)
		}
	}
}

// The order in which chains are seen, and how they are put together from
// parts, makes no difference.
func TestDecomposeIsAPureFunction(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	c := program(r, 100).windows(r, 300, 32)
	visits, trans := c.counts()
	want, _ := decompose(t, visits, trans, 255)
	r.Shuffle(len(c.list), func(i, j int) { c.list[i], c.list[j] = c.list[j], c.list[i] })
	visits, trans = c.counts()
	got, _ := decompose(t, visits, trans, 255)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("shuffled chains give other walks")
	}
	// A decomposition has the same counts, so it decomposes into itself.
	again, pairs := countWalks(len(visits), func(yield func([]int32, uint64) bool) {
		for _, r := range want {
			if !yield(r.walk, r.times) {
				return
			}
		}
	})
	if got, _ := decompose(t, again, pairs, 255); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("the walks themselves give other walks")
	}
}

func TestDecomposeReportsWhatNoChainsCanHave(t *testing.T) {
	const most = math.MaxUint64
	line := make([]Transition, 999)
	for i := range line {
		line[i] = Transition{int32(i), int32(i + 1), 1 << 40}
	}
	lineVisits := slices.Repeat([]uint64{1 << 40}, 1000)
	star := make([]Transition, 100)
	for i := range star {
		star[i] = Transition{0, int32(i + 1), most}
	}
	for _, test := range []struct {
		name   string
		visits []uint64
		trans  []Transition
		want   Report // without records and bytes
	}{
		{"too few visits", []uint64{5, 2}, []Transition{{0, 1, 5}}, Report{ExtraVisits: 3}},
		{"no visits", []uint64{0, 0, 0}, []Transition{{0, 1, 5}, {1, 2, 4}}, Report{ExtraVisits: 14}},
		{"closed ring", []uint64{7, 7}, []Transition{{0, 1, 7}, {1, 0, 7}}, Report{ExtraVisits: 1}},
		{"closed self-loop", []uint64{1000}, []Transition{{0, 0, 1000}}, Report{ExtraVisits: 4}},
		{"too long", lineVisits, line, Report{LostPairs: 3 << 40}},
		{"saturated", make([]uint64, 101), star, Report{ExtraVisits: most, LostPairs: most}},
	} {
		t.Run(test.name, func(t *testing.T) {
			records, got := decompose(t, test.visits, test.trans, 255)
			got.Records, got.Bytes = 0, 0
			if got != test.want || got.Exact() {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			seen := map[[2]int32]bool{}
			for _, r := range records {
				for i := range r.walk[1:] {
					seen[[2]int32(r.walk[i:])] = true
				}
			}
			if len(test.trans)-len(seen) > 3 { // at the cuts of the long line
				t.Errorf("walks make %d of %d transitions", len(seen), len(test.trans))
			}
		})
	}
}

func TestDecomposeRefusesMalformedArguments(t *testing.T) {
	visits := []uint64{1, 1}
	for _, test := range []struct {
		name   string
		trans  []Transition
		maxLen int
	}{
		{"maxLen", nil, 1},
		{"from", []Transition{{2, 0, 1}}, 255},
		{"negative from", []Transition{{-1, 0, 1}}, 255},
		{"to", []Transition{{0, 2, 1}}, 255},
		{"negative to", []Transition{{0, -1, 1}}, 255},
		{"order", []Transition{{0, 1, 1}, {0, 0, 1}}, 255},
		{"duplicate", []Transition{{0, 1, 1}, {0, 1, 1}}, 255},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Decompose(visits, test.trans, test.maxLen, nil)
			if err == nil {
				t.Error("no error")
			}
		})
	}
}
