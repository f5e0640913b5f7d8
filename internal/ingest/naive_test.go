package ingest

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// naive resolves a recording by the book and without any speed: for every
// address it walks back through what happened to the process, newest first.
// Without files at hand addresses are file offsets.
type naive struct {
	t       *testing.T
	file    *perfdata.File
	happen  map[uint32][]happening // by process
	samples []perfdata.Sample      // deep copies
	clock   uint64
	paths   map[string]int32 // numbers of binaries
	tally   *tally
}

// happening is a change of an address space.
type happening struct {
	time       uint64
	what       byte // m code of a file, a run-time code, d data, h hidden kernel, e exec, f fork
	start, end uint64
	bias       uint64
	path       string
	parent     uint32
	inFile     byte // of run-time code: y inside the code of a file, n not; 0 not yet known
}

// runTimeNames are the names of maps that are no files.
var runTimeNames = regexp.MustCompile(`^$|^//|^\[(anon|heap|stack)|^anon_inode:|^/(SYSV|memfd:|anon_hugepage|dev/zero|dev/ashmem/)`)

// hit is an address in a file; path is empty where there is none.
type hit struct {
	path string
	rva  uint64
}

func (h hit) ok() bool { return h.path != "" && h.rva < 1<<32 }

// newNaive reads all of a recording. It does not know PE images; hasPE says
// that it met some.
func newNaive(t *testing.T, path string, paths map[string]int32) (n *naive, hasPE bool) {
	f, err := perfdata.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n = &naive{t: t, file: f, happen: map[uint32][]happening{}, paths: paths, tally: newTally()}
	timed := true // records other than samples have times
	for _, a := range f.Attrs {
		timed = timed && a.Flags&perfdata.FlagSampleIDAll != 0
	}
	decoder := f.NewDecoder(perfdata.SampleAll)
	rs := f.Records()
	defer rs.Close()
	for rs.Next() {
		r := rs.Record()
		var m perfdata.Mmap
		var c perfdata.Comm
		var task perfdata.Task
		var k perfdata.Ksymbol
		time := func(ids perfdata.SampleIDs) uint64 {
			if ids.Fields&perfdata.SampleTime == 0 && !timed {
				return n.clock
			}
			return ids.Time
		}
		switch r.Type {
		case perfdata.TypeSample:
			var s perfdata.Sample
			if decoder.Decode(r, &s) == perfdata.DefectNone {
				s.CallChain, s.Branches = slices.Clone(s.CallChain), slices.Clone(s.Branches)
				n.samples = append(n.samples, s)
				n.clock = max(n.clock, s.Time+1)
			}
		case perfdata.TypeMmap, perfdata.TypeMmap2:
			if ids, err := f.Decode(r, &m); err == nil {
				hasPE = hasPE || strings.HasSuffix(m.Name, ".exe") || strings.HasSuffix(m.Name, ".dll")
				n.mmap(&m, time(ids))
			}
		case perfdata.TypeComm:
			if ids, err := f.Decode(r, &c); err == nil && c.Exec {
				n.add(uint32(c.PID), happening{time: time(ids), what: 'e'})
			}
		case perfdata.TypeFork:
			if ids, err := f.Decode(r, &task); err == nil && task.PID != task.PPID && !task.Synthesized {
				n.add(uint32(task.PID), happening{time: time(ids), what: 'f', parent: uint32(task.PPID)})
			}
		case perfdata.TypeKsymbol:
			if ids, err := f.Decode(r, &k); err == nil && k.Kind == 1 && !k.Unregister {
				n.add(kernelPID, happening{time: time(ids), what: 'a', start: k.Addr, end: k.Addr + uint64(k.Len)})
			}
		}
	}
	for _, list := range n.happen {
		slices.SortStableFunc(list, func(a, b happening) int { return cmp.Compare(a.time, b.time) })
	}
	return n, hasPE
}

func (n *naive) add(pid uint32, h happening) { n.happen[pid] = append(n.happen[pid], h) }

func (n *naive) mmap(m *perfdata.Mmap, time uint64) {
	h := happening{time: time, what: 'm', start: m.Addr, end: m.Addr + m.Len, bias: m.PgOff - m.Addr, path: strings.TrimSuffix(m.Name, " (deleted)")}
	if h.end < h.start {
		h.end = 1<<64 - 1
	}
	pid := uint32(m.PID)
	switch {
	case m.Mode > perfdata.ModeUser:
		return
	case m.Mode == perfdata.ModeKernel || m.PID == -1 && m.Mode == perfdata.ModeUnknown:
		pid = kernelPID
		switch {
		case !strings.HasPrefix(m.Name, "[kernel.kallsyms]"):
			h.bias = -m.Addr
		case m.PgOff == 0:
			h.what = 'h'
		default:
			h.path, h.bias = "[kernel.kallsyms]", -m.PgOff
		}
	case m.PID == -1:
		return
	case m.Name == "[vdso]":
		h.bias = -m.Addr
	case m.Name == "[vsyscall]" || len(m.BuildID) == 0 && runTimeNames.MatchString(m.Name):
		h.what = 'a'
	}
	if m.Data || m.V2 && m.Prot&4 == 0 && pid != kernelPID {
		h.what = 'd'
	}
	n.add(pid, h)
}

// at says what covers an address of a process just after some of the things
// that happened to it, the newest ones below index i.
func (n *naive) at(pid uint32, i int, addr uint64) happening {
	list := n.happen[pid]
	for i--; i >= 0; i-- {
		h := list[i]
		switch {
		case h.what == 'e':
			return happening{}
		case h.what == 'f':
			return n.at(h.parent, n.until(h.parent, h.time), addr)
		case addr < h.start || addr >= h.end:
		case h.what == 'a' && pid != kernelPID && h.path != "[vsyscall]":
			// Run-time code inside a file is the file's text on other pages.
			if h.inFile == 0 {
				h.inFile = 'n'
				if a, z := n.at(pid, i, h.start), n.at(pid, i, h.end-1); a.what == 'm' && z.what == 'm' && a.path == z.path {
					h.inFile = 'y'
				}
				list[i].inFile = h.inFile
			}
			if h.inFile == 'n' {
				return h
			}
		default:
			return h
		}
	}
	return happening{}
}

// until is the number of things that happened to a process up to a time.
func (n *naive) until(pid uint32, time uint64) int {
	list := n.happen[pid]
	return sort.Search(len(list), func(i int) bool { return list[i].time > time })
}

// find resolves an address; behind is 1 for a return address.
func (n *naive) find(s *perfdata.Sample, addr uint64, kernel bool, behind uint64) hit {
	pid := uint32(s.PID)
	if kernel {
		pid = kernelPID
	} else if s.PID == -1 {
		return hit{}
	}
	list := n.happen[pid]
	time := s.Time
	if s.Fields&perfdata.SampleTime == 0 {
		time = 1<<64 - 1
	}
	i := n.until(pid, time)
	next := func() { // to the end of the next moment at which something happened
		if i < len(list) {
			i = n.until(pid, list[i].time)
		}
	}
	if i == 0 {
		next()
	}
	h := n.at(pid, i, addr-behind)
	if (h.what == 0 || h.what == 'd') && !kernel {
		// The sample can be a little older than its map.
		if first := n.until(pid, time) == 0; !first {
			next()
			h = n.at(pid, i, addr-behind)
		}
	}
	if h.what != 'm' {
		return hit{}
	}
	return hit{h.path, addr + h.bias}
}

func (n *naive) number(path string) int32 {
	i, ok := n.paths[path]
	if !ok {
		i = int32(len(n.paths))
		n.paths[path] = i
	}
	return i
}

// count resolves all samples.
func (n *naive) count(opcode func(*perfdata.Attr) spt.Opcode, kernelLow uint64) *tally {
	for i := range n.samples {
		s := &n.samples[i]
		mode := s.Mode()
		if mode > perfdata.ModeUser {
			continue
		}
		op := opcode(s.Attr)
		isKernel := func(addr uint64) bool { return addr >= kernelLow }
		if h := n.find(s, s.IP, mode == perfdata.ModeKernel || mode == perfdata.ModeUnknown && isKernel(s.IP), 0); h.ok() && op != 0 &&
			s.Fields&perfdata.SampleIP != 0 {
			n.tally.IP(n.number(h.path), byte(op), uint32(h.rva), 1)
		}
		n.branches(s, isKernel)
		if op != 0 {
			n.calls(s, isKernel)
		}
	}
	return n.tally
}

func (n *naive) branches(s *perfdata.Sample, isKernel func(uint64) bool) {
	const any, kinds = 1 << 3, 1<<4 | 1<<5 | 1<<6 | 1<<10 | 1<<12 | 1<<13
	filtered := s.Attr.BranchSampleType&kinds != 0 && s.Attr.BranchSampleType&any == 0
	var newer *arc
	for _, b := range s.Branches {
		if b.From == 0 || b.To == 0 || b.Flags.Spec() == perfdata.SpecWrongPath || b.Flags.NotTaken() {
			newer = nil
			continue
		}
		from, to := n.find(s, b.From, isKernel(b.From), 0), n.find(s, b.To, isKernel(b.To), 0)
		add := func(path string, from, to uint64) {
			a := arc{n.number(path), uint32(from), uint32(to)}
			n.tally.arcs[a]++
			if newer != nil && newer.binary == a.binary && !filtered {
				n.tally.pairs[arcPair{*newer, a}]++
			}
			newer = &a
		}
		switch {
		case from.ok() && to.ok() && from.path == to.path:
			add(from.path, from.rva, to.rva)
			continue
		case to.ok():
			add(to.path, 0, to.rva)
		}
		newer = nil
		if from.ok() {
			add(from.path, from.rva, 0)
		}
	}
}

func (n *naive) calls(s *perfdata.Sample, isKernel func(uint64) bool) {
	mode, behind := s.Mode(), uint64(0)
	var callee hit
	for _, ip := range s.CallChain {
		if ip == perfdata.ContextUserDeferred {
			return
		}
		if perfdata.ContextMarker(ip) {
			mode, behind, callee = chainMode(ip), 0, hit{}
			continue
		}
		h := n.find(s, ip, mode == perfdata.ModeKernel || mode == perfdata.ModeUnknown && isKernel(ip), behind)
		behind = 1
		if !h.ok() || mode > perfdata.ModeUser {
			callee = hit{}
			continue
		}
		if callee.path == h.path {
			n.tally.calls[call{n.number(h.path), uint32(callee.rva), uint32(h.rva)}]++
		}
		callee = h
	}
}

// byPath is a registry that tells binaries apart by path alone.
type byPath map[string]int32

func (r byPath) Register(b sample.Binary) int32 {
	i, ok := r[b.Path]
	if !ok {
		i = int32(len(r))
		r[b.Path] = i
	}
	return i
}
