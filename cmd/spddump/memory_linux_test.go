package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// TestMemory: no form of output takes more than four times the size of its
// inputs. SPGO_LONG is 1, or the size of the database to make in megabytes.
func TestMemory(t *testing.T) {
	megabytes, _ := strconv.Atoi(os.Getenv("SPGO_LONG"))
	if megabytes == 0 {
		t.Skip("SPGO_LONG is not set")
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := large(corpus.Path(t, "corpus", "spd", "EbpfCore-3349d0ac.spd"), path("big.spd"), max(megabytes, 100)<<20); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args   []string
		output string // of standard output
		input  []string
	}{
		{[]string{"/header", "big.spd"}, "", []string{"big.spd"}},
		{[]string{"big.spd"}, "", []string{"big.spd"}},
		{[]string{"--json", "big.spd"}, "big.json", []string{"big.spd"}},
		{[]string{"--jsonl", "big.spd"}, "", []string{"big.spd"}},
		{[]string{"--text", "big.spd"}, "big.txt", []string{"big.spd"}},
		{[]string{"--json", "/symbol", "big.spd"}, "", []string{"big.spd"}},
		{[]string{"--json", "/coverage", "/dyninst", "big.spd"}, "", []string{"big.spd"}},
		{[]string{"--json", "/funcid:ebpf_hash_table_find", "big.spd"}, "", []string{"big.spd"}},
		{[]string{"/validate", "big.spd"}, "", []string{"big.spd"}},
		{[]string{"/diff:big.spd", "big.spd"}, "", []string{"big.spd", "big.spd"}},
		{[]string{"/stale:big.spd", "big.spd"}, "", []string{"big.spd", "big.spd"}},
		{[]string{"--assemble", "big.json", "-o", "json.spd"}, "", []string{"big.json"}},
		{[]string{"--assemble", "big.txt", "-o", "text.spd"}, "", []string{"big.txt"}},
	} {
		cmd := exec.Command(os.Args[0], tc.args...)
		cmd.Env = append(os.Environ(), "SPDDUMP=1")
		cmd.Dir = dir
		cmd.Stdout = io.Discard
		if tc.output != "" {
			f, err := os.Create(path(tc.output))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd.Stdout = f
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if err != nil && cmd.ProcessState.ExitCode() != 6 { // copies break rules
			t.Errorf("%q: %v: %s", tc.args, err, stderr.Bytes())
			continue
		}
		var size int64
		for _, name := range tc.input {
			fi, err := os.Stat(path(name))
			if err != nil {
				t.Fatal(err)
			}
			size += fi.Size()
		}
		used := maxResident(cmd.ProcessState)
		t.Logf("%5.2f times %4d MB, %6.2f s: %q", float64(used)/float64(size), size>>20, cmd.ProcessState.UserTime().Seconds(), tc.args)
		if used > 4*size {
			t.Errorf("%q: %d bytes of memory for %d bytes", tc.args, used, size)
		}
	}
	want, err := os.ReadFile(path("big.spd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"json.spd", "text.spd"} {
		if got, err := os.ReadFile(path(name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want the %d of the original: %v", name, len(got), len(want), err)
		}
	}
}

// large makes a database of about size bytes out of copies of the functions of
// another. Each copy has names and ids, and places in the code, of its own.
func large(from, to string, size int) error {
	f, err := spd.ReadFile(from)
	if err != nil {
		return err
	}
	fi, err := os.Stat(from)
	if err != nil {
		return err
	}
	m := &f.Modules[0]
	original := m.Functions
	m.HashBuckets = 0
	for k := 1; k < size/int(fi.Size()); k++ {
		for _, fn := range original {
			fn.Name = fmt.Sprintf("%s_%d", fn.Name, k)
			fn.ID = spd.FunctionID(fn.Name)
			if fn.RVA != 0 {
				fn.RVA += uint32(k) << 20
			}
			m.Functions = append(m.Functions, fn)
		}
	}
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	defer w.Close()
	return spd.Write(w, f)
}

// maxResident is the most memory that a process had, in bytes.
func maxResident(p *os.ProcessState) int64 { return p.SysUsage().(*syscall.Rusage).Maxrss << 10 }
