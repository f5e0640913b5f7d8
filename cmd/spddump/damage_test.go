package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// TestDamage changes bytes all over a database, and cuts it there: the
// command shows what it can and says why it cannot show more, with an exit
// code that a script can act on. SPGO_LONG takes every byte, and a published file.
func TestDamage(t *testing.T) {
	var made bytes.Buffer
	if err := spd.Write(&made, database("one.exe")); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("SPGO_LONG") == "" {
		damage(t, made.Bytes(), 11)
	} else {
		t.Run("made", func(t *testing.T) { damage(t, made.Bytes(), 1) })
		data, err := os.ReadFile(corpus.Path(t, "corpus", "spd", "map-9ad16a75.spd"))
		if err != nil {
			t.Fatal(err)
		}
		t.Run("published", func(t *testing.T) { damage(t, data, 33) })
	}
}

func damage(t *testing.T, data []byte, step int) {
	name := filepath.Join(t.TempDir(), "x.spd")
	for at := 0; at < len(data); at += step {
		changed := bytes.Clone(data)
		changed[at] ^= byte(1 + at%255)
		for what, damaged := range map[string][]byte{"changed": changed, "cut": data[:at]} {
			if err := os.WriteFile(name, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"--json"}, {"/all", "/validate"}, {"--jsonl"}, {"--json", "/symbol", "/minidump"}} {
				var out, errs bytes.Buffer
				code := command().Execute(append(args, name), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
				if !slices.Contains([]int{0, 1, 6}, code) || strings.Contains(errs.String(), "SPT0001") || what == "cut" && code != 6 {
					t.Fatalf("%s at %#x: %q: exit %d: %s", what, at, args, code, errs.Bytes())
				}
				if (code == 0) != (errs.Len() == 0) {
					t.Errorf("%s at %#x: %q: exit %d with %q", what, at, args, code, errs.Bytes())
				}
				if args[0] == "--json" && !json.Valid(out.Bytes()) {
					t.Errorf("%s at %#x: %q: no JSON: %s", what, at, args, out.Bytes())
				}
			}
		}
	}
}
