package armwalk

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadLog reads the log of an emulated run: what qemu-aarch64 -d exec,nochain
// writes when it translates one instruction at a time. It returns the executed
// addresses. Each has a line:
//
//	Trace 0: 0x7f985d600100 [0000000001009331/0000000000400580/00000001/00000201] main
func ReadLog(log io.Reader) ([]uint64, error) {
	var executed []uint64
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if pc, ok := logged(lines.Text()); ok {
			executed = append(executed, pc)
		}
	}
	return executed, lines.Err()
}

// replay follows executed addresses instead of walking. The one behind a branch
// tells where it went.
func (p *Program) replay(executed []uint64, f func(*step)) (*Counts, error) {
	c := newCounts()
	previous := uint64(0)
	for i := range len(executed) - 1 {
		s, err := p.follow(executed[i], executed[i+1], previous)
		if err != nil {
			return nil, err
		}
		c.count(&s)
		f(&s)
		if s.taken {
			previous = s.target
		}
	}
	return c, nil
}

// logged returns the address of a line.
func logged(line string) (uint64, bool) {
	if !strings.HasPrefix(line, "Trace ") {
		return 0, false
	}
	fields := strings.SplitN(line, "/", 3)
	if len(fields) < 3 {
		return 0, false
	}
	pc, err := strconv.ParseUint(fields[1], 16, 64)
	return pc, err == nil
}

// follow returns the step from one executed instruction to the next.
func (p *Program) follow(pc, next, previous uint64) (step, error) {
	k, target, err := p.decode(pc)
	if err != nil {
		return step{}, err
	}
	s := step{pc: pc, target: next, kind: k, previous: previous}
	switch k {
	case jump, call, ret, indirect:
		s.taken = true
	case conditional:
		// To the next instruction it makes no difference whether it was taken.
		s.taken = next != pc+4
	}
	if s.taken && (k == jump || k == call || k == conditional) && next != target || !s.taken && next != pc+4 {
		return step{}, fmt.Errorf("the log goes from %#x to %#x, where no instruction leads", pc, next)
	}
	return s, nil
}
