package collect

import (
	"bytes"
	"encoding/binary"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// offsets in the bodies of kernel records, from the layouts in
// include/uapi/linux/perf_event.h
const (
	mmap2Name = 64 // pid, tid, addr, len, pgoff, device and inode, prot, flags
	taskSize  = 24 // pid, ppid, tid, ptid, time
)

// mapName returns the name in an MMAP2 record, the only kind of mappings that
// is asked for.
func mapName(t perfdata.Type, body []byte) (string, bool) {
	if t != perfdata.TypeMmap2 || len(body) <= mmap2Name {
		return "", false
	}
	name := body[mmap2Name:]
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	return string(name), true
}

// pidOf is the first field of records about a process.
func pidOf(body []byte) int32 { return int32At(body, 0) }

func int32At(body []byte, at int) int32 { return int32(binary.NativeEndian.Uint32(body[at:])) }

// A sideband keeps the records that say where code is, so that each piece of a
// long collection can begin with those of the processes that still live.
type sideband struct {
	byPID map[int32]*process
	order []int32 // of their first record
}

type process struct {
	records  []storedRecord
	parent   int32
	children int // that live and may have inherited mappings
	dead     bool
}

type storedRecord struct {
	typ  perfdata.Type
	misc uint16
	body []byte
}

func newSideband() *sideband { return &sideband{byPID: map[int32]*process{}} }

func (s *sideband) of(pid int32) *process {
	p := s.byPID[pid]
	if p == nil {
		p = &process{}
		s.byPID[pid] = p
		s.order = append(s.order, pid)
	}
	return p
}

// note keeps a record that is about mappings, names or the life of processes.
// Threads share all that with their process, so theirs are not kept.
func (s *sideband) note(t perfdata.Type, misc uint16, body []byte) {
	switch t {
	case perfdata.TypeMmap2:
		if len(body) < mmap2Name {
			return
		}
	case perfdata.TypeComm:
		if len(body) < 8 || int32At(body, 4) != pidOf(body) {
			return
		}
	case perfdata.TypeFork:
		if len(body) < taskSize || int32At(body, 4) == pidOf(body) {
			return
		}
	case perfdata.TypeExit:
		if len(body) < taskSize || int32At(body, 8) != pidOf(body) {
			return
		}
	default:
		return
	}
	p := s.of(pidOf(body))
	switch {
	case t == perfdata.TypeComm && misc&perfdata.MiscCommExec != 0 && p.children == 0:
		// A new program: what was mapped before is gone, and nobody inherited it.
		p.records = p.forks()
	case t == perfdata.TypeFork:
		p.parent = int32At(body, 4)
		s.of(p.parent).children++
	case t == perfdata.TypeExit:
		p.dead = true
	}
	p.records = append(p.records, storedRecord{t, misc, bytes.Clone(body)})
}

// forks are the records that say where the process came from.
func (p *process) forks() []storedRecord {
	var kept []storedRecord
	for _, r := range p.records {
		if r.typ == perfdata.TypeFork {
			kept = append(kept, r)
		}
	}
	return kept
}

// prune forgets processes that are dead and whose children are forgotten.
func (s *sideband) prune() {
	for i := len(s.order) - 1; i >= 0; i-- { // children come after their parents
		pid := s.order[i]
		p := s.byPID[pid]
		if !p.dead || p.children > 0 {
			continue
		}
		delete(s.byPID, pid)
		if parent := s.byPID[p.parent]; parent != nil && p.parent != 0 {
			parent.children--
		}
	}
	kept := s.order[:0]
	for _, pid := range s.order {
		if s.byPID[pid] != nil {
			kept = append(kept, pid)
		}
	}
	s.order = kept
}

// replay gives all records kept to write.
func (s *sideband) replay(write func(t perfdata.Type, misc uint16, body []byte) error) error {
	for _, pid := range s.order {
		for _, r := range s.byPID[pid].records {
			if err := write(r.typ, r.misc, r.body); err != nil {
				return err
			}
		}
	}
	return nil
}
