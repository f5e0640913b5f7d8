package ingest

import (
	"cmp"
	"io"
	"slices"
	"sort"

	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// speQueue is the trace of one buffer: a stream of bytes in chunks.
type speQueue struct {
	key    speKey
	chunks []speChunk

	// For the second pass.
	midr         spe.MIDR
	sources      *spe.Sources
	config       *speConfig
	instructions bool // records stand for all operations
	snapshot     bool // chunks may overlap
	switches     []cpuTask
	starts       []cpuTask
	written      []auxSpan

	// The state of the reading, by one worker at a time.
	next    int    // chunk
	used    int64  // bytes of it
	rest    []byte // the beginning of a record that goes on
	offset  uint64 // of rest, or of what comes next, in the buffer
	records uint64 // so far
	joined  uint64 // records that stand in two chunks
	again   uint64 // bytes that an earlier chunk had already
}

// speChunk is a piece of a buffer as the recording holds it.
type speChunk struct {
	extent perfdata.Extent
	offset uint64 // in the buffer
}

func (q *speQueue) add(e perfdata.Extent, offset uint64) {
	if e.Size > 0 {
		q.chunks = append(q.chunks, speChunk{e, offset})
	}
}

// prepare orders the chunks and looks up what belongs to the CPU.
func (q *speQueue) prepare(s *speTrace) {
	slices.SortStableFunc(q.chunks, func(a, b speChunk) int { return cmp.Compare(a.offset, b.offset) })
	q.midr = processorOf(s.trace.file, s.cpus, q.key.cpu)
	q.sources = q.midr.Sources()
	q.config = s.config(q.key.cpu)
	q.instructions = q.config == nil || !q.config.someOperations()
	q.snapshot = s.flags[speOverwrite] > 0
	q.switches, q.starts, q.written = s.switches[q.key.cpu], s.starts[q.key.cpu], s.written[q.key]
	if len(q.chunks) > 0 {
		q.offset = q.chunks[0].offset
	}
}

// Numbers of the flags of AUX records.
const (
	speTruncated = iota
	speOverwrite
	spePartial
	speCollision
)

// time is when a record was written, or unknownTime. Without a time stamp it
// is when the kernel handed the buffer over.
func (q *speQueue) time(s *speTrace, r *spe.Record, base uint64) uint64 {
	if r.Has(spe.HasTimestamp) && s.trace.timeConv != nil {
		return s.nanoseconds(r.Timestamp)
	}
	pos := base + uint64(r.Offset)
	i := sort.Search(len(q.written), func(i int) bool { return q.written[i].end > pos })
	if i < len(q.written) && q.written[i].start <= pos {
		return q.written[i].time
	}
	return unknownTime
}

// speBlock is a piece of a queue with whole records, for one worker.
type speBlock struct {
	queue  *speQueue
	data   []byte
	offset uint64 // of data[0] in the buffer
	first  uint64 // number of the first record in the queue

	goesOn    bool // the queue does where data end
	end       int  // behind the last record that was skimmed
	records   int  // that end before it
	exclusive bool // not cut yet: the queue waits for the worker
}

const (
	// speBlockSize fits a second-level cache: what skimming has loaded decoding
	// finds there.
	speBlockSize = 256 << 10
	// speMaxRest is the most that is taken for one record. The architecture has
	// records of up to 2 KiB.
	speMaxRest = 64 << 10
)

// fill reads the next block, which has to be cut behind its last whole record.
// An empty one is the end.
func (q *speQueue) fill(f *perfdata.File, b *speBlock) error {
	*b = speBlock{queue: q, first: q.records, offset: q.offset, data: append(b.data[:0], q.rest...)}
	q.rest = q.rest[:0]
	for len(b.data) < speBlockSize && q.next < len(q.chunks) {
		c := &q.chunks[q.next]
		fresh := len(b.data) == 0 && (b.offset != c.offset+uint64(q.used) || q.records == 0 && c.offset > 0)
		if len(b.data) == 0 {
			b.offset = c.offset + uint64(q.used)
		}
		size := min(c.extent.Size-q.used, int64(speBlockSize-len(b.data)))
		n := len(b.data)
		b.data = slices.Grow(b.data, int(size))[:n+int(size)]
		got, err := f.Section(c.extent).ReadAt(b.data[n:], q.used)
		if int64(got) < size && err != io.EOF {
			return err
		}
		b.data = b.data[:n+got]
		if pos := syncPoint(b.data, b.offset); fresh && pos > 0 {
			b.data = b.data[:pos]
			q.used += int64(pos)
			break
		}
		if q.used += size; int64(got) < size { // the file became shorter
			q.next = len(q.chunks)
			break
		}
		if b.goesOn = q.used < c.extent.Size; b.goesOn {
			break
		}
		gap, follows := q.follow()
		if !follows {
			break
		}
		b.data = b.data[:len(b.data)-gap]
		b.skim()
		if !isZero(b.data[b.end:]) {
			q.joined++
		}
		b.goesOn = true
	}
	return nil
}

// skim finds the last record that ends in the block.
func (b *speBlock) skim() {
	end, records := spe.Skim(b.data[b.end:], b.offset+uint64(b.end))
	b.end, b.records = b.end+end, b.records+records
}

// carries says whether what is behind the last record belongs to the next block.
func (b *speBlock) carries() bool {
	return b.goesOn && len(b.data)-b.end <= speMaxRest && b.end > 0
}

// cut leaves what follows the last record to the next block.
func (b *speBlock) cut() {
	q, rest := b.queue, b.data[b.end:]
	if b.carries() {
		q.rest = append(q.rest, rest...)
		b.data = b.data[:b.end]
	} else if !isZero(rest) {
		b.records++ // it stays without its end
	}
	q.offset = b.offset + uint64(len(b.data))
	q.records += uint64(b.records)
}

// follow steps to the next chunk and says whether it goes on where this one
// ends. Chunks are padded with zeros to a multiple of 8; gap is how many of
// them there are.
func (q *speQueue) follow() (gap int, follows bool) {
	c := q.chunks[q.next]
	end := c.offset + uint64(c.extent.Size)
	q.next, q.used = q.next+1, 0
	for q.snapshot && q.next < len(q.chunks) && q.chunks[q.next].offset+8 <= end {
		n := &q.chunks[q.next]
		over := min(int64(end-n.offset), n.extent.Size)
		q.again += uint64(over)
		if over < n.extent.Size {
			q.used = over
			return 0, true
		}
		q.next++
	}
	if q.next == len(q.chunks) {
		return 0, false
	}
	start := q.chunks[q.next].offset
	return int(end - start), start <= end && end-start < 8
}

// syncPoint is where records begin in data that may begin in the middle of one,
// as those of a ring that was written over do: 0 if the first record is whole,
// else the first place of 64 bytes, as the hardware aligns records, that has a
// whole record before the end of the broken one.
func syncPoint(data []byte, base uint64) int {
	var d spe.Decoder
	var r spe.Record
	if d.Reset(data, base); !d.Next(&r) || r.Whole() {
		return 0
	}
	const align, header = 64, 0xb0 // a record begins with its PC
	end := min(r.Offset+r.Size, speMaxRest)
	for pos := int(-base & (align - 1)); pos < end; pos += align {
		if data[pos] == header {
			if d.Reset(data[pos:], base+uint64(pos)); d.Next(&r) && r.Whole() {
				return pos
			}
		}
	}
	return 0
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
