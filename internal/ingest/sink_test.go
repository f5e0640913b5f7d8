package ingest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// registry numbers binaries by their key, as an aggregation does.
type registry struct {
	mu       sync.Mutex
	binaries []sample.Binary
	byKey    map[sample.Key]int32
}

func newRegistry() *registry { return &registry{byKey: map[sample.Key]int32{}} }

func (r *registry) Register(b sample.Binary) int32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i, ok := r.byKey[b.Key()]; ok {
		return i
	}
	i := int32(len(r.binaries))
	r.byKey[b.Key()] = i
	r.binaries = append(r.binaries, b)
	return i
}

// find returns the registered binary of a name.
func (r *registry) find(t *testing.T, name string) (int32, sample.Binary) {
	t.Helper()
	for i, b := range r.binaries {
		if b.Name == name {
			return int32(i), b
		}
	}
	t.Fatalf("no binary %s among %v", name, r.binaries)
	return 0, sample.Binary{}
}

// The things that tallies count. Binaries are numbers of the registry.
type (
	ipHit struct {
		binary int32
		opcode byte
		rva    uint32
	}
	arc struct {
		binary   int32
		from, to uint32
	}
	arcPair struct{ newer, older arc }
	call    struct {
		binary         int32
		callee, caller uint32
	}
)

// tally is a sink that keeps the multisets that every fold must preserve.
type tally struct {
	ips   map[ipHit]uint64
	arcs  map[arc]uint64
	pairs map[arcPair]uint64
	calls map[call]uint64

	stacks, entries, frames uint64 // pieces of stacks, branches and frames
	comes, leaves           uint64 // branches from and to outside
}

func newTally() *tally {
	return &tally{ips: map[ipHit]uint64{}, arcs: map[arc]uint64{}, pairs: map[arcPair]uint64{}, calls: map[call]uint64{}}
}

func (c *tally) IP(binary int32, opcode byte, rva uint32, n uint64) {
	c.ips[ipHit{binary, opcode, rva}] += n
}

func (c *tally) Branches(binary int32, stack []sample.Branch, n uint64) {
	c.stacks++
	for i, b := range stack {
		c.entries++
		if b.From == sample.Outside {
			c.comes++
		}
		if b.To == sample.Outside {
			c.leaves++
		}
		a := arc{binary, b.From, b.To}
		c.arcs[a] += n
		if i > 0 {
			c.pairs[arcPair{arc{binary, stack[i-1].From, stack[i-1].To}, a}] += n
		}
	}
}

func (c *tally) Calls(binary int32, frames []uint32, n uint64) {
	c.frames += uint64(len(frames))
	for i := 1; i < len(frames); i++ {
		c.calls[call{binary, frames[i-1], frames[i]}] += n
	}
}

func (c *tally) merge(o *tally) {
	for k, n := range o.ips {
		c.ips[k] += n
	}
	for k, n := range o.arcs {
		c.arcs[k] += n
	}
	for k, n := range o.pairs {
		c.pairs[k] += n
	}
	for k, n := range o.calls {
		c.calls[k] += n
	}
	c.comes, c.leaves = c.comes+o.comes, c.leaves+o.leaves
	c.stacks, c.entries, c.frames = c.stacks+o.stacks, c.entries+o.entries, c.frames+o.frames
}

// reading is what a test reads of one input.
type reading struct {
	*tally
	*registry
	facts *Facts
	err   error
}

// readAll reads an input with some workers and joins what their sinks saw.
func readAll(name string, stdin io.Reader, o Options) *reading {
	if o.Workers == 0 {
		o.Workers = 1
	}
	r := &reading{tally: newTally(), registry: newRegistry()}
	var sinks []*tally
	r.facts, r.err = Read(context.Background(), name, stdin, &o, r.registry, func() sample.Sink {
		s := newTally()
		sinks = append(sinks, s)
		return s
	})
	for _, s := range sinks {
		r.merge(s)
	}
	return r
}

// journal is a sink that prints all calls as lines, for scenarios.
type journal struct {
	registry *registry
	lines    []string
}

func (j *journal) name(binary int32) string { return j.registry.binaries[binary].Name }

func (j *journal) add(n uint64, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if n != 1 {
		line += fmt.Sprintf(" x%d", n)
	}
	j.lines = append(j.lines, line)
}

func (j *journal) IP(binary int32, opcode byte, rva uint32, n uint64) {
	if spt.Opcode(opcode) == spt.OpUnhaltCycle {
		j.add(n, "ip %s+%x", j.name(binary), rva)
		return
	}
	j.add(n, "ip %s+%x op=%02x", j.name(binary), rva, opcode)
}

func (j *journal) Branches(binary int32, stack []sample.Branch, n uint64) {
	var s []string
	for _, b := range stack {
		s = append(s, fmt.Sprintf("%x>%x", b.From, b.To))
	}
	j.add(n, "lbr %s %s", j.name(binary), strings.Join(s, " "))
}

func (j *journal) Calls(binary int32, frames []uint32, n uint64) {
	var s []string
	for _, f := range frames {
		s = append(s, fmt.Sprintf("%x", f))
	}
	j.add(n, "chain %s %s", j.name(binary), strings.Join(s, " "))
}

// account prints an account as "used:3 jit:1", reasons in order.
func account(a *sample.Account) string {
	var parts []string
	if a.Used() > 0 {
		parts = append(parts, fmt.Sprintf("used:%d", a.Used()))
	}
	dropped := a.Dropped()
	for _, r := range sortedNames(dropped) {
		parts = append(parts, fmt.Sprintf("%s:%d", r, dropped[r]))
	}
	return strings.Join(parts, " ")
}

// codes lists the codes of all warnings, in order.
func codes(f *Facts) string {
	var list []string
	for _, w := range f.Warnings {
		list = append(list, string(w.Code))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
