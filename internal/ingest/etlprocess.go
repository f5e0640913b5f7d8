package ingest

import (
	"strings"

	"github.com/spgo-tools/spgo/internal/sample"
)

// etlProcess is one life of a process of Windows.
type etlProcess struct {
	name string // as the process event gives it; empty without one
	exe  string // path of its program; empty where it is not known
}

// processLife is what a process id stands for.
type processLife struct {
	index int32 // in etlTrace.processes
	event processEvent
}

func sameProcess(a, b processLife) bool {
	return a.event.key == b.event.key && a.event.name == b.event.name
}

// runs notes an image of the process. Its program is the image of its name, or
// the first .exe.
func (p *etlProcess) runs(path string) {
	base := sample.BaseName(path)
	switch {
	case p.name != "" && strings.EqualFold(base, p.name):
		p.exe = path
	case p.exe == "" && p.name == "" && strings.HasSuffix(strings.ToLower(base), ".exe"):
		p.exe = path
	}
}

// shown is what summaries call the process.
func (p *etlProcess) shown() string {
	switch {
	case p.name != "":
		return p.name
	case p.exe != "":
		return sample.BaseName(p.exe)
	}
	return "unknown"
}

// matches says whether any of the filters names the process, by its name with
// or without .exe or by the path of its program.
func (p *etlProcess) matches(filters []string) bool {
	for _, f := range filters {
		for _, spelling := range []string{f, f + ".exe"} {
			if MatchName([]string{spelling}, p.name, p.exe) {
				return true
			}
		}
	}
	return false
}

// followProcesses makes the time lines of processes and threads.
func (t *etlTrace) followProcesses(side *sideBand) {
	t.lives = newTimeline[uint32](sameProcess, nil)
	for i := range side.processes {
		s := &side.processes[i]
		t.process(s.event.what, s.time, s.event)
	}
	t.threads = newTimeline[uint32](func(a, b uint32) bool { return a == b }, nil)
	for i := range side.threads {
		s := &side.threads[i]
		t.threads.note(s.event.what, s.time, s.event.tid, s.event.pid)
	}
}

// process notes an event of a process, and makes the process if it is the
// first one of this life.
func (t *etlTrace) process(what occurrence, time uint64, e processEvent) *etlProcess {
	next := int32(len(t.processes))
	life := t.lives.note(what, time, e.pid, processLife{next, e})
	if life == nil {
		return nil
	}
	if life.thing.index == next {
		t.processes = append(t.processes, etlProcess{name: e.name})
	}
	return &t.processes[life.thing.index]
}

// processAt is the process that has an id at a time, made if no event tells of
// it.
func (t *etlTrace) processAt(pid uint32, time uint64) *etlProcess {
	if life, _ := t.lives.at(pid, time); life != nil {
		return &t.processes[life.thing.index]
	}
	return t.process(present, time, processEvent{pid: pid})
}
