package aggregate

// link counts how often an arc directly follows another.
type link struct {
	arc    uint64 // value of the arc that follows
	count  uint64 // 0: an empty place
	before int32  // number of the arc that it follows
	id     int32  // number of the arc that follows
}

// links is an open-addressing table of links, by the number of the first arc
// and the value of the second.
type links struct {
	places []link
	used   int
	shift  uint8 // 64 - log2(len(places))
}

func linkHash(before int32, arc uint64) uint64 {
	return hash(arc ^ uint64(before)*0xff51afd7ed558ccd)
}

// find returns the place of a link, which is empty if there is none.
func (t *links) find(before int32, arc uint64) *link {
	if t.used*4 >= len(t.places)*3 {
		t.grow()
	}
	mask := uint64(len(t.places) - 1)
	for i := linkHash(before, arc) >> t.shift; ; i = (i + 1) & mask {
		l := &t.places[i]
		if l.arc == arc && l.before == before || l.count == 0 {
			return l
		}
	}
}

// insert fills the place of a link that find has not found.
func (t *links) insert(before int32, arc uint64, id int32) *link {
	l := t.find(before, arc)
	l.arc, l.before, l.id = arc, before, id
	t.used++
	return l
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
func (t *links) each(f func(l *link)) {
	for i := range t.places {
		if l := &t.places[i]; l.count != 0 {
			f(l)
		}
	}
}
