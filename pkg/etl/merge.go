package etl

import (
	"cmp"
	"slices"
)

// Merge yields the records of one or more files on one clock in global time
// order. Records of the same tick come in the order of the files, then of
// their place in the file, so that an ImageID record comes before the image
// event that it belongs to.
//
// Each buffer is unpacked once. Of the buffers that are under way, one for
// each processor, only the wanted records are kept: a Merge is meant for
// classes that are rare, such as SideBand. The same order comes from sorting
// what several decoders yield by time, file, buffer and Record.Offset.
type Merge struct {
	// Damage counts what was lost on the way.
	Damage Damage
	// Disordered counts records that came later than a record of a higher
	// time, which means that the buffers of a processor overlapped.
	Disordered uint64

	heap    []*mergeStream // a heap: the earliest record is at 0
	started bool
	last    int64
	it      Records // parses the kept record that is current
	err     error
}

// mergeStream walks the wanted records of one processor's buffers.
type mergeStream struct {
	dec     *Decoder // shared by the streams of a file
	file    int
	buffers []int // still to come
	buffer  int   // the current one
	data    []byte
	kept    []keptRecord
	next    int // in kept
}

// keptRecord places a record in the stream's copy and in its buffer.
type keptRecord struct {
	at, offset int
	time       int64
}

// NewMerge returns an iterator over the records of the given classes. The
// files have to be on one clock, as those of a Recording are.
func NewMerge(files []*File, want Class) *Merge {
	m := &Merge{}
	for i, f := range files {
		dec := f.NewDecoder(want)
		for _, buffers := range f.Streams() {
			m.heap = append(m.heap, &mergeStream{dec: dec, file: i, buffers: buffers})
		}
	}
	return m
}

// Next steps to the next record. It returns false at the end and when a file
// cannot be read; damaged content is counted and passed over.
func (m *Merge) Next() bool {
	if m.err != nil {
		return false
	}
	if !m.started {
		m.started = true
		if !m.start() {
			return false
		}
	} else {
		m.advance()
	}
	if m.err != nil || len(m.heap) == 0 {
		return false
	}
	m.parse(m.heap[0])
	return true
}

// Record returns the current record, which is valid until the next call of
// Next.
func (m *Merge) Record() *Record { return &m.it.rec }

// Position says where the current record stands: the index of its file and
// of its buffer there. With Record.Offset that is a total order.
func (m *Merge) Position() (file, buffer int) { return m.heap[0].file, m.heap[0].buffer }

// Err returns the failure that ended the iteration, nil at the end of the
// files.
func (m *Merge) Err() error { return m.err }

// start loads the first records of every stream.
func (m *Merge) start() bool {
	live := m.heap[:0]
	for _, s := range m.heap {
		if m.load(s) {
			live = append(live, s)
		}
		if m.err != nil {
			return false
		}
	}
	m.heap = live
	slices.SortFunc(m.heap, compareStreams) // a sorted list is a heap
	return true
}

// advance steps the earliest stream on and puts it where it belongs now.
func (m *Merge) advance() {
	s := m.heap[0]
	if s.next++; s.next == len(s.kept) && !m.load(s) {
		n := len(m.heap) - 1
		m.heap[0], m.heap[n] = m.heap[n], nil
		m.heap = m.heap[:n]
	}
	for i := 0; ; {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(m.heap) && compareStreams(m.heap[child], m.heap[least]) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// load copies the wanted records of the next buffers of s that have any.
func (m *Merge) load(s *mergeStream) bool {
	for len(s.buffers) > 0 {
		s.buffer, s.buffers = s.buffers[0], s.buffers[1:]
		s.data, s.kept, s.next = s.data[:0], s.kept[:0], 0
		it := s.dec.Buffer(s.buffer)
		for it.Next() {
			r := it.Record()
			s.kept = append(s.kept, keptRecord{at: len(s.data), offset: r.Offset, time: r.Time})
			s.data = append(s.data, it.data[r.Offset:min(it.pos, len(it.data))]...)
		}
		m.Damage.Add(&s.dec.Damage)
		s.dec.Damage = Damage{}
		if err := it.Err(); err != nil && !IsDamage(err) {
			m.err = err
			return false
		}
		if len(s.kept) > 0 {
			return true
		}
	}
	return false
}

// parse reads the current record from its stream's copy.
func (m *Merge) parse(s *mergeStream) {
	k := s.kept[s.next]
	if k.time < m.last {
		m.Disordered++
	} else {
		m.last = k.time
	}
	m.it = Records{dec: s.dec, want: s.dec.want, data: s.data, pos: k.at, time: k.time, rec: Record{buffer: &s.dec.f.buffers[s.buffer]}}
	m.it.Next()
	m.it.rec.Offset, m.it.rec.Time = k.offset, k.time
}

// compareStreams orders streams by their current records.
func compareStreams(a, b *mergeStream) int {
	ka, kb := &a.kept[a.next], &b.kept[b.next]
	return cmp.Or(cmp.Compare(ka.time, kb.time), cmp.Compare(a.file, b.file),
		cmp.Compare(a.buffer, b.buffer), cmp.Compare(ka.offset, kb.offset))
}
