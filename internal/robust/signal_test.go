//go:build unix

package robust

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rounds is how often each job is hit; SPGO_LONG=1 does so many times.
func rounds() int {
	if os.Getenv("SPGO_LONG") != "" {
		return 100
	}
	return 4
}

// hit starts a job, sends it a signal after a random part of the time that it
// takes, and returns how it ended.
func (w *world) hit(j job, sig syscall.Signal, after time.Duration) (code int, stderr string, c *exec.Cmd) {
	w.t.Helper()
	c = w.command(j.name, j.args...)
	var out bytes.Buffer
	c.Stderr = &out
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(after)
	c.Process.Signal(sig) // fails if it is done
	c.Wait()
	return c.ProcessState.ExitCode(), out.String(), c
}

// TestSignals interrupts every job at random moments. It ends with exit code 1
// and says so, or by the signal while it has nothing to undo: before it does
// anything, or when the work is done. Its output is whole or not there, and it
// leaves nothing.
func TestSignals(t *testing.T) {
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(3, 1))
	ends := map[string]int{}
	for _, j := range jobs {
		begin := time.Now()
		want := w.expected(j)
		duration := time.Since(begin)
		for round := range rounds() {
			os.Remove(w.path("out"))
			sig := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[round%3]
			code, text, c := w.hit(j, sig, time.Duration(rnd.Int64N(int64(duration))))
			got := w.read("out")
			switch status := c.ProcessState.Sys().(syscall.WaitStatus); {
			case code == 0:
				ends["done"]++
				if got == nil {
					t.Errorf("%v: no output with exit code 0", j)
				}
			case code == 1 && strings.Contains(text, "SPT0006"):
				ends["interrupted"]++
			case status.Signaled() && status.Signal() == sig:
				ends["signal"]++
			default:
				t.Errorf("%v: exit %d: %s", j, code, text)
			}
			if got != nil && !bytes.Equal(got, want) {
				t.Errorf("%v: %d bytes of %d", j, len(got), len(want))
			}
			if left := w.temporaries(); len(left) > 0 {
				t.Fatalf("%v leaves %v (exit %d, %s)", j, left, code, text)
			}
		}
	}
	t.Logf("ends: %v", ends)
}

// TestKilled ends every job at once at random moments: the old output or the
// new one is there, whole, and the next run works.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(3, 2))
	for _, j := range jobs {
		begin := time.Now()
		want := w.expected(j)
		duration := time.Since(begin)
		for range rounds() {
			w.hit(j, syscall.SIGKILL, time.Duration(rnd.Int64N(int64(duration))))
			if got := w.read("out"); !bytes.Equal(got, want) && !strings.Contains(j.String(), "/merge") {
				t.Fatalf("%v: %d bytes of %d", j, len(got), len(want))
			}
		}
		if got := w.expected(j); !bytes.Equal(got, want) {
			t.Errorf("%v: the next run writes other bytes", j)
		}
		// Nothing is left where temporary files are kept: they have no names.
		if entries, _ := os.ReadDir(w.temp); len(entries) > 0 {
			t.Errorf("%v leaves %d files", j, len(entries))
		}
	}
}
