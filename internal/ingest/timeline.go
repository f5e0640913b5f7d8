package ingest

import (
	"sort"

	"github.com/spgo-tools/spgo/internal/addrspace"
)

// occurrence is what an event tells of a thing: a process, a thread, an image
// or a method.
type occurrence uint8

const (
	begins  occurrence = iota // it is there from now on
	present                   // a rundown: it is there, and has been
	ends                      // it is gone from now on
)

// tenure is a time, from inclusive and to exclusive, in which a key stands for
// one thing.
type tenure[T any] struct {
	from, to uint64
	thing    T
}

// timeline tells what a key stood for at any time: which process had an id,
// which thread a number, which image an address. Keys are used again for other
// things.
//
// A rundown, or an end without a beginning, means that the thing was there
// before the recording began, but not longer than its surroundings and than
// the tenure before it ended.
type timeline[K comparable, T any] struct {
	tenures map[K][]tenure[T]
	// same says whether two events are about one thing.
	same func(a, b T) bool
	// within is the time of the surroundings of a key: nothing in a process
	// outlives it. Nil means no bounds.
	within func(key K, time uint64) (from, to uint64)
}

func newTimeline[K comparable, T any](same func(a, b T) bool, within func(K, uint64) (uint64, uint64)) *timeline[K, T] {
	return &timeline[K, T]{tenures: map[K][]tenure[T]{}, same: same, within: within}
}

// note takes an event; events have to come in the order of time. It returns
// the tenure that the event is about, or nil if that has no length. The tenure
// is valid until the next call.
func (l *timeline[K, T]) note(what occurrence, time uint64, key K, thing T) *tenure[T] {
	list := l.tenures[key]
	since, to := uint64(0), uint64(addrspace.Forever)
	if l.within != nil {
		since, to = l.within(key, time)
	}
	if n := len(list); n > 0 {
		last := &list[n-1]
		if time < last.to {
			if l.same(last.thing, thing) {
				if what == ends {
					last.to = max(time, last.from)
				}
				return last
			}
			last.to = max(time, last.from) // its end was lost
		}
		since = max(since, last.to)
	}
	switch what {
	case begins:
		since = max(since, time)
	case ends:
		to = min(to, time)
	}
	if since >= to {
		return nil
	}
	list = append(list, tenure[T]{since, to, thing})
	l.tenures[key] = list
	return &list[len(list)-1]
}

// at returns the tenure of a key at a time and whether it covers that time. If
// there is none, the one that ended last before it is returned, else the first
// one, and nil for a key that is not known.
func (l *timeline[K, T]) at(key K, time uint64) (t *tenure[T], covers bool) {
	list := l.tenures[key]
	if len(list) == 0 {
		return nil, false
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].from > time })
	if i == 0 {
		return &list[0], false
	}
	t = &list[i-1]
	return t, time < t.to
}
