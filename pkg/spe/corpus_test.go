package spe_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// stream is one piece of a trace.
type stream struct {
	name string
	data []byte
}

// rows returns the byte sequences of spe_bytes.tsv.
func rows(t testing.TB) []stream {
	t.Helper()
	text, err := os.ReadFile(corpus.Path(t, "corpus", "perf", "spe_bytes.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var list []stream
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		cols := strings.Split(line, "\t")
		data, err := hex.DecodeString(cols[3])
		if err != nil {
			t.Fatalf("%s: %v", cols[0], err)
		}
		list = append(list, stream{cols[0], data})
	}
	return list
}

// payloads returns the trace bytes behind the AUXTRACE records of a recording.
func payloads(t testing.TB, name string) []stream {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := perfdata.NewReader(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []stream
	for rs := f.Records(); rs.Next(); {
		if r := rs.Record(); r.Type == perfdata.TypeAuxtrace {
			list = append(list, stream{filepath.Base(name), data[r.Trail.Offset : r.Trail.Offset+r.Trail.Size]})
		}
	}
	return list
}

// recordings returns the recordings with Arm traces, and how many records
// they have.
func recordings(t testing.TB) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, row := range corpus.Files(t, "perf") {
		if row.Fields["aux"] == "arm_spe" {
			found[row.File] = row.Fields["spe_records"]
		}
	}
	if len(found) < 10 {
		t.Fatalf("only %d recordings have Arm traces", len(found))
	}
	return found
}

func everyStream(t testing.TB) []stream {
	list := rows(t)
	for name := range recordings(t) {
		list = append(list, payloads(t, name)...)
	}
	for _, name := range []string{"google+perf_data_converter__spe_raw_2rec.bin", "openharmony+developtools_hiperf__spe_raw_1624.bin",
		"xinydev+telemetry-solution__spe-b1-ts1.data"} {
		data, err := os.ReadFile(corpus.Path(t, "corpus", "perf", name))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, stream{name, data})
	}
	return list
}

// TestRecordCounts finds as many records in each recording as are known to be
// there.
func TestRecordCounts(t *testing.T) {
	for name, want := range recordings(t) {
		n := 0
		for _, s := range payloads(t, name) {
			var d spe.Decoder
			var r spe.Record
			for d.Reset(s.data, 0); d.Next(&r); n++ {
			}
		}
		if fmt.Sprint(n) != want {
			t.Errorf("%s: %d records, want %s", filepath.Base(name), n, want)
		}
	}
}

// oracle is a program for the reference decoder that reads pieces of traces in
// hexadecimal and prints their packets and records in the form of describe.
const oracle = `
import sys
import perfref as p
for line in sys.stdin:
    b = bytes.fromhex(line.strip())
    for pos, n, text in p.spe_dump(b, 0, len(b), 0, 0):
        print('P', pos, n, text)
    for r in p.spe_records(b, 0, len(b), 0):
        c = r['cnt']
        get = lambda k: '%x' % r[k] if k in r else '-'
        print('R', r['off'], 'done' if r['done'] else 'cut', 'unknown' if r.get('unknown') and r['done'] else 'known',
            'pc', get('pc'), 'tgt', get('tgt'), 'pbt', get('pbt'), 'va', get('va'), 'pa', get('pa'), 'ev', get('ev'),
            'op', '%d.%x' % r['op'] if r['op'] else '-', 'ds', get('ds'), 'ts', get('ts'),
            'lat', *['%x' % c[i] if i in c else '-' for i in (0, 1, 2, 4)])
    print('.')
`

// describe prints packets and records as the oracle does.
func describe(data []byte) string {
	var b strings.Builder
	var d spe.Decoder
	var r spe.Record
	for d.Reset(data, 0); d.Next(&r); {
		state, known := "done", "known"
		if r.State == spe.StateTruncated {
			state = "cut"
		} else if r.Unknown > 0 {
			known = "unknown"
		}
		get := func(f spe.Fields, v uint64) string {
			if !r.Has(f) {
				return "-"
			}
			return fmt.Sprintf("%x", v)
		}
		op := "-"
		if r.Has(spe.HasOperation) {
			op = fmt.Sprintf("%d.%x", r.Op.Class, r.Op.Bits)
		}
		fmt.Fprintln(&b, "R", r.Offset, state, known, "pc", get(spe.HasPC, r.PC.Address()), "tgt", get(spe.HasTarget, r.Target.Address()),
			"pbt", get(spe.HasPreviousTarget, r.PreviousTarget.Address()), "va", get(spe.HasData, r.Data.Address()),
			"pa", get(spe.HasPhysical, r.Physical.Address()), "ev", fmt.Sprintf("%x", uint64(r.Events)), "op", op,
			"ds", get(spe.HasDataSource, r.Source), "ts", get(spe.HasTimestamp, r.Timestamp),
			"lat", get(spe.HasTotal, uint64(r.Total)), get(spe.HasIssue, uint64(r.Issue)), get(spe.HasTranslation, uint64(r.Translation)),
			get(spe.HasAltIssue, uint64(r.AltIssue)))
	}
	return b.String()
}

// TestOracle compares records and packets with the reference decoder.
func TestOracle(t *testing.T) {
	python := corpus.Tool(t, "python3")
	list := everyStream(t)
	var in strings.Builder
	for _, s := range list {
		fmt.Fprintln(&in, hex.EncodeToString(s.data))
	}
	cmd := exec.Command(python, "-c", oracle)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+corpus.Path(t, "oracle"), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(out), ".\n")
	records, packets := 0, 0
	for i, s := range list {
		var want strings.Builder
		dump := map[int]string{} // by offset, of packets that both know
		for _, line := range strings.SplitAfter(parts[i], "\n") {
			var pos, n int
			if _, err := fmt.Sscanf(line, "P %d %d", &pos, &n); err == nil {
				dump[pos] = strings.TrimSpace(strings.SplitN(line, " ", 4)[3])
				continue
			}
			want.WriteString(line)
		}
		if diff := cmp.Diff(want.String(), describe(s.data)); diff != "" {
			t.Errorf("%s (-want +got):\n%.3000s", s.name, diff)
		}
		records += strings.Count(want.String(), "\n")
		w := spe.NewPackets(s.data, 0)
		var p spe.Packet
		for w.Next(&p) {
			if p.Kind == spe.KindUnknown || p.Kind == spe.KindPadding || p.Kind == spe.KindAlignment {
				continue
			}
			want, ok := dump[p.Offset]
			if !ok || want == "Bad packet!" {
				continue // the reference decoder is out of step behind an unknown packet
			}
			packets++
			got := string(p.AppendText(nil, 0))
			// Reserved values have no words there, and numbers are signed.
			if !strings.HasPrefix(got, want) && !(p.Payload>>63 != 0 && (p.Kind == spe.KindTimestamp || p.Kind == spe.KindDataSource)) {
				t.Errorf("%s: packet at %#x: %q, want %q", s.name, p.Offset, got, want)
			}
		}
	}
	if records < 2500 || packets < 16000 {
		t.Errorf("only %d records and %d packets were compared", records, packets)
	}
	t.Logf("%d records, %d packets", records, packets)
}

// TestTextForm prints every stream and reads it back.
func TestTextForm(t *testing.T) {
	for _, s := range everyStream(t) {
		var b bytes.Buffer
		if err := spe.WriteText(&b, bytes.NewReader(s.data), 0, 0); err != nil {
			t.Fatal(err)
		}
		got, err := spe.ParseText(&b)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if !bytes.Equal(got, s.data) {
			t.Errorf("%s: other bytes after printing and reading", s.name)
		}
	}
}

// TestTruncations cuts real streams everywhere: the records before the cut are
// the same, and at most one is truncated.
func TestTruncations(t *testing.T) {
	for _, s := range everyStream(t) {
		if len(s.data) > 4000 {
			continue
		}
		var whole []spe.Record
		var d spe.Decoder
		var r spe.Record
		for d.Reset(s.data, 0); d.Next(&r); {
			whole = append(whole, r)
		}
		for n := range len(s.data) {
			i := 0
			used := 0
			for d.Reset(s.data[:n], 0); d.Next(&r); i++ {
				used += r.Size
				switch {
				case r.State == spe.StateTruncated:
					if r.Offset+r.Size != n {
						t.Fatalf("%s cut at %d: a truncated record ends at %d", s.name, n, r.Offset+r.Size)
					}
				case i >= len(whole) || r != whole[i]:
					t.Fatalf("%s cut at %d: record %d is %+v", s.name, n, i, r)
				}
			}
			if used+d.Padding() != n {
				t.Fatalf("%s cut at %d: %d bytes in records and %d of padding", s.name, n, used, d.Padding())
			}
		}
	}
}
