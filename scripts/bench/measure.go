package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// figure is what one run took, with all processes that it started.
type figure struct {
	wall, cpu time.Duration
	peak      int64 // bytes resident at most, of the largest process; 0 is unknown
}

// add adds a run that came after.
func (f *figure) add(next figure) {
	f.wall += next.wall
	f.cpu += next.cpu
	f.peak = max(f.peak, next.peak)
}

// measure runs a program, whose output goes nowhere. Its messages go to a file,
// the last of which is part of an error.
func measure(ctx context.Context, args []string, limit time.Duration, messages string) (figure, error) {
	log, err := os.Create(messages)
	if err != nil {
		return figure{}, err
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = log
	isolate(cmd)
	start := time.Now()
	err = cmd.Run()
	wall := time.Since(start)
	if ctx.Err() != nil {
		return figure{}, fmt.Errorf("was ended after %s", limit)
	}
	if err != nil {
		return figure{}, fmt.Errorf("%w: %s", err, lastLine(messages))
	}
	state := cmd.ProcessState
	return figure{wall, state.UserTime() + state.SystemTime(), peakOf(state)}, nil
}

func lastLine(name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}

// median returns the run with the median wall time.
func median(runs []figure) figure {
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(a, b figure) int { return int(a.wall - b.wall) })
	return sorted[len(sorted)/2]
}

// peerPath finds a peer under its own name, by which LLVM's tools know what
// they are: in the path, or as LLVM's packages install it, the newest first.
func peerPath(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/llvm-*/bin/" + name)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return name, errors.New("not installed")
	}
	return found[len(found)-1], nil
}
