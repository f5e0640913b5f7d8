package ingest

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// TestManyRecordings puts the log files of many recordings together, whatever
// their order, while few stay open.
func TestManyRecordings(t *testing.T) {
	const (
		recordings = keptOpen + 4
		twoDays    = 2 * 24 * 3600 * 10_000_000 // in FILETIME
	)
	dir := t.TempDir()
	var inputs []Input
	for _, part := range []string{"a", "b"} {
		for i := range int64(recordings) {
			path := writeLog(t, filepath.Join(dir, fmt.Sprintf("%s%02d.etl", part, i)), &etl.Trace{
				Start: 133_500_000_000_000_000 + i*twoDays, Duration: 10_000_000,
				BufferSize: map[string]int{"a": 1 << 16, "b": 1 << 17}[part], // or b would be a copy of a
			})
			inputs = append(inputs, Input{Name: path, Weight: 2})
		}
	}
	sink := func() sample.Sink { return newTally() }
	for _, reverse := range []bool{false, true} {
		if reverse {
			slices.Reverse(inputs)
		}
		units := FindUnits(t.Context(), inputs, &Options{})
		open := 0
		for _, u := range units.List {
			if u.rec != nil {
				open++
			}
		}
		if len(units.List) != recordings || open > keptOpen {
			t.Fatalf("%d units, %d open", len(units.List), open)
		}
		for _, u := range units.List {
			names := []string{filepath.Base(u.Inputs[0].Name), filepath.Base(u.Inputs[1].Name)}
			if len(u.Inputs) != 2 || names[0][1:] != names[1][1:] || filepath.Base(u.Key())[0] != 'a' || !u.Divides || u.Size == 0 || u.Stamp() == "" {
				t.Errorf("unit of %q, key %s", names, u.Key())
			}
			facts, err := units.Read(t.Context(), u, 1, nil, newRegistry(), sink)
			if err != nil || len(facts) != 2 || facts[0].Weight != 2 {
				t.Errorf("%q: %d facts, %v", names, len(facts), err)
			}
		}
		if err := units.Close(); err != nil {
			t.Error(err)
		}
	}

	// Parts of one recording with different weights are refused.
	inputs[0].Weight = 3
	units := FindUnits(t.Context(), inputs, &Options{})
	defer units.Close()
	_, err := units.Read(t.Context(), units.List[0], 1, nil, newRegistry(), sink)
	var refused *diag.Error
	if !errors.As(err, &refused) || refused.Code != diag.BadValue {
		t.Errorf("different weights: %v", err)
	}
}

// TestWeight multiplies every hit, and no further than counts go.
func TestWeight(t *testing.T) {
	plain, weighted := newTally(), newTally()
	w := &weightedSink{weighted, 3}
	stack := []sample.Branch{{To: 1, From: 2}, {To: 3, From: 4}}
	frames := []uint32{5, 6, 7}
	plain.IP(1, 2, 3, 12)
	plain.IP(1, 2, 4, math.MaxUint64)
	plain.Branches(1, stack, 15)
	plain.Calls(1, frames, 18)
	w.IP(1, 2, 3, 4)
	w.IP(1, 2, 4, math.MaxUint64/2)
	w.Branches(1, stack, 5)
	w.Calls(1, frames, 6)
	if fmt.Sprint(plain) != fmt.Sprint(weighted) {
		t.Errorf("%v, want %v", weighted, plain)
	}
}
