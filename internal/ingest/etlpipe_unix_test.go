//go:build unix

package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spgo-tools/spgo/internal/sample"
)

func makePipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.etl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	return path
}

// TestPipe reads log files, packed and not, and another trace from named
// pipes.
func TestPipe(t *testing.T) {
	m := newMachine(8)
	samples, want := m.script(8)
	log, err := os.ReadFile(writeLog(t, filepath.Join(t.TempDir(), "run.etl"), m.trace(samples)))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"etl": log, "gzip": gzipped(t, log), "zstd": zstdPacked(t, log)} {
		pipe, wrote := makePipe(t), make(chan error, 1)
		go func() { wrote <- os.WriteFile(pipe, data, 0) }()
		got := readLogs(t, Options{Workers: 2, SpoolDir: t.TempDir()}, pipe)
		if len(got.errs) > 0 {
			t.Fatalf("%s: %v", name, got.errs)
		}
		m.check(t, got, want)
		if got.facts[0].File != pipe {
			t.Errorf("%s: facts of %s", name, got.facts[0].File)
		}
		if err := <-wrote; err != nil {
			t.Error(err)
		}
	}
	pipe, wrote := makePipe(t), make(chan error, 1)
	go func() { wrote <- os.WriteFile(pipe, sptBytes(t, sptText), 0) }()
	if got := readLogs(t, Options{}, pipe); len(got.errs) > 0 || got.facts[0].Format != "spt" {
		t.Errorf("%v, %v", got.facts, got.errs)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

// TestPipeCancelled gives up on pipes to which nobody writes.
func TestPipeCancelled(t *testing.T) {
	for _, writer := range []bool{false, true} {
		pipe := makePipe(t)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			if writer {
				f, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
				if err == nil {
					defer f.Close()
				}
			}
			cancel()
			<-ctx.Done()
		}()
		var got error
		ReadAll(ctx, []string{pipe}, nil, &Options{}, newRegistry(), func() sample.Sink { return newTally() }, func(_ []*Facts, err error) { got = err })
		if !errors.Is(got, context.Canceled) {
			t.Errorf("with a writer %v: %v", writer, got)
		}
	}
}
