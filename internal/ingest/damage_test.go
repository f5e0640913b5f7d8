package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// truncated are files of different kinds: branch stacks, call chains, a pipe, a
// compressed pipe, big endian.
var truncated = []string{
	"google+autofdo__hierarchical_discriminator_test.x86_64.perf.data.hist27cba9",
	"own__live_fp73.data",
	"google+perf_data_converter__perf.data.piped.target.throttled-3.4",
	"own__live_pipez61.data",
	"own__be_perf_data_converter__perf.data.branch_stack_spec",
}

// TestTruncations cuts files at 200 places, or with SPGO_LONG=1 at 5,000: a
// reader gives an error with a place, or all samples before the cut and says
// that something is missing.
func TestTruncations(t *testing.T) {
	places := 200
	if os.Getenv("SPGO_LONG") == "1" {
		places = 5000
	}
	for _, name := range truncated {
		data, err := os.ReadFile(corpus.Path(t, "corpus", "perf", name))
		if err != nil {
			t.Fatal(err)
		}
		whole := readAll("-", bytes.NewReader(data), Options{PathMap: nowhere})
		if whole.err != nil || whole.facts.Samples == 0 {
			t.Fatalf("%s: %v", name, whole.err)
		}
		path := filepath.Join(t.TempDir(), "cut.data")
		last := uint64(0)
		partial, silent := 0, 0
		for i := range places {
			cut := data[:len(data)*i/places]
			if err := os.WriteFile(path, cut, 0o644); err != nil {
				t.Fatal(err)
			}
			r := readAll(path, nil, Options{PathMap: nowhere})
			checkTotals(t, r.facts)
			checkSink(t, r.tally, r.facts)
			var place *binfmt.Error
			switch {
			case r.err != nil && !errors.As(r.err, &place):
				t.Errorf("%s cut at %d: error without a place: %v", name, len(cut), r.err)
			case r.err == nil && r.facts.Damage == nil && strings.HasPrefix(r.facts.Detail, "pipe"):
				silent++ // cut between records: a pipe does not say how long it is
			case r.err == nil && r.facts.Damage == nil && !strings.Contains(codes(r.facts), string(diag.DamagedPart)):
				t.Errorf("%s cut at %d: nothing is said", name, len(cut))
			case r.facts.Samples < last || r.facts.Samples > whole.facts.Samples:
				t.Errorf("%s cut at %d: %d samples after %d of %d", name, len(cut), r.facts.Samples, last, whole.facts.Samples)
			}
			if last = r.facts.Samples; last > 0 {
				partial++
			}
		}
		if partial == 0 || silent > places/20 {
			t.Errorf("%s: %d of %d cut files gave samples, %d did not say that they are cut", name, partial, places, silent)
		}
		t.Logf("%s: %d of %d cut files gave samples", name, partial, places)
	}
}

// TestDamageIsTold checks what facts say of inputs that are not whole.
func TestDamageIsTold(t *testing.T) {
	script := twoBinaries + `
		2 sample 10 1010
		3 sample 10 1020
		4 sample 10 1030`
	path := recording{features: perfdata.Features{Hostname: "h", OSRelease: "6.1", Arch: "x86_64", CPUDesc: "A CPU", CPUID: "GenuineIntel,6,1,1"}}.write(t, script)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := binary.LittleEndian.Uint64(data[40:]) + binary.LittleEndian.Uint64(data[48:])
	open := bytes.Clone(data[:end])
	copy(open[48:], make([]byte, 8)) // a recorder writes the size of the data last
	pipe := (recording{writer: perfdata.WriterOptions{Pipe: true}}).write(t, script)
	piped, err := os.ReadFile(pipe)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name      string
		data      []byte
		samples   uint64
		detail    string
		code      diag.Code // empty: not damaged
		truncated bool
	}{
		{"whole", data, 3, "", "", false},
		{"not closed", open, 3, "not closed", diag.Truncated, true},
		{"pipe", piped, 3, "pipe", "", false},
		{"cut pipe", piped[:len(piped)-1], 2, "pipe", diag.Truncated, true},
		{"record of no size", append(bytes.Clone(piped), 9, 0, 0, 0, 0, 0, 4, 0), 3, "pipe", diag.Corrupt, false},
	} {
		for _, compress := range []func(*testing.T, []byte) []byte{nil, gzipped, zstdPacked} {
			in := tc.data
			if compress != nil {
				in = compress(t, in)
			}
			r := readAll("-", bytes.NewReader(in), Options{})
			if r.err != nil {
				t.Errorf("%s: %v", tc.name, r.err)
				continue
			}
			f := r.facts
			if f.Samples != tc.samples || f.Stats.Samples.Used() != tc.samples || !strings.HasPrefix(f.Detail, tc.detail) || f.Truncated != tc.truncated {
				t.Errorf("%s: %d samples, %s, truncated %v", tc.name, f.Samples, f.Detail, f.Truncated)
			}
			if (f.Damage == nil) != (tc.code == "") || f.Damage != nil && f.Damage.Code != tc.code {
				t.Errorf("%s: damage %v, want %s", tc.name, f.Damage, tc.code)
			}
		}
	}
	f := readAll(path, nil, Options{}).facts
	if f.Host != "h" || f.Kernel != "6.1" || f.Arch != "x86_64" || f.CPU != "A CPU" || f.Records["SAMPLE"] != 3 || f.Records["MMAP2"] != 4 {
		t.Errorf("facts %+v", f)
	}
}

// TestMalformedRecords checks that records that do not follow their layout are
// counted and cost nothing else.
func TestMalformedRecords(t *testing.T) {
	var file bytes.Buffer
	a := cycles()
	w, err := perfdata.NewWriter(&file, perfdata.WriterOptions{Attrs: []*perfdata.Attr{a}, Pipe: true})
	if err != nil {
		t.Fatal(err)
	}
	w.WriteEvent(&perfdata.Mmap{V2: true, Mode: perfdata.ModeUser, Prot: 5, PID: 10, TID: 10, Addr: 0x1000, Len: 0x1000, Name: "/t/app"}, perfdata.SampleIDs{})
	w.WriteRecord(perfdata.TypeMmap2, 2, make([]byte, 16)) // the trailer alone
	w.WriteRecord(perfdata.TypeComm, 0, nil)
	w.WriteSample(&perfdata.Sample{Attr: a, IP: 0x1010, PID: 10, Misc: 2, Time: 5, Period: 1})
	w.WriteRecord(perfdata.TypeSample, 2, make([]byte, 8))
	w.WriteEvent(&perfdata.Lost{Count: 7}, perfdata.SampleIDs{})
	w.WriteEvent(&perfdata.LostSamples{Count: 3}, perfdata.SampleIDs{})
	w.WriteEvent(&perfdata.LostSamples{Count: 9, Filtered: true}, perfdata.SampleIDs{})
	w.WriteEvent(&perfdata.Throttle{}, perfdata.SampleIDs{})
	w.WriteRecord(perfdata.Type(120), 0, make([]byte, 8))
	w.WriteRecord(perfdata.Type(120), 0, make([]byte, 16))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := readAll("-", &file, Options{})
	if r.err != nil {
		t.Fatal(r.err)
	}
	f := r.facts
	checkTotals(t, f)
	if got := account(&f.Stats.Samples); got != "used:1 malformed:1" {
		t.Errorf("samples %s", got)
	}
	want := map[string]uint64{"malformed_mmap2": 1, "malformed_comm": 1, "samples_record too short": 1, "lost_records": 7,
		"lost_samples": 3, "filtered_by_bpf": 9, "throttled": 1}
	for name, n := range want {
		if f.Losses[name] != n {
			t.Errorf("%s: %d, want %d", name, f.Losses[name], n)
		}
	}
	if len(f.Losses) != len(want) || f.Lost != 10 || f.UnknownRecords["120"] != 2 || len(f.UnknownRecords) != 1 {
		t.Errorf("losses %v, %d lost, unknown %v", f.Losses, f.Lost, f.UnknownRecords)
	}
	if got := codes(f); got != "SPT1001 SPT1002 SPT1003 SPT1006" {
		t.Errorf("warnings %s", got)
	}
}

// TestMostlyUnmapped checks the warning about samples in no binary.
func TestMostlyUnmapped(t *testing.T) {
	for _, tc := range []struct {
		nowhere string
		want    bool
	}{{"2 sample 10 5010", true}, {"", false}, {"2 sample 11 5010", true}, {"2 sample 10 20010", false}} {
		path := recording{}.write(t, twoBinaries+strings.Repeat("2 sample 10 1010\n", 3)+tc.nowhere)
		_, f, _ := outcome(t, path, Options{})
		if got := strings.Contains(codes(f), string(diag.MostlyUnmapped)); got != tc.want {
			t.Errorf("%q: warnings %s", tc.nowhere, codes(f))
		}
	}
}

// TestCancel checks that reading ends when it is told to.
func TestCancel(t *testing.T) {
	path := recording{}.write(t, twoBinaries+"2 sample 10 1010")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, input := range map[string][]byte{"a.data": nil, "a.spt": sptBytes(t, sptText)} {
		in := path
		if input != nil {
			in = filepath.Join(writeFiles(t, map[string][]byte{name: input}), name)
		}
		f, err := Read(ctx, in, nil, &Options{}, newRegistry(), func() sample.Sink { return newTally() })
		if !errors.Is(err, context.Canceled) || f == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProgress checks that the bytes told add up to what was read.
func TestProgress(t *testing.T) {
	path := corpus.Path(t, "corpus", "perf", "google+autofdo__test.lbr")
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	r := readAll(path, nil, Options{PathMap: nowhere, Progress: func(n int64) { sum += n }})
	if r.err != nil || sum < fi.Size()*9/10 || sum > fi.Size() {
		t.Errorf("%v: %d of %d bytes told", r.err, sum, fi.Size())
	}
}
