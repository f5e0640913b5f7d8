package spdgen

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/spgo-tools/spgo/pkg/spt"
)

const (
	stride     = 7  // instructions by which the distances of branches differ
	longestRun = 12 // instructions from a target to the next source, at most
)

// WriteArcs writes an SPT of n different branches, once each: as wide as a
// profile can be. Sources and targets are instructions of the program, mostly
// of the same function, and the neighbours of a record give straight runs of
// code, too. It fails where the program is too small.
func (p *Program) WriteArcs(out io.Writer, seed uint64, n int) error {
	order := make([]int32, len(p.pieces))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortFunc(order, func(a, b int32) int { return int(int64(p.pieces[a].start) - int64(p.pieces[b].start)) })
	var starts []uint32
	for _, k := range order {
		starts = append(starts, p.starts[p.pieces[k].first:p.pieces[k].last]...)
	}
	rounds := (n + len(starts) - 1) / max(len(starts), 1)
	if rounds*stride >= len(starts)/2 {
		return fmt.Errorf("spdgen: %d branches of %d instructions: want fewer or a larger program", n, len(starts))
	}
	h := &p.File.Header
	file, err := spt.NewWriter(out, []spt.ProgramID{{GUID: h.GUID, Age: h.Age, Name: h.Binary}}, nil)
	if err == nil {
		err = file.BeginBinary(0)
	}
	if err != nil {
		return err
	}
	// Each round has a branch from every instruction to the one at a distance
	// that no other round has. A record goes on a few instructions behind the
	// target as long as that instruction has not branched in the round.
	r := rand.New(rand.NewPCG(seed, 4))
	pairs := make([]spt.Pair, 0, maxDepthLBR)
	emit := func(least int) error {
		if len(pairs) < least || len(pairs) == 0 {
			return nil
		}
		slices.Reverse(pairs) // the newest first
		err := file.LBR(pairs, 0)
		pairs = pairs[:0]
		return err
	}
	left := n
	used := make([]bool, len(starts))
	for k := range rounds {
		distance := len(starts) + (k/2*stride+3)*(1-k%2*2)
		clear(used)
		at := 0
		for first := 0; first < len(starts) && left > 0; {
			if used[at] {
				if err := emit(1); err != nil {
					return err
				}
				for first < len(starts) && used[first] {
					first++
				}
				at = first
				continue
			}
			used[at] = true
			left--
			to := (at + distance) % len(starts)
			pairs = append(pairs, spt.Pair{From: starts[at], To: starts[to]})
			if err := emit(maxDepthLBR); err != nil {
				return err
			}
			at = (to + r.IntN(longestRun)) % len(starts)
		}
		if err := emit(1); err != nil {
			return err
		}
	}
	return file.Close()
}
