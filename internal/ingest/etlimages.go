package ingest

import (
	"cmp"
	"slices"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// slotKey is an address at which something can be loaded: a process, or the
// kernel for all, and the base.
type slotKey struct {
	pid  uint32
	base uint64
}

// imageFile is what a recording says of an image file.
type imageFile struct {
	path            string // as people know it
	size            uint64
	stamp, checksum uint32      // 0: not known
	guid            binfmt.GUID // zero: not known
	age             uint32
	kernel          bool
}

// sameFile says whether two image events can be about one file. They may give
// its path in different forms.
func sameFile(a, b imageFile) bool {
	return a.size == b.size && pathInVolume(a.path) == pathInVolume(b.path)
}

// adopt takes over what another event knows better of the same file.
func (f *imageFile) adopt(o *imageFile) {
	f.stamp, f.checksum = cmp.Or(f.stamp, o.stamp), cmp.Or(f.checksum, o.checksum)
	if f.guid.IsZero() {
		f.guid, f.age = o.guid, o.age
	}
}

// slotOf is where an image is loaded. All processes share the kernel's.
func (t *etlTrace) slotOf(pid uint32, base uint64) slotKey {
	if base >= t.kernelLow {
		pid = kernelPID
	}
	return slotKey{pid, base}
}

// life is the time of the process that has a number at a time. Some events of
// a process come after its end.
func (t *etlTrace) life(key slotKey, time uint64) (from, to uint64) {
	if key.pid == kernelPID {
		return 0, addrspace.Forever
	}
	if p, _ := t.lives.at(key.pid, time); p != nil {
		return p.from, p.to
	}
	return 0, addrspace.Forever
}

// placeImages finds out which image was loaded where and when, and makes the
// history of all address spaces of it.
func (t *etlTrace) placeImages(side *sideBand) {
	loaded := newTimeline[slotKey](sameFile, t.life)
	volumes := newVolumeMap(side.volumes)
	ids := side.ids
	for events := side.images; len(events) > 0; {
		time := events[0].time
		n := 1
		for n < len(events) && events[n].time == time {
			n++
		}
		var known map[slotKey][]imageFile
		known, ids = t.identitiesAt(ids, time)
		for i := range events[:n] {
			e := &events[i].event
			key := t.slotOf(e.PID, e.Base)
			f := imageFile{path: volumes.dosPath(e.Name), size: e.Size, stamp: e.TimeDateStamp, checksum: e.Checksum, kernel: key.pid == kernelPID}
			if id := known[key]; len(id) > 0 {
				f.stamp, f.guid, f.age = cmp.Or(id[0].stamp, f.stamp), id[0].guid, id[0].age
				if len(id) > 1 {
					known[key] = id[1:]
				}
			}
			if at := loaded.note(e.what, time, key, f); at != nil {
				at.thing.adopt(&f)
			}
			if key.pid != kernelPID {
				t.processAt(key.pid, time).runs(f.path)
			}
		}
		events = events[n:]
	}
	t.locateImages(loaded)
}

// identitiesAt collects what the ImageID records of one time say, by where the
// image is, and returns the records of later times. Records of earlier times
// belong to no image event. Where one image takes the place of another within
// a tick, there are several, in the order of the image events.
func (t *etlTrace) identitiesAt(ids []stamped[etl.ImageID], time uint64) (map[slotKey][]imageFile, []stamped[etl.ImageID]) {
	for len(ids) > 0 && ids[0].time < time {
		ids = ids[1:]
	}
	known := map[slotKey][]imageFile{}
	for len(ids) > 0 && ids[0].time == time {
		id := &ids[0].event
		key := t.slotOf(id.PID, id.Base)
		list := known[key]
		// The information about the file comes before that about its PDB.
		if n := len(list); n == 0 || id.Opcode == etl.ImageIDInfo && list[n-1].stamp != 0 || id.Opcode == etl.ImageIDRSDS && !list[n-1].guid.IsZero() {
			list = append(list, imageFile{})
			known[key] = list
		}
		f := &list[len(list)-1]
		if id.Opcode == etl.ImageIDRSDS {
			f.guid, f.age = id.GUID, id.Age
		} else {
			f.stamp = id.TimeDateStamp
		}
		ids = ids[1:]
	}
	return known, ids
}

// locateImages gives the images their binaries and makes the history.
func (t *etlTrace) locateImages(loaded *timeline[slotKey, imageFile]) {
	var spans []span
	for _, key := range sortedSlots(loaded.tenures) {
		for i := range loaded.tenures[key] {
			at := &loaded.tenures[key][i]
			spans = append(spans, span{pid: key.pid, from: at.from, to: at.to, start: key.base, size: at.thing.size,
				owner: t.objectOf(&at.thing), bias: -key.base})
		}
	}
	t.space = t.history(spans)
}

// sortedSlots returns the keys of a map in order.
func sortedSlots[V any](m map[slotKey]V) []slotKey {
	keys := make([]slotKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b slotKey) int { return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.base, b.base)) })
	return keys
}

// span is a range of addresses of a process that belongs to one thing for a
// time.
type span struct {
	pid         uint32
	from, to    uint64 // time
	start, size uint64 // addresses
	owner       int32
	bias        uint64
}

// Changes of an address space, in the order in which those of one time are
// made.
const (
	changeEnd   = iota // a process ends
	changeUnmap        // something is unloaded
	changeBegin        // a process begins
	changeMap          // something is loaded
)

// change is one of them.
type change struct {
	time uint64
	kind int
	pid  uint32
	what int32 // index of the span or process
}

// history makes the history of all processes with the spans in them.
func (t *etlTrace) history(spans []span) *addrspace.Space {
	var changes []change
	for i := range spans {
		s := &spans[i]
		changes = append(changes, change{s.from, changeMap, s.pid, int32(i)})
		if s.to != addrspace.Forever {
			changes = append(changes, change{s.to, changeUnmap, s.pid, int32(i)})
		}
	}
	for pid, lives := range t.lives.tenures {
		for _, life := range lives {
			changes = append(changes, change{life.from, changeBegin, pid, life.thing.index})
			if life.to != addrspace.Forever {
				changes = append(changes, change{life.to, changeEnd, pid, life.thing.index})
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.kind, b.kind), cmp.Compare(a.pid, b.pid), cmp.Compare(a.what, b.what))
	})
	b := addrspace.NewBuilder(t.options.mostNodes())
	for i, c := range changes {
		if b.Ends(c.time) {
			t.main.warn(diag.New(diag.TooManyMaps, "of %d changes of address spaces, the last %d are left out, and all samples from then on", len(changes), len(changes)-i))
			break
		}
		switch c.kind {
		case changeEnd:
			b.Clear(c.pid, c.time)
		case changeBegin:
			b.Tag(c.pid, c.time, c.what)
		case changeUnmap:
			s := &spans[c.what]
			b.Unmap(s.pid, c.time, s.start, end(s.start, s.size))
		case changeMap:
			s := &spans[c.what]
			b.Map(s.pid, c.time, addrspace.Region{Start: s.start, End: end(s.start, s.size), Owner: s.owner, Bias: s.bias})
		}
	}
	return b.Space()
}

// end is where a range ends, at most at the end of the address space.
func end(start, size uint64) uint64 {
	if start+size < start {
		return addrspace.Forever
	}
	return start + size
}
