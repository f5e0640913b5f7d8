package ingest

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/diag"
)

// sortSide brings the side-band events into the order of time. The order of
// the file breaks ties.
func (t *perfTrace) sortSide() {
	slices.SortStableFunc(t.side, func(a, b sideEvent) int { return cmp.Compare(a.time, b.time) })
}

// reservations learns the size of PE images from what is mapped before them:
// Wine reserves SizeOfImage bytes of anonymous memory, then maps the headers
// of the file to its start. Headers that are mapped elsewhere belong to a file
// that is read as data.
func (t *perfTrace) reservations() {
	last := map[uint32]*sideEvent{}
	for i := range t.side {
		e := &t.side[i]
		if e.kind != sideMap && e.kind != sideHeaders {
			continue
		}
		reserved := false
		if e.thing >= 0 && t.evidence[e.thing].windows && e.offset == 0 {
			r := last[e.pid]
			reserved = r != nil && r.kind == sideMap && r.thing == ownerJIT && r.start == e.start && r.len <= 1<<32-1
			if reserved {
				t.evidence[e.thing].size = uint32(r.len)
			}
		}
		if e.kind == sideHeaders {
			if e.kind = sideData; reserved {
				e.kind = sideMap
			}
		}
		last[e.pid] = e
	}
}

// replay builds the history of all address spaces from the side-band events.
func (t *perfTrace) replay() {
	b := addrspace.NewBuilder(t.options.mostNodes())
	for i := range t.side {
		e := &t.side[i]
		if b.Ends(e.time) {
			t.facts.warn(diag.New(diag.TooManyMaps, "of %d changes of address spaces, the last %d are left out, and all samples from then on", len(t.side), len(t.side)-i))
			break
		}
		switch e.kind {
		case sideFork:
			child := process{}
			if parent := b.Current(e.other); parent >= 0 {
				child = t.processes[parent]
				child.names = slices.Clone(child.names)
			}
			b.Fork(e.other, e.pid, e.time)
			t.begin(b, e, child)
		case sideExec:
			b.Clear(e.pid, e.time)
			t.begin(b, e, process{names: []string{e.name}})
		case sideComm:
			t.current(b, e).rename(e.name)
		case sideData:
			b.Unmap(e.pid, e.time, e.start, e.start+e.len)
		case sideMap:
			t.replayMap(b, e)
		}
	}
	t.space = b.Space()
	t.side = nil
}

// begin starts a life of a process.
func (t *perfTrace) begin(b *addrspace.Builder, e *sideEvent, p process) {
	b.Tag(e.pid, e.time, int32(len(t.processes)))
	t.processes = append(t.processes, p)
}

// current is the process that an event belongs to.
func (t *perfTrace) current(b *addrspace.Builder, e *sideEvent) *process {
	if b.Current(e.pid) < 0 {
		t.begin(b, e, process{})
	}
	return &t.processes[b.Current(e.pid)]
}

func (t *perfTrace) replayMap(b *addrspace.Builder, e *sideEvent) {
	end := e.start + e.len
	if end < e.start {
		end = addrspace.Forever
	}
	if e.thing < 0 {
		if e.thing == ownerJIT && e.pid != kernelPID && t.keepsFile(b, e, end) {
			return
		}
		b.Map(e.pid, e.time, addrspace.Region{Start: e.start, End: end, Owner: e.thing})
		return
	}
	o := t.objects[e.thing]
	if e.pid == kernelPID {
		// The kernel's addresses count from _text, those of a module from its map.
		bias := -e.start
		if t.evidence[e.thing].kernelSymbol != "" {
			bias = o.kernelText - e.offset
		}
		b.Map(kernelPID, e.time, addrspace.Region{Start: e.start, End: end, Owner: e.thing, Bias: bias})
		return
	}
	t.current(b, e).runs(t.evidence[e.thing].path)
	switch {
	case o.windows:
		t.mapPE(b, e, end)
	case o.binary.Path == vdsoName:
		b.Map(e.pid, e.time, addrspace.Region{Start: e.start, End: end, Owner: e.thing, Bias: -e.start})
	default:
		b.Unmap(e.pid, e.time, e.start, end)
		for _, r := range o.regions(e.thing, e.start, e.len, e.offset) {
			b.Map(e.pid, e.time, r)
		}
	}
}

// keepsFile says whether an anonymous executable map leaves the code of a file
// in place: a program that moves its text to huge pages, or the sections of a
// PE image that Wine reads into memory. A map of a whole PE image is the
// reservation of the next one. A file with several segments can have gaps, so
// only the ends are looked at.
func (t *perfTrace) keepsFile(b *addrspace.Builder, e *sideEvent, end uint64) bool {
	first, ok := b.Find(e.pid, e.start)
	if !ok || first.Owner < 0 {
		return false
	}
	last, ok := b.Find(e.pid, end-1)
	if !ok || last.Owner != first.Owner {
		return false
	}
	return !(t.objects[first.Owner].windows && first.Start == e.start && first.End == end)
}

// mapPE maps a PE image. A map of its start opens a window of SizeOfImage
// bytes, in which addresses count from the start.
func (t *perfTrace) mapPE(b *addrspace.Builder, e *sideEvent, end uint64) {
	o := t.objects[e.thing]
	if e.offset != 0 {
		if r, ok := b.Find(e.pid, e.start); ok && r.Owner == e.thing && r.End >= end {
			return // a section inside the window
		}
		b.Unmap(e.pid, e.time, e.start, end)
		if o.file == nil && t.evidence[e.thing].window {
			return // offsets in the file do not count like addresses of other processes
		}
		for _, r := range o.regions(e.thing, e.start, e.len, e.offset) {
			b.Map(e.pid, e.time, r)
		}
		return
	}
	window := addrspace.Region{Start: e.start, End: end, Owner: e.thing, Bias: -e.start}
	size := uint64(t.evidence[e.thing].size)
	if o.file != nil {
		size = uint64(o.file.PE.SizeOfImage)
	}
	if size > e.len && e.start+size > e.start {
		window.End = e.start + size
	}
	b.Map(e.pid, e.time, window)
}
