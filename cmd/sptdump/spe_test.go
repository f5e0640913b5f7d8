package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// TestSPEPackets prints the packets of recordings, as text and as JSON, which
// have the same bytes.
func TestSPEPackets(t *testing.T) {
	for file, want := range map[string]struct {
		packets, bytes int
		line           string
	}{
		"own__spe_split.data":   {20, 136, "00000014:  b1 00 11 40 00 00 00 00 80                      TGT 0x401100 el0 ns=1\n"},
		"own__spe_garbage.data": {40000, 200000, "UNKNOWN\n"},
	} {
		name := corpus.Path(t, "corpus", "perf", file)
		run := func(args ...string) string {
			var out, text bytes.Buffer
			if code := command().Execute(append(args, name), cli.Streams{Out: &out, Err: &text}); code != 0 {
				t.Fatalf("%q: exit code %d: %s", args, code, text.String())
			}
			return out.String()
		}
		text := run("--spe-packets")
		if !strings.Contains(text, want.line) || !strings.HasPrefix(text, "AUXTRACE at 0x") {
			t.Errorf("%s: %.300s", file, text)
		}
		var data []byte
		for _, part := range strings.Split("\n"+text, "\nAUXTRACE at")[1:] {
			_, lines, _ := strings.Cut(part, "\n")
			piece, err := spe.ParseText(strings.NewReader(lines))
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, piece...)
		}
		var doc struct {
			Auxtrace []struct {
				Bytes   int
				Packets []struct{ Offset, Bytes, Text string }
			}
		}
		if err := json.Unmarshal([]byte(run("/spe-packets", "--json")), &doc); err != nil {
			t.Fatal(err)
		}
		packets, size := 0, 0
		for _, a := range doc.Auxtrace {
			n := 0
			for _, p := range a.Packets {
				n += len(p.Bytes) / 2
				if p.Offset == "" || p.Text == "" {
					t.Fatalf("%s: packet %+v", file, p)
				}
			}
			if n != a.Bytes {
				t.Errorf("%s: packets have %d of %d bytes", file, n, a.Bytes)
			}
			packets, size = packets+len(a.Packets), size+n
		}
		if size != want.bytes || len(data) != want.bytes || packets < want.packets {
			t.Errorf("%s: %d packets of %d bytes as JSON, %d bytes as text; want %d of %d", file, packets, size, len(data), want.packets, want.bytes)
		}
	}
}

// TestSPEPacketsRefused tells what is wrong with files that have none.
func TestSPEPacketsRefused(t *testing.T) {
	for file, want := range map[string]struct {
		code int
		text string
	}{
		corpus.Path(t, "corpus", "perf", "google+autofdo__test.lbr"): {4, "no Arm SPE data"},
		corpus.Path(t, "corpus", "perf", "spe_bytes.tsv"):            {1, "not recognised"},
	} {
		var out, text bytes.Buffer
		if code := command().Execute([]string{"--spe-packets", file}, cli.Streams{Out: &out, Err: &text}); code != want.code || !strings.Contains(text.String(), want.text) {
			t.Errorf("%s: exit code %d: %s", file, code, text.String())
		}
	}
}

// TestSPEPacketsOfOtherTraces names the hardware trace that a recording has
// instead.
func TestSPEPacketsOfOtherTraces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "perf.data")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := perfdata.NewWriter(f, perfdata.WriterOptions{Attrs: []*perfdata.Attr{{Type: 8, IDs: []uint64{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteEvent(&perfdata.AuxtraceInfo{Kind: perfdata.AuxCoreSightETM, Priv: []uint64{0, 8}}, perfdata.SampleIDs{}); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteAuxtrace(perfdata.Auxtrace{TID: -1}, make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var out, text bytes.Buffer
	if code := command().Execute([]string{"--spe-packets", name}, cli.Streams{Out: &out, Err: &text}); code != 4 || !strings.Contains(text.String(), "hardware trace is CoreSight ETM") {
		t.Errorf("exit code %d: %s", code, text.String())
	}
}
