//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// collector returns the command, in a folder that is also the one for
// temporary files.
func collector(t *testing.T, dir string, args ...string) (c *exec.Cmd, out, errs *bytes.Buffer) {
	t.Helper()
	if !corpus.CanSample() {
		t.Skip("the kernel does not let this process sample")
	}
	c = exec.Command("sptcollect", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "TMPDIR="+dir)
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	c.Stdout, c.Stderr = out, errs
	return c, out, errs
}

// names lists a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// until waits for a condition.
func until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not reached", what)
		}
	}
}

// TestLost stops the collector while the program goes on, so that a ring of one
// page overflows: what is lost is counted, in the result and in the recording.
func TestLost(t *testing.T) {
	dir := t.TempDir()
	work := exec.Command("burn", "30s")
	if err := work.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { work.Process.Kill(); work.Wait() }()
	pid := strconv.Itoa(work.Process.Pid)
	c, out, errs := collector(t, dir, "--json", "--event=task-clock", "--count=100000", "--pages=1", "-p", pid, "-o", "run.data")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "sampling", func() bool { return strings.Contains(names(t, dir), ".run.data.tmp") })
	time.Sleep(200 * time.Millisecond)
	c.Process.Signal(syscall.SIGSTOP)
	time.Sleep(500 * time.Millisecond)
	c.Process.Signal(syscall.SIGCONT)
	time.Sleep(200 * time.Millisecond)
	c.Process.Signal(os.Interrupt)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	var result report.Collection
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if result.Result == nil || result.Lost == 0 || result.Samples == 0 || !strings.Contains(out.String(), "SPT1003") {
		t.Errorf("got %s", out)
	}
	f, err := perfdata.Open(filepath.Join(dir, "run.data"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lost uint64
	records := f.Records()
	for records.Next() {
		var one perfdata.Lost
		if r := records.Record(); r.Type == perfdata.TypeLost {
			if _, err := f.Decode(r, &one); err != nil {
				t.Fatal(err)
			}
			lost += one.Count
		}
	}
	if err := records.Err(); err != nil || lost != result.Lost {
		t.Errorf("the recording says %d are lost, the result %d; %v", lost, result.Lost, err)
	}
}

// TestKilled ends the collector without warning. The output that was there
// stays, no piece of the recording is left, and the next run removes the file
// that was being written.
func TestKilled(t *testing.T) {
	for _, output := range []string{"run.data", "run.spt"} {
		dir := t.TempDir()
		first, _, errs := collector(t, dir, "-q", "--event=task-clock", "-o", output, "--", "burn", "200ms")
		if err := first.Run(); err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		kept, err := os.ReadFile(filepath.Join(dir, output))
		if err != nil {
			t.Fatal(err)
		}
		work := exec.Command("burn", "30s")
		if err := work.Start(); err != nil {
			t.Fatal(err)
		}
		c, _, _ := collector(t, dir, "--event=task-clock", "-p", strconv.Itoa(work.Process.Pid), "-o", output)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "sampling", func() bool { return strings.Contains(names(t, dir), "."+output+".tmp") })
		time.Sleep(300 * time.Millisecond)
		c.Process.Kill()
		c.Wait()
		work.Process.Kill()
		work.Wait()
		if now, err := os.ReadFile(filepath.Join(dir, output)); err != nil || !bytes.Equal(now, kept) {
			t.Errorf("%s changed: %v", output, err)
		}
		if list := names(t, dir); strings.Contains(list, "sptcollect-") {
			t.Errorf("%s: left: %s", output, list)
		}
		again, _, errs := collector(t, dir, "-q", "--event=task-clock", "-o", output, "--", "burn", "200ms")
		if err := again.Run(); err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		if list := names(t, dir); list != output {
			t.Errorf("there are %s, want %s alone", list, output)
		}
	}
}

// TestSignals ends the collector by signals that ask it to: what was sampled is
// the new output.
func TestSignals(t *testing.T) {
	// A process without terminal may have been started with these ignored, and
	// so would be what it starts.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "run.data"), []byte("PERFILE2 of yesterday"), 0o644); err != nil {
			t.Fatal(err)
		}
		c, _, errs := collector(t, dir, "--event=task-clock", "-o", "run.data", "--", "burn", "30s")
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "sampling", func() bool { return strings.Contains(names(t, dir), ".run.data.tmp") })
		time.Sleep(500 * time.Millisecond)
		to := c.Process.Pid
		if sig != syscall.SIGTERM {
			to = -to // a terminal tells the command as well
		}
		syscall.Kill(to, sig)
		if err := c.Wait(); err != nil || !strings.Contains(errs.String(), "by a signal") {
			t.Errorf("%v: %v\n%s", sig, err, errs)
		}
		f, err := perfdata.Open(filepath.Join(dir, "run.data"), nil)
		if err != nil {
			t.Fatalf("%v: %v", sig, err)
		}
		samples, records := 0, f.Records()
		for records.Next() {
			if records.Record().Type == perfdata.TypeSample {
				samples++
			}
		}
		if records.Err() != nil || samples == 0 {
			t.Errorf("%v: %d samples, %v", sig, samples, records.Err())
		}
		f.Close()
		if list := names(t, dir); list != "run.data" {
			t.Errorf("%v: there are %s", sig, list)
		}
	}
}

// TestFullDisk samples onto a disk that is too small.
func TestFullDisk(t *testing.T) {
	for _, output := range []string{"run.data", "run.spt"} {
		disk := t.TempDir()
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
			t.Skipf("a small file system cannot be mounted: %v (needs root)", err)
		}
		defer syscall.Unmount(disk, 0)
		old := map[string]string{"run.data": "PERFILE2 of yesterday", "run.spt": ":TPS of yesterday"}[output]
		if err := os.WriteFile(filepath.Join(disk, output), []byte(old), 0o644); err != nil {
			t.Fatal(err)
		}
		c, _, errs := collector(t, disk, "--event=task-clock", "--count=10000", "-o", output, "--", "burn", "3s")
		err := c.Run()
		if err == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "SPT0103") {
			t.Errorf("%s: %v\n%s", output, err, errs)
		}
		if now, err := os.ReadFile(filepath.Join(disk, output)); err != nil || string(now) != old {
			t.Errorf("%s changed: %q, %v", output, now, err)
		}
		if list := names(t, disk); list != output {
			t.Errorf("%s: there are %s", output, list)
		}
	}
}

// TestPerfReads has perf read a recording with losses and a small ring.
func TestPerfReads(t *testing.T) {
	perf := corpus.Tool(t, "perf")
	dir := t.TempDir()
	c, _, errs := collector(t, dir, "--event=task-clock", "--count=100000", "--pages=1", "-o", "run.data", "--", "burn", "300ms")
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	out, err := exec.Command(perf, "report", "-i", filepath.Join(dir, "run.data"), "--stdio", "--no-children", "-g", "none").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "burn") {
		t.Errorf("%v\n%s", err, out)
	}
}
