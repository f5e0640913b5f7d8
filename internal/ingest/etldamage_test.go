package ingest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// TestETLDamage reads files that are cut anywhere, with changed bytes, and with
// buffers in other places. What is left has to be accounted for, damage has to
// be told, and sound input must not be taken for damaged.
func TestETLDamage(t *testing.T) {
	m := newMachine(8)
	samples, _ := m.script(1)
	for _, form := range []struct {
		name   string
		change func(*etl.Trace)
	}{
		{"plain", func(tr *etl.Trace) {}},
		{"compressed", func(tr *etl.Trace) { tr.Compress, tr.StackKeys, tr.EndRundown = true, true, true }},
	} {
		t.Run(form.name, func(t *testing.T) {
			trace := m.trace(samples[:300])
			form.change(trace)
			path := writeLog(t, filepath.Join(t.TempDir(), "run.etl"), trace)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sound := readLogs(t, Options{Workers: 2}, path)
			if len(sound.errs) > 0 || sound.facts[0].Damage != nil {
				t.Fatalf("%v, %v", sound.errs, sound.facts[0].Damage)
			}
			// read says whether damage was told; readLogs checks the accounts.
			read := func(data []byte) (told bool, samples uint64) {
				writeFile(t, path, data)
				got := readLogs(t, Options{Workers: 2}, path)
				told = len(got.errs) > 0
				for _, f := range got.facts {
					samples += f.Samples
					told = told || f.Damage != nil || len(f.Losses) > 0 || len(f.UnknownRecords) > 0
					if f.Truncated && (f.Damage == nil || f.Damage.Code != diag.Truncated) {
						t.Errorf("truncated, but damage %v", f.Damage)
					}
				}
				return told, samples
			}
			rng := rand.New(rand.NewPCG(6, 7))
			for range 80 {
				at := rng.IntN(len(whole))
				told, n := read(whole[:at])
				if !told && n != sound.facts[0].Samples && at%trace.BufferSize != 0 {
					t.Errorf("cut at %d of %d: %d samples of %d and no word of it", at, len(whole), n, sound.facts[0].Samples)
				}
			}
			told := 0
			for range 150 {
				data := append([]byte(nil), whole...)
				for range 1 + rng.IntN(3) {
					data[rng.IntN(len(data))] ^= byte(1 + rng.IntN(255))
				}
				if d, _ := read(data); d {
					told++
				}
			}
			t.Logf("damage was told of %d of 150 files", told)
			for range 20 {
				data := append([]byte(nil), whole...)
				a, b := rng.IntN(len(data)), rng.IntN(len(data))
				n := min(rng.IntN(20000), len(data)-a, len(data)-b)
				copy(data[a:a+n], whole[b:b+n])
				read(data)
			}
		})
	}
}

// TestETLDamagedBuffer checks that a damaged buffer costs no more than itself,
// and what is said of it.
func TestETLDamagedBuffer(t *testing.T) {
	var script = machineLines
	for i := range 4000 {
		script += fmt.Sprintf("%d timer 104 400010\n", i+1)
	}
	path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), script, nil)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const buffer = 64 << 10
	for _, tc := range []struct {
		name      string
		data      func() []byte
		code      diag.Code
		truncated bool
		losses    string
	}{
		{"marker", func() []byte { d := append([]byte(nil), data...); d[2*buffer+0x48+3] = 0; return d }, diag.Corrupt, false, "no_record_marker"},
		{"buffer header", func() []byte { d := append([]byte(nil), data...); d[2*buffer] = 1; return d }, diag.Corrupt, false, "damaged_buffer_header"},
		{"cut", func() []byte { return data[:2*buffer+1000] }, diag.Truncated, true, "file_ends_inside_a_buffer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			writeFile(t, path, tc.data())
			got := readLogs(t, Options{Workers: 2}, path)
			f := got.facts[0]
			if f.Damage == nil || f.Damage.Code != tc.code || f.Damage.File != path || f.Damage.Offset == nil || f.Truncated != tc.truncated {
				t.Errorf("damage %v, truncated %v", f.Damage, f.Truncated)
			}
			if f.Losses[tc.losses] != 1 || f.Samples < 1500 || f.Samples >= 4000 {
				t.Errorf("losses %v, %d samples", f.Losses, f.Samples)
			}
		})
	}
}
