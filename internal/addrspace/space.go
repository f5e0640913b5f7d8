package addrspace

import "sort"

// Forever is later than every time stamp.
const Forever = ^uint64(0)

// version is an address space from a time on.
type version struct {
	time uint64
	root *node
	tag  int32
}

// Space is the finished history of all processes. It is read-only and safe
// for concurrent use.
type Space struct {
	processes map[uint32][]version
	end       uint64 // from then on nothing is known
}

// Builder makes a Space. Its methods must be called in the order of time.
type Builder struct {
	processes map[uint32][]version
	serial    uint32
	nodes     int // made so far
	limit     int
	end       uint64 // the history ends here; Forever: it goes on
}

// MostNodes is a bound of a history that machines have the memory for. A change
// of an address space of n regions takes about 1.4 log2(n) nodes.
const MostNodes = 32 << 20

// NodeBytes is what a node takes.
const NodeBytes = 64

// NewBuilder returns a builder without processes, of a history of at most about
// so many nodes; see [Builder.Ends].
func NewBuilder(nodes int) *Builder {
	return &Builder{processes: map[uint32][]version{}, serial: 1, limit: nodes, end: Forever}
}

// Ends says that the history has become too long to go on with a change at a
// time. It then ends at that time, and no change may follow.
func (b *Builder) Ends(time uint64) bool {
	if b.nodes > b.limit && b.end == Forever {
		b.end = time
	}
	return b.end != Forever
}

// at returns the version of pid that changes at a time may edit, and makes it
// if there is none yet.
func (b *Builder) at(pid uint32, time uint64) *version {
	list := b.processes[pid]
	if n := len(list); n > 0 {
		if last := &list[n-1]; last.time >= time {
			return last
		}
		list = append(list, version{time, list[n-1].root, list[n-1].tag})
	} else {
		list = append(list, version{time: time, tag: -1})
	}
	b.serial++ // nodes of earlier versions are frozen
	b.nodes++  // a version takes about as much
	b.processes[pid] = list
	return &list[len(list)-1]
}

// Map puts a region into the address space of pid.
func (b *Builder) Map(pid uint32, time uint64, r Region) {
	v := b.at(pid, time)
	v.root = put(v.root, r, b)
}

// Unmap removes a range from the address space of pid.
func (b *Builder) Unmap(pid uint32, time uint64, start, end uint64) {
	if end <= start {
		return
	}
	v := b.at(pid, time)
	v.root = cut(v.root, start, end, b)
}

// Clear removes all regions of pid, as an exec does.
func (b *Builder) Clear(pid uint32, time uint64) {
	b.at(pid, time).root = nil
}

// Fork gives child a copy of parent's address space and tag.
func (b *Builder) Fork(parent, child uint32, time uint64) {
	p := *b.at(parent, time)
	v := b.at(child, time)
	v.root, v.tag = p.root, p.tag
	b.serial++ // the nodes are shared from now on
}

// Tag attaches an index to pid from a time on, for the user of the package.
// It is -1 until the first call.
func (b *Builder) Tag(pid uint32, time uint64, tag int32) {
	b.at(pid, time).tag = tag
}

// Current returns the latest tag of pid.
func (b *Builder) Current(pid uint32) int32 {
	list := b.processes[pid]
	if len(list) == 0 {
		return -1
	}
	return list[len(list)-1].tag
}

// Find looks addr up in the latest version of pid.
func (b *Builder) Find(pid uint32, addr uint64) (Region, bool) {
	list := b.processes[pid]
	if len(list) == 0 {
		return Region{}, false
	}
	if r := list[len(list)-1].root.find(addr); r != nil {
		return *r, true
	}
	return Region{}, false
}

// Space finishes the history.
func (b *Builder) Space() *Space { return &Space{b.processes, b.end} }

// View looks addresses up for one worker. It remembers where the last look-ups
// led, since neighbouring samples mostly hit the same process and region. It
// is not safe for concurrent use.
type View struct {
	space    *Space
	pid      uint32
	from, to uint64 // validity of the current version: [from, to)
	root     *node
	tag      int32
	known    bool
	recent   *Region
}

// NewView returns a view that is at no process yet.
func (s *Space) NewView() *View { return &View{space: s, from: 1, to: 0} }

// Enter goes to the address space of pid at a time and says whether the
// process is known. A time before the first version of a process sees the
// first version: a sample may be a little older than the event of its map.
func (v *View) Enter(pid uint32, time uint64) bool {
	if pid == v.pid && v.from <= time && time < v.to {
		return v.known
	}
	v.pid, v.recent = pid, nil
	if time >= v.space.end && v.space.end != Forever {
		v.from, v.to, v.root, v.tag, v.known = v.space.end, Forever, nil, -1, false
		return false
	}
	list := v.space.processes[pid]
	if len(list) == 0 {
		v.from, v.to, v.root, v.tag, v.known = 0, v.space.end, nil, -1, false
		return false
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].time > time })
	v.from, v.to, v.known = 0, v.space.end, true
	if i < len(list) {
		v.to = list[i].time
	}
	if i > 0 {
		i--
		v.from = list[i].time
	}
	v.root, v.tag = list[i].root, list[i].tag
	return true
}

// Tag is the tag of the current address space.
func (v *View) Tag() int32 { return v.tag }

// Find returns the region that holds addr, or nil. The region is read-only.
func (v *View) Find(addr uint64) *Region {
	if r := v.recent; r != nil && addr-r.Start < r.End-r.Start {
		return r
	}
	r := v.root.find(addr)
	if r != nil {
		v.recent = r
	}
	return r
}

// soon is how many versions FindSoon looks ahead. A program that starts maps
// some dozen images within moments, each in a version of its own.
const soon = 64

// FindSoon looks addr up in the versions of the process that follow, for a
// sample that is older than its map by the delay between two processors. It
// returns nil where none of the next few maps addr, and does not look into the
// life of another process with the same number.
func (v *View) FindSoon(addr uint64) *Region {
	if v.to == v.space.end {
		return nil
	}
	list := v.space.processes[v.pid]
	next := sort.Search(len(list), func(i int) bool { return list[i].time >= v.to })
	for _, version := range list[next:min(next+soon, len(list))] {
		if version.tag != v.tag {
			return nil
		}
		if r := version.root.find(addr); r != nil {
			return r
		}
	}
	return nil
}
