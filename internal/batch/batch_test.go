package batch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// TestShare deals out every unit once, evenly, whatever the order of the list.
func TestShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var units []*ingest.Unit
		for i := range rng.IntN(40) {
			u := &ingest.Unit{Inputs: []ingest.Input{{Name: fmt.Sprint("in", i)}}}
			if rng.IntN(4) == 0 {
				u.Inputs = append(u.Inputs, ingest.Input{Name: fmt.Sprint("also", i)})
			}
			units = append(units, u)
		}
		count := 1 + rng.IntN(10)
		var taken []*ingest.Unit
		for i := range count {
			share := Share{i + 1, count}
			part := share.Of(units)
			if len(part) < len(units)/count || len(part) > len(units)/count+1 {
				t.Fatalf("%d of %d units in %d shares", len(part), len(units), count)
			}
			taken = append(taken, part...)
			shuffled := slices.Clone(units)
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			again := share.Of(shuffled)
			for _, u := range part {
				if !slices.Contains(again, u) {
					t.Fatal("another order gives other shares")
				}
				for i := range u.Inputs { // the first named log file depends on the order
					j := rng.IntN(i + 1)
					u.Inputs[i], u.Inputs[j] = u.Inputs[j], u.Inputs[i]
				}
			}
		}
		for _, u := range units {
			if n := len(slices.DeleteFunc(slices.Clone(taken), func(x *ingest.Unit) bool { return x != u })); n != 1 {
				t.Fatalf("a unit is in %d shares", n)
			}
		}
	}
}

func TestParseShare(t *testing.T) {
	for _, tc := range []struct {
		text, job string
		want      Share // zero: refused
	}{
		{"1/1", "", Share{1, 1}}, {"2/8", "7", Share{2, 8}}, {"auto/8", "0", Share{1, 8}}, {"AUTO/8", "7", Share{8, 8}},
		{"0/8", "", Share{}}, {"9/8", "", Share{}}, {"1/0", "", Share{}}, {"1", "", Share{}}, {"a/2", "", Share{}}, {"1/-1", "", Share{}},
		{"auto/8", "8", Share{}}, {"auto/8", "", Share{}}, {"auto/8", "-1", Share{}}, {"auto", "1", Share{}},
	} {
		got, ok := ParseShare(tc.text, tc.job)
		if ok != (tc.want.Count > 0) || ok && got != tc.want {
			t.Errorf("%s with %q: %v, %v", tc.text, tc.job, got, ok)
		}
	}
}

// partials writes small SPTs, one binary each of a few.
func partials(t *testing.T, dir string, count int) []ingest.Input {
	t.Helper()
	var inputs []ingest.Input
	for i := range count {
		p := aggregate.New(255)
		s := p.NewShard()
		b := p.Register(sample.Binary{Name: fmt.Sprint("app", i%3), GUID: binfmt.GUID{byte(1 + i%3)}})
		for j := range uint32(200) {
			at := uint32(i)*7 + j*13%500
			s.IP(b, 1, at, 1+uint64(j))
			s.Branches(b, []sample.Branch{{To: at, From: at + 8}, {To: at % 64, From: at%64 + 4}}, 2)
			s.Calls(b, []uint32{at, at % 32, at % 16}, 3)
		}
		p.Merge(s)
		var data bytes.Buffer
		if _, err := p.Write(&data); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprintf("%03d.spt", i))
		if err := os.WriteFile(name, data.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, ingest.Input{Name: name, Weight: uint64(1 + i%2)})
	}
	return inputs
}

// readAll reads inputs and returns the SPT.
func readAll(ctx context.Context, t *testing.T, inputs []ingest.Input, o *Options) ([]byte, []*Outcome, error) {
	t.Helper()
	p := aggregate.New(255)
	defer p.Close()
	units := ingest.FindUnits(t.Context(), inputs, &ingest.Options{})
	defer units.Close()
	if o.Read == nil {
		o.Read = func(string) {}
	}
	outcomes, err := Read(ctx, units, units.List, p, o)
	if err != nil {
		return nil, outcomes, err
	}
	var b bytes.Buffer
	if _, err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), outcomes, nil
}

// TestSideBySide gives the same bytes and outcomes for any number of workers.
func TestSideBySide(t *testing.T) {
	inputs := partials(t, t.TempDir(), 40)
	inputs = append(inputs, ingest.Input{Name: filepath.Join(t.TempDir(), "none")})
	want, first, err := readAll(t.Context(), t, inputs, &Options{Workers: 1})
	if err != nil || len(first) != len(inputs) || len(first[40].Errors) != 1 {
		t.Fatalf("%v, %d outcomes", err, len(first))
	}
	slices.Reverse(inputs[:40])
	for _, workers := range []int{2, 8, 100} {
		got, outcomes, err := readAll(t.Context(), t, inputs, &Options{Workers: workers})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d workers: other bytes (%v)", workers, err)
		}
		for i, o := range outcomes {
			if o.Unit.Inputs[0].Name != inputs[i].Name {
				t.Fatalf("outcome %d is of %s", i, o.Unit.Inputs[0].Name)
			}
		}
	}
}

// TestStopAnywhere stops after each number of inputs, with the state saved
// then, and goes on: the bytes are those of one run, and nothing is read twice.
func TestStopAnywhere(t *testing.T) {
	dir := t.TempDir()
	inputs := partials(t, dir, 9)
	want, _, err := readAll(t.Context(), t, inputs, &Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, write func(io.Writer) error) error {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		return os.WriteFile(path, b.Bytes(), 0o644)
	}
	for stop := 1; stop < len(inputs); stop++ {
		state := &State{Path: filepath.Join(dir, fmt.Sprint("state", stop)), Options: "same", WriteFile: write}
		p := aggregate.New(255)
		units := ingest.FindUnits(t.Context(), inputs, &ingest.Options{})
		r := &reader{units: units, profile: p, options: &Options{Workers: 1, State: state, Read: func(string) {}}}
		for _, u := range units.List {
			r.outcomes = append(r.outcomes, &Outcome{Unit: u})
		}
		for i, o := range r.outcomes[:stop] {
			r.read(t.Context(), o, 1)
			if i == stop/2 {
				r.saveIfDue(true) // and again below, onto what is on disk
			}
		}
		r.saveIfDue(true)
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		r.read(stopped, r.outcomes[stop], 1)
		if r.saveIfDue(true); r.failed != nil {
			t.Fatal(r.failed)
		}
		p.Close()
		units.Close()

		var files []string
		got, outcomes, err := readAll(t.Context(), t, inputs, &Options{Workers: 1, State: state, Read: func(file string) { files = append(files, file) }})
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("stopped after %d: other bytes (%v)", stop, err)
		}
		if len(files) != len(inputs)-stop {
			t.Errorf("stopped after %d: read %d", stop, len(files))
		}
		for i, o := range outcomes {
			if o.Earlier != (i < stop) || len(o.Facts) != 1 || o.Facts[0].Stats.Samples.Used() == 0 {
				t.Errorf("stopped after %d: outcome %d: %+v", stop, i, o)
			}
		}
	}
}
