package ingest

import (
	"bytes"
	"fmt"
	"strings"
	"unsafe"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// sideKind is the kind of a side-band event.
type sideKind uint8

const (
	sideMap     sideKind = iota
	sideData             // a map without code: it only takes the place of what was there
	sideHeaders          // the start of a PE file, mapped without code
	sideComm
	sideExec
	sideFork
)

// sideEvent is a side-band record in the form in which it is sorted and
// replayed.
type sideEvent struct {
	time       uint64
	start, len uint64
	offset     uint64 // in the file; for an anonymous map the address
	kind       sideKind
	pid, other uint32 // other: parent of a fork
	thing      int32  // of a map: evidence, or one of the negative owners
	name       string // of a comm
}

// kernelPID stands for the address space of the kernel, nobodyPID for a process
// that ended or is not visible to the recorder. Maps of the kernel have that
// number too, so the kernel needs one of its own.
const (
	kernelPID = 0xfffffffe
	nobodyPID = 0xffffffff
)

// Owners of regions that are no files. They are the negative reasons for which
// samples there are dropped.
const (
	ownerJIT      = -int32(sample.JIT)
	ownerVsyscall = -int32(sample.Vsyscall)
	ownerHidden   = -int32(sample.KernelHidden)
)

// sideBand keeps a record that changes processes or address spaces.
func (t *perfTrace) sideBand(r *perfdata.Record) {
	switch r.Type {
	case perfdata.TypeSample:
		t.sampleClock(r)
	case perfdata.TypeMmap, perfdata.TypeMmap2:
		var m perfdata.Mmap
		if time, ok := t.decode(r, &m); ok {
			t.noteThread(m.TID, m.PID, time)
			t.mapEvent(&m, time)
		}
	case perfdata.TypeComm:
		var c perfdata.Comm
		time, ok := t.decode(r, &c)
		t.noteThread(c.TID, c.PID, time)
		switch {
		case !ok:
		case c.Exec:
			t.add(sideEvent{time: time, kind: sideExec, pid: uint32(c.PID), name: c.Name})
		case c.PID == c.TID:
			t.add(sideEvent{time: time, kind: sideComm, pid: uint32(c.PID), name: c.Name})
		}
	case perfdata.TypeFork:
		var f perfdata.Task
		time, ok := t.decode(r, &f)
		t.noteThread(f.TID, f.PID, time)
		if ok && f.PID != f.PPID && !f.Synthesized {
			t.add(sideEvent{time: time, kind: sideFork, pid: uint32(f.PID), other: uint32(f.PPID)})
		}
	case perfdata.TypeKsymbol:
		var k perfdata.Ksymbol
		if time, ok := t.decode(r, &k); ok && k.Kind == ksymbolBPF && !k.Unregister {
			t.add(sideEvent{time: time, kind: sideMap, pid: kernelPID, start: k.Addr, len: uint64(k.Len), thing: ownerJIT})
		}
	default:
		t.speBand(r)
	}
}

func (t *perfTrace) add(e sideEvent) {
	if e.pid != nobodyPID {
		t.side = append(t.side, e)
		t.sideBytes += int64(unsafe.Sizeof(e)) + int64(len(e.name))
	}
}

// sideFits says whether the side band can be kept. A recording that is packed
// can hold far more of it than its size tells.
func (t *perfTrace) sideFits() error {
	if most := t.options.mostSideBand(); t.sideBytes > most {
		return &binfmt.Error{File: t.facts.File, Part: "records of maps and processes", Offset: -1,
			Want: fmt.Sprintf("at most %d MiB", most>>20), Got: fmt.Sprintf("%d records", len(t.side)), Err: binfmt.ErrLimit}
	}
	return nil
}

// decode decodes a record and gives it a time. A record of a file without time
// stamps on such records happened after the sample before it; one that perf
// made up itself has time 0, or in some files all ones, and so precedes
// everything.
func (t *perfTrace) decode(r *perfdata.Record, ev perfdata.Event) (time uint64, ok bool) {
	ids, err := t.file.Decode(r, ev)
	if err != nil {
		t.facts.Losses["malformed_"+strings.ToLower(r.Type.String())]++
		return 0, false
	}
	if ids.Fields&perfdata.SampleTime != 0 && ids.Time != addrspace.Forever {
		return ids.Time, true
	}
	return t.clock, true
}

// sampleClock notes the time after a sample if later records need it.
func (t *perfTrace) sampleClock(r *perfdata.Record) {
	if t.clockDecoder == nil {
		return
	}
	if s := &t.clockSample; t.clockDecoder.Decode(r, s) == perfdata.DefectNone && s.Fields&perfdata.SampleTime != 0 {
		t.clock = max(t.clock, binfmt.SatAdd(s.Time, 1))
	}
}

// mapEvent keeps a map.
func (t *perfTrace) mapEvent(m *perfdata.Mmap, time uint64) {
	e := sideEvent{time: time, pid: uint32(m.PID), start: m.Addr, len: m.Len, offset: m.PgOff}
	switch m.Mode {
	case perfdata.ModeGuestKernel, perfdata.ModeGuestUser, perfdata.ModeHypervisor:
		return // samples of guests are not resolved
	case perfdata.ModeUser:
	default:
		if m.Mode == perfdata.ModeKernel || e.pid == nobodyPID {
			e.pid = kernelPID
		}
	}
	// Maps of the kernel have no protection: the recorder makes them up.
	switch data := m.Data || m.V2 && m.Prot&protExec == 0 && e.pid != kernelPID; {
	case data && m.PgOff == 0 && isPEName(m.Name):
		e.kind, e.thing = sideHeaders, t.mapped(m)
	case data:
		e.kind = sideData
	case e.pid == kernelPID:
		e.thing = t.kernelMap(m)
	case m.Name == "[vsyscall]":
		e.thing = ownerVsyscall
	case isAnonymous(m.Name) && len(m.BuildID) == 0:
		e.thing = ownerJIT
	default:
		e.thing = t.mapped(m)
	}
	t.add(e)
}

const (
	protExec   = 4 // of Mmap.Prot
	ksymbolBPF = 1 // of Ksymbol.Kind
)

// isAnonymous says whether code in a map of this name is made at run time,
// unless it has a build id: then it is a program that runs from memory. The
// vdso is not: the kernel brings it along as an image.
func isAnonymous(name string) bool {
	if name == "" || strings.HasPrefix(name, "//") || strings.HasPrefix(name, "anon_inode:") || strings.HasPrefix(name, "[anon") ||
		strings.HasPrefix(name, "/SYSV") || strings.HasPrefix(name, "/memfd:") || strings.HasPrefix(name, "/dev/zero") ||
		strings.HasPrefix(name, "/dev/ashmem/") || strings.HasPrefix(name, "/anon_hugepage") {
		return true
	}
	return strings.HasPrefix(name, "[heap") || strings.HasPrefix(name, "[stack")
}

// deletedSuffix marks files that were deleted or replaced while mapped.
const deletedSuffix = " (deleted)"

// evidenceOf returns the number of the evidence for a file.
func (t *perfTrace) evidenceOf(path string, id perfdata.ID) int32 {
	key := path + "\x00" + string(bytes.TrimRight(id, "\x00"))
	if n, ok := t.byPath[key]; ok {
		return n
	}
	n := int32(len(t.evidence))
	t.byPath[key] = n
	ev := &evidence{path: path}
	ev.path, ev.deleted = strings.CutSuffix(path, deletedSuffix)
	if len(id) > 0 {
		ev.buildID, ev.identity = id, sample.IdentityMMAP2
	}
	t.evidence = append(t.evidence, ev)
	t.sideBytes += evidenceBytes + 2*int64(len(path))
	return n
}

// evidenceBytes is about what the evidence for a file takes beside its path.
const evidenceBytes = 400

// mapped returns the evidence of a file that is mapped into a process.
func (t *perfTrace) mapped(m *perfdata.Mmap) int32 {
	n := t.evidenceOf(m.Name, m.BuildID)
	ev := t.evidence[n]
	if isPEName(ev.path) {
		ev.windows = true
		ev.window = ev.window || m.PgOff == 0
	}
	const enough = 16 // maps to check a file against
	if len(ev.offsets) < enough {
		ev.offsets = append(ev.offsets, m.PgOff)
	}
	return n
}

// Names of the kernel's map begin so; the symbol that its load address is
// that of follows.
const (
	kernelMapPrefix = "[kernel.kallsyms]"
	kernelName      = "[kernel.kallsyms]"
	vdsoName        = "[vdso]"
)

// kernelMap returns the evidence of the kernel or a module.
func (t *perfTrace) kernelMap(m *perfdata.Mmap) int32 {
	symbol, isKernel := strings.CutPrefix(m.Name, kernelMapPrefix)
	if !isKernel {
		n := t.evidenceOf(m.Name, m.BuildID)
		t.evidence[n].module = true
		return n
	}
	if m.PgOff == 0 {
		return ownerHidden
	}
	n := t.evidenceOf(kernelName, m.BuildID)
	t.evidence[n].kernelSymbol = symbol
	return n
}

// resolve finds the mapped files and registers their binaries.
func (t *perfTrace) resolve() {
	table := map[string]perfdata.ID{}
	for _, b := range t.file.Features.BuildIDs {
		name := b.Name
		if strings.HasPrefix(name, kernelMapPrefix) {
			name = kernelName
		}
		if table[name] == nil {
			table[name] = b.ID
		}
	}
	for _, ev := range t.evidence {
		name := ev.path
		if ev.deleted {
			name += deletedSuffix // without it the name is that of another file
		}
		if id := table[name]; ev.buildID == nil && id != nil {
			ev.buildID, ev.identity = id, sample.IdentityFeature
		}
	}
	t.reservations()
	t.locator = newLocator(t.options, t.facts)
	for _, ev := range t.evidence {
		var o *object
		switch {
		case ev.kernelSymbol != "":
			o = t.locator.locateKernel(ev)
		case ev.module, ev.path == vdsoName:
			o = t.locator.unlocated(ev)
		default:
			o = t.locator.locate(ev)
		}
		o.index = t.registry.Register(o.binary)
		switch {
		case o.binary.Kernel && t.options.NoKernel:
			o.skip = sample.KernelLeftOut
		case !t.options.wantsBinary(&o.binary):
			o.skip = sample.OtherBinary
		}
		t.objects = append(t.objects, o)
	}
}
