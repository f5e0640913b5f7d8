package build

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// disassembly is what objdump makes of a program.
type disassembly struct {
	starts []uint64        // instructions, ascending
	kind   map[uint64]byte // j: jump, c: conditional jump, x: end of flow
	target map[uint64]uint64
}

func disassemble(t *testing.T, path string) *disassembly {
	t.Helper()
	cmd := exec.Command(corpus.Tool(t, "objdump"), "-d", "--no-show-raw-insn", "-w", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d := &disassembly{kind: make(map[uint64]byte), target: make(map[uint64]uint64)}
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		addr, text, ok := strings.Cut(s.Text(), ":\t")
		if !ok {
			continue
		}
		at, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64)
		if err != nil {
			continue
		}
		d.starts = append(d.starts, at)
		words := strings.Fields(text)
		for len(words) > 1 && (words[0] == "bnd" || words[0] == "notrack" || words[0] == "repz") {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		op, _, _ := strings.Cut(words[0], ",")
		switch {
		case op == "ret" || op == "ud2" || op == "hlt" || op == "int3":
			d.kind[at] = 'x'
		case op == "jmp":
			d.kind[at] = 'j'
		case strings.HasPrefix(op, "j") || strings.HasPrefix(op, "loop"):
			d.kind[at] = 'c'
		}
		if k := d.kind[at]; (k == 'j' || k == 'c') && len(words) > 1 {
			if v, err := strconv.ParseUint(strings.TrimPrefix(words[1], "0x"), 16, 64); err == nil {
				d.target[at] = v
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(d.starts)
	return d
}

// compare returns how many instructions are in functions, how many of them in
// blocks that objdump confirms, and the failures by class. A block is confirmed
// if it starts at an instruction, is as long in instructions, has no branch
// before its last one and no branch target behind its first one.
func compare(t *testing.T, path string, base uint64) (total, good int, classes map[string]int) {
	f, _ := build(t, path, "")
	d := disassemble(t, path)
	targets := make(map[uint64]bool)
	for _, to := range d.target {
		targets[to] = true
	}
	classes = make(map[string]int)
	for _, fn := range f.Modules[0].Functions {
		for k, b := range fn.Blocks {
			if isGap(&fn, k) {
				continue
			}
			for _, r := range b.Ranges {
				start := base + uint64(fn.RVA) + uint64(r.Start)
				end := start + uint64(r.Length)
				i, found := slices.BinarySearch(d.starts, start)
				total += int(b.Instructions)
				class := ""
				if !found {
					class = "start"
				}
				n := uint32(0)
				for ; i < len(d.starts) && d.starts[i] < end && class == ""; i++ {
					at := d.starts[i]
					n++
					last := n == b.Instructions
					switch {
					case n > b.Instructions: // padding
					case at != start && targets[at]:
						// Only branches of the same function count.
						if from(d, fn.RVA, fn.Length, base, at) {
							class = "target inside"
						}
					case d.kind[at] != 0 && !last:
						class = "branch inside"
					}
				}
				if class == "" && n < b.Instructions {
					class = "length"
				}
				if class == "" {
					good += int(b.Instructions)
				} else {
					classes[class] += int(b.Instructions)
				}
			}
		}
	}
	return total, good, classes
}

// isGap says whether a block holds what lies between the others.
func isGap(fn *spd.Function, k int) bool {
	b := &fn.Blocks[k]
	if k != len(fn.Blocks)-2 || int(b.Instructions) != len(b.Ranges) || len(b.Edges) != 1 {
		return false
	}
	for _, other := range fn.Blocks {
		for _, e := range other.Edges {
			if int(e.To) == k+1 {
				return false
			}
		}
	}
	return true
}

// from says whether a branch of a function leads to at.
func from(d *disassembly, rva, length uint32, base, at uint64) bool {
	first, _ := slices.BinarySearch(d.starts, base+uint64(rva))
	for ; first < len(d.starts) && d.starts[first] < base+uint64(rva)+uint64(length); first++ {
		if d.target[d.starts[first]] == at && d.kind[d.starts[first]] != 0 {
			return true
		}
	}
	return false
}

// TestPeer compares blocks with those that follow from objdump's disassembly.
func TestPeer(t *testing.T) {
	for _, name := range []string{"wordstat", "minivm", "shapes"} {
		total, good, classes := compare(t, corpus.Path(t, "programs/"+name+".elf"), 0x400000)
		if total < 250 || good != total {
			t.Errorf("%s: %d of %d instructions agree: %v", name, good, total, classes)
		}
	}
}

func TestPeerLarge(t *testing.T) {
	if os.Getenv("SPGO_LONG") == "" {
		t.Skip("set SPGO_LONG=1 to compare with objdump on large programs")
	}
	for _, x := range []struct {
		path string
		base uint64
	}{
		{"/usr/bin/python3", 0x400000}, {"/usr/bin/git", 0}, {"/usr/bin/perl", 0}, {"/usr/bin/gdb", 0},
		{"/usr/bin/node", 0x400000}, {"/lib/x86_64-linux-gnu/libc.so.6", 0},
	} {
		if _, err := os.Stat(x.path); err != nil {
			t.Logf("%s is not installed", x.path)
			continue
		}
		total, good, classes := compare(t, x.path, x.base)
		t.Logf("%s: %d instructions, %.4f %% in blocks that objdump confirms, others %v", x.path, total, 100*float64(good)/float64(total), classes)
		if float64(good) < 0.995*float64(total) {
			t.Errorf("%s: too few", x.path)
		}
	}
}
