package perfdata

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// TestTruncations cuts recordings at 200 places each. Opening fails with a
// place, or there are the samples before the cut and a word about it.
func TestTruncations(t *testing.T) {
	inputs := map[string][]byte{
		"written": lbrFile(t, 500, 8, WriterOptions{}),
		"packed":  lbrFile(t, 500, 8, WriterOptions{Packing: PackZstd2, BigEndian: true}),
		"pipe":    lbrFile(t, 500, 8, WriterOptions{Pipe: true}),
	}
	for _, name := range []string{
		"google+autofdo__hierarchical_discriminator_test.x86_64.perf.data.hist27cba9",
		"mstange+linux-perf-data__sleep.compressed.data",
		"own__live_pipez61.data",
		"own__be_perf_data_converter__perf.data.branch_stack_spec",
		"jbeich+platform_system_extras__etm_perf_for_small_binary.data",
	} {
		b, err := os.ReadFile(filepath.Join(corpus.Path(t, "corpus", "perf"), name))
		if err != nil {
			t.Fatal(err)
		}
		inputs[name] = b
	}
	for name, b := range inputs {
		whole := openBytes(t, b)
		all := readAll(t, whole)
		for i := range 200 {
			cut := b[:i*len(b)/200]
			f, err := NewReader(bytes.NewReader(cut), int64(len(cut)), nil)
			if err != nil {
				var e *binfmt.Error
				if !errors.As(err, &e) || !errors.Is(err, binfmt.ErrTruncated) || e.Offset > int64(len(cut)) || int64(len(cut)) > whole.Header.Data.Offset {
					t.Errorf("%s cut at %#x: %v", name, len(cut), err)
				}
				continue
			}
			n := readAll(t, f)
			inside := int64(len(cut)) < whole.Header.Data.end()
			if n.samples > all.samples || n.bad > 0 || !inside && n.samples != all.samples {
				t.Errorf("%s cut at %#x: %d samples of %d, %d bad", name, len(cut), n.samples, all.samples, n.bad)
			}
			if !whole.Header.Pipe && inside && f.Truncated == nil {
				t.Errorf("%s cut at %#x: not told", name, len(cut))
			}
			for _, s := range n.ix.Stops {
				if !errors.Is(s, binfmt.ErrTruncated) || s.Offset > int64(len(cut)) {
					t.Errorf("%s cut at %#x: %v", name, len(cut), s)
				}
			}
		}
	}
}
