package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// input is what the commands of a contest read: a file or a folder below the
// folder of inputs.
type input struct {
	title string
	path  string
	// make writes it to a path beside its own, which then is renamed, so that
	// an interruption leaves nothing that looks whole.
	make func(path string) error
	size int64 // of all files, known once it is there
}

// prepare makes the input where it is missing, and reads it into the page
// cache.
func (in *input) prepare() error {
	if _, err := os.Stat(in.path); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "bench: making %s\n", in.path)
		unfinished := in.path + ".unfinished"
		if err := os.RemoveAll(unfinished); err != nil {
			return err
		}
		if err := in.make(unfinished); err != nil {
			return err
		}
		if err := os.Rename(unfinished, in.path); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	in.size = 0
	return filepath.WalkDir(in.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(io.Discard, f)
		in.size += n
		return err
	})
}

// generate runs a program of this folder's neighbours.
func generate(script string, args ...string) error {
	cmd := exec.Command("go", append([]string{"run", "./scripts/" + script}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return nil
}

// repeated is a recording of about size bytes that repeats the samples of
// another.
func (s *settings) repeated(kind, title, seed string, size int64, options ...string) *input {
	name := fmt.Sprintf("%s-%d.data", kind, size)
	return &input{title: title, path: filepath.Join(s.dir, name), make: func(path string) error {
		return generate("repeat", append(options, seed, path, fmt.Sprint(size))...)
	}}
}

// seed is a recording of the shared folder, or that of the demonstration where
// it is missing.
func (s *settings) seed(name string) string {
	path := filepath.Join(s.shared, "corpus", "perf", name)
	if _, err := os.Stat(path); err != nil {
		return filepath.Join("testdata", "demo", "collatz.data")
	}
	return path
}

const (
	branchSeed = "google+autofdo__test.lbr"
	chainSeed  = "google+perf_data_converter__perf.data.callgraph-3.8"
)

func (s *settings) branches(size int64) *input {
	return s.repeated("branches", "perf.data, branch stacks", s.seed(branchSeed), size)
}

func (s *settings) chains(size int64) *input {
	seed := s.seed(chainSeed)
	if filepath.Base(seed) != chainSeed {
		return s.repeated("branches", "perf.data, branch stacks for want of call chains", seed, size)
	}
	return s.repeated("chains", "perf.data, call chains", seed, size)
}

// packed has size bytes before compression.
func (s *settings) packed(size int64) *input {
	title := fmt.Sprintf("perf.data, zstd of %s MB", megabytes(size))
	return s.repeated("zstd", title, s.seed(branchSeed), size, "-zstd")
}

// known is a recording of a program that is at hand: shapes, or that of the
// demonstration.
func (s *settings) known(size int64) (recording *input, binary string) {
	seed, binary := filepath.Join(s.shared, "programs", "shapes.data"), filepath.Join(s.shared, "programs", "shapes.elf")
	if _, err := os.Stat(seed); err != nil {
		seed, binary = filepath.Join("testdata", "demo", "collatz.data"), filepath.Join("testdata", "demo", "collatz")
	}
	return s.repeated("known", "perf.data of "+filepath.Base(binary), seed, size), binary
}

func (s *settings) spe(size int64) *input {
	return &input{title: "Arm SPE", path: filepath.Join(s.dir, fmt.Sprintf("spe-%d.data", size)), make: func(path string) error {
		return generate("spetrace", path, fmt.Sprint(size))
	}}
}

// windows is a Windows trace of size bytes before compression.
func (s *settings) windows(kind, title string, size int64, options ...string) *input {
	name := fmt.Sprintf("%s-%d.etl", kind, size)
	return &input{title: title, path: filepath.Join(s.dir, name), make: func(path string) error {
		return generate("etltrace", append(options, path, fmt.Sprint(size))...)
	}}
}

// partials is a folder of so many different SPTs of one program.
func (s *settings) partials(count int) *input {
	return &input{title: fmt.Sprintf("%d different SPTs", count), path: filepath.Join(s.dir, fmt.Sprintf("parts-%d", count)), make: func(path string) error {
		return generate("spdworld", "-functions", "300", "-blocks", "20", "-samples", "5", "-parts", fmt.Sprint(count), "-o", path)
	}}
}

// hosts is a folder of so many recordings of 4 MB.
func (s *settings) hosts(count int) *input {
	return &input{title: fmt.Sprintf("%d perf.data, branch stacks", count), path: filepath.Join(s.dir, fmt.Sprintf("hosts-%d", count)), make: func(path string) error {
		if err := os.Mkdir(path, 0o777); err != nil {
			return err
		}
		data, err := os.ReadFile(s.seed(branchSeed))
		if err != nil {
			return err
		}
		for i := range count {
			if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("%04d.data", i+1)), data, 0o666); err != nil {
				return err
			}
		}
		return nil
	}}
}

// wide is a folder with an SPD of 250,000 blocks or more, app.spd, and so many
// different branches, arcs.spt.
func (s *settings) wide(arcs int64) *input {
	return &input{title: fmt.Sprintf("SPT of %d branches", arcs), path: filepath.Join(s.dir, fmt.Sprintf("arcs-%d", arcs)), make: func(path string) error {
		return generate("spdworld", "-functions", "10000", "-blocks", "20", "-arcs", fmt.Sprint(arcs), "-o", path)
	}}
}
