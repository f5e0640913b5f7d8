package ingest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/image"
)

// etlReading is what a test reads of log files.
type etlReading struct {
	*tally
	*registry
	facts []*Facts
	errs  []error
}

// readLogs reads inputs with ReadAll.
func readLogs(t *testing.T, o Options, names ...string) *etlReading {
	t.Helper()
	o.InsideOnly = true // TestETLScenarios has the others
	r := &etlReading{tally: newTally(), registry: newRegistry()}
	var sinks []*tally
	ReadAll(context.Background(), names, nil, &o, r.registry, func() sample.Sink {
		s := newTally()
		sinks = append(sinks, s)
		return s
	}, func(facts []*Facts, err error) {
		r.facts = append(r.facts, facts...)
		if err != nil {
			r.errs = append(r.errs, err)
		}
	})
	for _, s := range sinks {
		r.merge(s)
	}
	for _, f := range r.facts {
		checkTotals(t, f)
	}
	return r
}

// writeLog writes a trace to a file.
func writeLog(t *testing.T, path string, trace *etl.Trace) string {
	t.Helper()
	var b bytes.Buffer
	if err := etl.WriteTrace(&b, trace); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, path, b.Bytes())
}

func writeFile(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// rewrite copies a log file, with each record changed by a function: to none,
// one or several records, each with its processor and in the order of time on
// that.
func rewrite(t *testing.T, from, to string, change func(r *etl.Record, emit func(*etl.Record))) string {
	t.Helper()
	recs, err := etl.OpenAll([]string{from}, &etl.Options{NoSiblings: true})
	if err != nil {
		t.Fatal(err)
	}
	defer recs[0].Close()
	f := recs[0].Files[0]
	var out bytes.Buffer
	w, err := etl.NewWriter(&out, &etl.WriterOptions{Header: f.Header})
	if err != nil {
		t.Fatal(err)
	}
	d := f.NewDecoder(etl.AllClasses &^ etl.ClassLogFile)
	for _, stream := range f.Streams() {
		for _, i := range stream {
			records := d.Buffer(i)
			for records.Next() {
				change(records.Record(), func(r *etl.Record) {
					if err := w.Write(int(f.Buffers()[i].Processor), r); err != nil {
						t.Fatal(err)
					}
				})
			}
			if err := records.Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, to, out.Bytes())
}

// keep makes a change for rewrite that keeps some classes of records.
func keep(classes etl.Class) func(*etl.Record, func(*etl.Record)) {
	return func(r *etl.Record, emit func(*etl.Record)) {
		if r.Class&classes != 0 {
			emit(r)
		}
	}
}

// TestLogFilesCancelled reads no log file when nobody waits for it any more.
func TestLogFilesCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	files := logFiles{image.OS, ctx}
	r, size, err := files.Open(writeFile(t, filepath.Join(t.TempDir(), "a.etl"), make([]byte, 100)))
	if err != nil || size != 100 {
		t.Fatal(size, err)
	}
	var b [100]byte
	if _, err := r.ReadAt(b[:], 0); err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := r.ReadAt(b[:], 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	closeReader(r)
	if _, _, err := files.Open(filepath.Join(t.TempDir(), "missing.etl")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
