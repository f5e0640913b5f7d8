package compare

import (
	"math"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// database makes an SPD of functions with straight blocks.
func database(fns ...spd.Function) *spd.File {
	return &spd.File{Header: spd.Header{Binary: "a.sys", Age: 1}, Modules: []spd.Module{{Name: "m", Functions: fns}}}
}

func function(name string, checksum spd.Checksum, counts ...uint64) spd.Function {
	fn := spd.Function{Symbol: spd.Symbol{ID: spd.FunctionID(name), Name: name}, Checksum: checksum}
	for _, n := range counts {
		fn.Blocks = append(fn.Blocks, spd.Block{Count: n, Instructions: 2})
	}
	return fn
}

func TestFiles(t *testing.T) {
	a := database(function("same", 1, 30, 10), function("gone", 1, 40), function("changed", 1, 20))
	b := database(function("same", 1, 50, 25), function("changed", 2, 15), function("new", 1, 10))
	b.Header.Age = 2
	d := Files(a, b, 10)
	// Shares of the blocks of "same": .3 and .1 of 100, .5 and .25 of 100.
	if math.Abs(d.Overlap-40) > 1e-9 {
		t.Errorf("overlap %v, want 40", d.Overlap)
	}
	if d.Same != 1 || len(d.Added) != 1 || d.Added[0].Name != "new" || len(d.Removed) != 1 || d.Removed[0].Name != "gone" ||
		len(d.Changed) != 1 || d.Changed[0].Name != "changed" || d.Changed[0].Reason == "" {
		t.Errorf("functions: %+v", d)
	}
	if len(d.Header) != 1 || d.Header[0] != (FieldChange{"age", "1", "2"}) {
		t.Errorf("header: %+v", d.Header)
	}
	var order []string
	for _, m := range d.Movers {
		order = append(order, m.Name)
	}
	if len(order) != 4 || order[0] != "gone" || order[1] != "same" || d.Movers[1].OldPercent != 40 || d.Movers[1].NewPercent != 75 {
		t.Errorf("movers: %+v", d.Movers)
	}
	if got := Files(a, b, 2); len(got.Movers) != 2 {
		t.Errorf("%d movers, want 2", len(got.Movers))
	}
}

func TestStale(t *testing.T) {
	profile := database(function("same", 1, 30, 10), function("gone", 1, 40), function("changed", 1, 20), function("cold", 9, 0))
	code := database(function("same", 1, 0, 0), function("changed", 1, 0, 0))
	s := Stale(profile, code, 1)
	if s.Functions != 3 || s.MatchedFunctions != 1 || s.WeightPercent != 40 || s.Weight != 200 {
		t.Errorf("%+v", s)
	}
	if len(s.Worst) != 1 || s.Worst[0].Name != "gone" || s.Worst[0].Percent != 40 {
		t.Errorf("worst: %+v", s.Worst)
	}
}

func TestEmptyProfiles(t *testing.T) {
	empty := database(function("f", 1, 0))
	if d := Files(empty, empty, 5); d.Overlap != 0 || len(d.Movers) != 0 {
		t.Errorf("%+v", d)
	}
	if s := Stale(empty, empty, 5); s.Functions != 0 || s.WeightPercent != 0 {
		t.Errorf("%+v", s)
	}
}

// TestRealFiles compares a file with itself and with the same build after all
// counts were halved, whose shares are nearly equal.
func TestRealFiles(t *testing.T) {
	read := func(name string) *spd.File {
		f, err := spd.ReadFile(corpus.Path(t, "corpus", "spd", name))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	full, halved := read("EbpfCore-b29b5e08.spd"), read("EbpfCore-8f1fae3b.spd")
	if d := Files(full, full, 3); d.Overlap != 100 || len(d.Header)+len(d.Changed)+len(d.Movers) != 0 {
		t.Errorf("with itself: %+v", d)
	}
	for _, name := range []string{"EbpfCore-3349d0ac.spd", "EbpfCore-1bbd8b19.spd", "EbpfCore-8f1fae3b.spd"} {
		if f := read(name); Files(f, f, 0).Overlap != 100 {
			t.Errorf("%s overlaps with itself by %v", name, Files(f, f, 0).Overlap)
		}
	}
	if d := Files(full, halved, 3); d.Overlap < 99.8 || d.Same != 693 {
		t.Errorf("with the halved counts: overlap %v, %d the same", d.Overlap, d.Same)
	}
	if s := Stale(full, halved, 3); s.WeightPercent != 100 {
		t.Errorf("stale: %+v", s)
	}
	if s := Stale(full, read("EbpfCore-3349d0ac.spd"), 3); s.WeightPercent <= 0 || s.WeightPercent >= 100 || len(s.Worst) != 3 {
		t.Errorf("against a later build: %+v", s)
	}
}
