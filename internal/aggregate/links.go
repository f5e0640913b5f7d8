package aggregate

import "github.com/spgo-tools/spgo/pkg/binfmt"

// link counts how often an arc directly follows another.
type link struct {
	before uint64
	arc    uint64 // the one that follows
	count  uint64 // 0: an empty place
}

// links is an open-addressing table of links. Its key is the values of both
// arcs and not, say, the number that a look-up of the first one has found: so
// the processor can look several links of a sequence up at once.
type links struct {
	places []link
	used   int
	shift  uint8 // 64 - log2(len(places))
}

func linkHash(before, arc uint64) uint64 {
	return hash(arc ^ before*0xff51afd7ed558ccd)
}

// add adds n > 0 to the count of a link.
func (t *links) add(before, arc, n uint64) {
	if t.used*4 >= len(t.places)*3 {
		t.grow()
	}
	mask := uint64(len(t.places) - 1)
	for i := linkHash(before, arc) >> t.shift; ; i = (i + 1) & mask {
		l := &t.places[i]
		if l.arc == arc && l.before == before && l.count != 0 {
			l.count = binfmt.SatAdd(l.count, n)
			return
		}
		if l.count == 0 {
			*l = link{before, arc, n}
			t.used++
			return
		}
	}
}

func (t *links) grow() {
	old := t.places
	t.places = make([]link, max(64, 2*len(old)))
	t.shift = shiftOf(len(t.places))
	mask := uint64(len(t.places) - 1)
	for _, l := range old {
		if l.count == 0 {
			continue
		}
		i := linkHash(l.before, l.arc) >> t.shift
		for t.places[i].count != 0 {
			i = (i + 1) & mask
		}
		t.places[i] = l
	}
}

// each calls f for every link, in no particular order.
func (t *links) each(f func(before, arc, n uint64)) {
	for i := range t.places {
		if l := &t.places[i]; l.count != 0 {
			f(l.before, l.arc, l.count)
		}
	}
}
