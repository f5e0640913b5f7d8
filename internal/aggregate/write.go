package aggregate

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/walks"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Written says what Write has written.
type Written struct {
	Bytes   int64
	Records uint64
	// PairsCut is how many pairs of neighbouring branches could not be kept
	// together: stacks longer than the depth of the profile.
	PairsCut uint64
	// Memory is about what putting the records of one binary together took at
	// most, in bytes. It cannot be spilled: what a record is best made of
	// depends on all branches of the binary.
	Memory int64
}

// Write writes the profile as an SPT. Its bytes depend on the sum alone. It
// fails before the first byte where the names do not fit into the format.
func (p *Profile) Write(w io.Writer) (Written, error) {
	totals := p.Totals()
	if err := p.Err(); err != nil {
		return Written{}, err
	}
	programs := make([]spt.ProgramID, len(totals))
	for i, t := range totals {
		programs[i] = spt.ProgramID{GUID: t.Binary.GUID, Age: t.Binary.Age, Name: t.Binary.ProgramName()}
	}
	counter := &countingWriter{w: w}
	out, err := spt.NewWriter(counter, programs, nil)
	if errors.Is(err, binfmt.ErrLimit) {
		return Written{}, diag.New(diag.TooManyNames, "%v", err)
	}
	if err != nil {
		return Written{}, err
	}
	e := &encoder{Writer: out, gate: walks.NewGate(p.Workers), written: Written{PairsCut: p.pairsCut()}}
	ahead := p.lookAhead(totals, e.gate)
	defer ahead.close()
	for i := range totals {
		if err := out.BeginBinary(i); err != nil {
			return Written{}, err
		}
		sums, err := ahead.next()
		if err != nil {
			return Written{}, err
		}
		if err := e.binary(sums, p.depth); err != nil {
			return Written{}, err
		}
	}
	err = out.Close()
	e.written.Bytes = counter.n
	return e.written, err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// encoder writes the records of binaries.
type encoder struct {
	*spt.Writer
	gate    walks.Gate
	written Written
	pairs   []spt.Pair
	frames  []uint32
}

func (e *encoder) binary(s binarySums, depth int) error {
	if err := e.hits(s); err != nil {
		return err
	}
	if err := e.stacks(s, depth); err != nil {
		return err
	}
	// A record of n arcs has n+1 frames.
	calls, err := s.callStacks(e.gate)
	if err != nil {
		return err
	}
	e.written.Memory = max(e.written.Memory, calls.memory)
	return calls.each(func(chain []uint64, times uint64) error {
		e.frames = append(e.frames[:0], uint32(chain[0]>>32))
		for _, arc := range chain {
			e.frames = append(e.frames, uint32(arc))
		}
		e.written.Records++
		return e.CallStack(e.frames, times-1)
	})
}

// hits writes addresses by opcode, then by count with the most frequent
// first: the addresses of a record have one count.
func (e *encoder) hits(s binarySums) error {
	list, err := s.hitList()
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.key>>32, b.key>>32), -cmp.Compare(a.count, b.count), cmp.Compare(a.key, b.key))
	})
	var rvas []uint32
	for len(list) > 0 {
		op, count := list[0].key>>32, list[0].count
		rvas = rvas[:0]
		for len(list) > 0 && list[0].key>>32 == op && list[0].count == count {
			rvas = append(rvas, uint32(list[0].key))
			list = list[1:]
		}
		e.written.Records += uint64((len(rvas) + spt.MaxEntries - 1) / spt.MaxEntries)
		if err := e.IP(spt.Opcode(op), rvas, count-1); err != nil {
			return err
		}
	}
	return nil
}

// stacks writes branches in records of at most depth.
func (e *encoder) stacks(s binarySums, depth int) error {
	emit := func(chain []uint64, times uint64) error {
		e.pairs = e.pairs[:0]
		for _, a := range chain {
			e.pairs = append(e.pairs, spt.Pair{To: uint32(a >> 32), From: uint32(a)})
		}
		e.written.Records++
		return e.LBR(e.pairs, times-1)
	}
	if depth < spt.MaxEntries {
		return s.stacks(emit)
	}
	branches, err := s.branches(e.gate)
	if err != nil {
		return err
	}
	e.written.Memory = max(e.written.Memory, branches.memory)
	e.written.PairsCut += branches.walks.LostPairs
	return branches.each(emit)
}
