package perfdata

import (
	"fmt"
	"io"
	"sync"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Chunk is a block of whole records, samples among them, for one worker to
// decode. Its memory belongs to the worker, who passes the same Chunk to
// every call of ChunkSource.Next.
type Chunk struct {
	Segment int
	// Offset is the offset of the first record in its segment. If Nested is
	// set, the records were collected from a segment with compressed records:
	// then Offset is that of the record that the first sample came in.
	Offset int64
	Nested bool
	Data   []byte // about 256 KiB
}

// ChunkSource hands out all samples of a recording in chunks. Its methods may
// be called by several goroutines at once: reading, and the decompression of
// different segments, then go on in parallel. One compressed stream can only
// be read from its start, so its chunks come one after the other; they are
// made when asked for, which keeps memory at one chunk per worker.
type ChunkSource struct {
	f *File

	mu      sync.Mutex
	idle    sync.Cond // a stream became free, or the last one ended
	ranges  []sampleRange
	streams []*sampleStream // not started or not at their end
	err     error
	closed  bool
}

// sampleStream collects the samples of one segment in the order of a walk.
type sampleStream struct {
	rs   *Records
	seg  int
	busy bool
}

// Chunks returns the source of the samples that a walk found. The walk has to
// be at its end.
func (f *File) Chunks(ix *Index) *ChunkSource {
	s := &ChunkSource{f: f}
	s.idle.L = &s.mu
	compressed := make(map[int]bool)
	for _, seg := range ix.streams {
		compressed[seg] = true
		s.streams = append(s.streams, &sampleStream{seg: seg})
	}
	for _, r := range ix.ranges {
		if !compressed[int(r.seg)] {
			s.ranges = append(s.ranges, r)
		}
	}
	return s
}

// Next fills c with the next chunk and says whether there was one; after the
// last one, or an error, it returns false to every caller.
func (s *ChunkSource) Next(c *Chunk) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && !s.closed {
		if len(s.ranges) > 0 {
			r := s.ranges[0]
			s.ranges = s.ranges[1:]
			return s.unlocked(func() error { return s.f.readRange(r, c) })
		}
		if len(s.streams) == 0 {
			return false
		}
		st := s.freeStream()
		if st == nil {
			s.idle.Wait()
			continue
		}
		more := false
		st.busy = true
		ok := s.unlocked(func() (err error) { more, err = st.fill(s.f, c); return err })
		st.busy = false
		if !more {
			s.drop(st)
		}
		s.idle.Broadcast()
		if ok && len(c.Data) > 0 {
			return true
		}
	}
	return false
}

// unlocked does the slow part of Next while other callers go on.
func (s *ChunkSource) unlocked(read func() error) bool {
	s.mu.Unlock()
	err := read()
	s.mu.Lock()
	if err != nil && s.err == nil {
		s.err = err
		s.idle.Broadcast()
	}
	return err == nil
}

func (s *ChunkSource) freeStream() *sampleStream {
	for _, st := range s.streams {
		if !st.busy {
			return st
		}
	}
	return nil
}

func (s *ChunkSource) drop(st *sampleStream) {
	for i := range s.streams {
		if s.streams[i] == st {
			s.streams = append(s.streams[:i], s.streams[i+1:]...)
			break
		}
	}
	if st.rs != nil {
		st.rs.Close()
	}
}

// Err returns the error that ended the chunks early, if one did.
func (s *ChunkSource) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close releases what a source needs that is not used to its end. No call of
// Next may be going on.
func (s *ChunkSource) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for len(s.streams) > 0 {
		s.drop(s.streams[0])
	}
}

// readRange reads a range of a plain segment.
func (f *File) readRange(r sampleRange, c *Chunk) error {
	n := int(r.end - r.off)
	if cap(c.Data) < n {
		c.Data = make([]byte, max(n, chunkSize+maxRecord))
	}
	c.Segment, c.Offset, c.Nested, c.Data = int(r.seg), r.off, false, c.Data[:n]
	seg := &f.segments[r.seg]
	got, err := seg.r.ReadAt(c.Data, r.off)
	if got == n {
		return nil
	}
	if err == io.EOF {
		return f.defect(int(r.seg), "samples", r.off, binfmt.ErrTruncated, fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d, the file became shorter", got))
	}
	return binfmt.InFile(err, seg.name)
}

// fill collects samples until the chunk has its size, and says whether the
// stream may have more.
func (st *sampleStream) fill(f *File, c *Chunk) (more bool, err error) {
	if st.rs == nil {
		st.rs = f.walk(st.seg, st.seg+1, nil)
	}
	c.Segment, c.Nested, c.Data = st.seg, true, c.Data[:0]
	for st.rs.Next() {
		r := st.rs.Record()
		if r.Type != TypeSample {
			continue
		}
		if len(c.Data) == 0 {
			c.Offset = r.Offset
		}
		c.Data = append(c.Data, r.Data...)
		if len(c.Data) >= chunkSize {
			return true, nil
		}
	}
	return false, st.rs.Err()
}
