package rerun

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/image"
)

// A Run is every instruction that a program executed, those in libraries
// included.
type Run struct {
	name  string // of the program, without a folder
	id    []byte // of its build
	code  []image.Segment
	insts []Executed
	order []uint32 // of the executed instructions, as indexes of insts
	jumps []uint32 // indexes of order: where the one before branched to
}

// Executed is an instruction with what it did.
type Executed struct {
	Address uint64
	Size    uint8
	Count   uint64 // how often it was executed
	Taken   uint64 // how often it branched away
}

// Trace executes a program, an ELF file for x86-64 that is not position
// independent, under valgrind. Neither the environment nor the folder that it is
// in has influence: both would be on its stack.
func Trace(valgrind, path string, args ...string) (*Run, error) {
	img, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	defer img.Close()
	cmd := exec.Command(valgrind, append([]string{"--tool=lackey", "--trace-mem=yes", "--log-fd=2", "./" + filepath.Base(path)}, args...)...)
	cmd.Dir, cmd.Env = filepath.Dir(path), []string{"LC_ALL=C"}
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &Run{name: filepath.Base(path), id: img.ELF.BuildID}
	for _, s := range img.ELF.Segments {
		if s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 {
			r.code = append(r.code, s)
		}
	}
	err = r.read(log)
	if failed := cmd.Wait(); err == nil {
		err = failed
	}
	if err == nil && len(r.order) == 0 {
		err = fmt.Errorf("valgrind printed no instructions of %s", path)
	}
	return r, err
}

// read reads valgrind's log. An instruction has a line of its address and size:
//
//	I  0401136,5
func (r *Run) read(log io.Reader) error {
	known := make(map[uint64]uint32)
	last, end := uint32(0), uint64(0)
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		address, size, ok := logged(lines.Bytes())
		if !ok {
			continue
		}
		k, ok := known[address]
		if !ok {
			k = uint32(len(r.insts))
			known[address] = k
			r.insts = append(r.insts, Executed{Address: address, Size: size})
		}
		r.insts[k].Count++
		// Twice the same is an iteration of a repeated instruction.
		if len(r.order) > 0 && address != end && k != last {
			r.insts[last].Taken++
			r.jumps = append(r.jumps, uint32(len(r.order)))
		}
		r.order = append(r.order, k)
		last, end = k, address+uint64(size)
	}
	return lines.Err()
}

// logged returns the instruction of a line.
func logged(line []byte) (address uint64, size uint8, ok bool) {
	text, ok := bytes.CutPrefix(line, []byte("I  "))
	if !ok {
		return 0, 0, false
	}
	a, s, ok := bytes.Cut(text, []byte(","))
	if !ok {
		return 0, 0, false
	}
	address, err1 := strconv.ParseUint(string(a), 16, 64)
	n, err2 := strconv.ParseUint(string(s), 10, 8)
	return address, uint8(n), err1 == nil && err2 == nil
}

// Instructions returns the instructions of the program's own file.
func (r *Run) Instructions() []Executed {
	var list []Executed
	for _, e := range r.insts {
		for _, s := range r.code {
			if e.Address >= s.VAddr && e.Address-s.VAddr < s.MemSize {
				list = append(list, e)
			}
		}
	}
	return list
}
