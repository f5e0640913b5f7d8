package ingest

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/debias"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/image"
)

// coverage is a sink that counts how often straight code at each address of
// one binary ran.
type coverage struct {
	registered []sample.Binary
	begin, end map[uint32]uint64 // stretches of code that begin and end there
}

func (c *coverage) Register(b sample.Binary) int32 {
	c.registered = append(c.registered, b)
	return int32(len(c.registered) - 1)
}
func (c *coverage) IP(int32, byte, uint32, uint64) {}
func (c *coverage) Calls(int32, []uint32, uint64)  {}
func (c *coverage) Branches(b int32, stack []sample.Branch, n uint64) {
	if !strings.HasSuffix(c.registered[b].Name, ".elf") {
		return
	}
	for k := 1; k < len(stack); k++ {
		if to, from := stack[k].To, stack[k-1].From; from >= to && from-to < 4096 {
			c.begin[to] += n
			c.end[from] += n
		}
	}
}

// truth reads the executions of each instruction of a program.
func truth(t *testing.T, program string) (addresses []uint64, counts []float64) {
	t.Helper()
	f, err := os.Open(corpus.Path(t, "programs", program+".truth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		a, err1 := strconv.ParseUint(fields[0], 0, 64)
		n, err2 := strconv.ParseFloat(fields[2], 64)
		if err1 == nil && err2 == nil {
			addresses, counts = append(addresses, a), append(counts, n)
		}
	}
	return addresses, counts
}

// overlapOf runs a recording of a program and compares the shares of its
// instructions with the truth.
func overlapOf(t *testing.T, program, recording string, keep bool) (float64, []Stacks) {
	t.Helper()
	c := &coverage{begin: map[uint32]uint64{}, end: map[uint32]uint64{}}
	o := &Options{Workers: 2, KeepBias: keep, ImagePath: []string{corpus.Path(t, "programs")}}
	events, err := NewEventMap(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Events = events
	o.Workers = 1
	var stacks []Stacks
	ReadAll(t.Context(), []string{corpus.Path(t, "programs", recording)}, bytes.NewReader(nil), o, c, func() sample.Sink { return c }, func(facts []*Facts, err error) {
		if err != nil {
			t.Fatal(err)
		}
		stacks = append(stacks, facts[0].Stacks...)
	})
	img, err := image.Open(corpus.Path(t, "programs", program+".elf"))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	addresses, counts := truth(t, program)
	observed := make([]float64, len(addresses))
	var running, total, all float64
	for i, a := range addresses {
		rva := uint32(a - img.Base)
		running += float64(c.begin[rva])
		observed[i] = running
		running -= float64(c.end[rva])
		total += observed[i]
		all += counts[i]
	}
	overlap := 0.0
	for i := range addresses {
		overlap += min(observed[i]/total, counts[i]/all)
	}
	return 100 * overlap, stacks
}

// TestDebias compares recordings that instructions triggered with the truth,
// as they are and weighed.
func TestDebias(t *testing.T) {
	lost, regained := 0.0, 0.0
	for _, program := range []string{"wordstat", "minivm", "shapes"} {
		goal, stacks := overlapOf(t, program, program+".data", false)
		if len(stacks) != 1 || stacks[0].Biased {
			t.Errorf("%s: stacks of taken branches: %+v", program, stacks)
		}
		kept, _ := overlapOf(t, program, program+".insn.data", true)
		weighed, stacks := overlapOf(t, program, program+".insn.data", false)
		if len(stacks) != 1 || stacks[0].Unit != debias.Instructions || stacks[0].Effective == 0 {
			t.Errorf("%s: stacks of instructions: %+v", program, stacks)
		}
		t.Logf("%s: taken branches %.2f, instructions as they are %.2f, weighed %.2f; %s", program, goal, kept, weighed, stacks[0].Describe())
		lost += goal - kept
		regained += weighed - kept
	}
	t.Logf("regained %.1f %% of the loss", 100*regained/lost)
}
