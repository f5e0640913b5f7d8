package aggregate

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"unsafe"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Limit bounds the memory of a profile: a shard whose tables take more than
// bytes is written to a temporary file in dir, sorted, and begins again. Empty
// dir is the system's. Files are merged when the profile is written. Failed is
// called when a file cannot be written; Write returns the error then. Limit
// has to be called before the first shard is made.
func (p *Profile) Limit(bytes int64, dir string, failed func(error)) {
	p.limit, p.dir, p.failed = bytes, dir, failed
}

// spillFanIn is how many runs of one level are merged into one of the next.
// So few files are open, and each count is written but a few times.
const spillFanIn = 16

// checkEvery is after how many calls a shard looks at its size: often enough
// that few megabytes can be added between.
const checkEvery = 256

// grown spills a shard that has become too large.
func (s *Shard) grown() {
	if s.profile == nil || s.profile.limit == 0 {
		return
	}
	if s.calls++; s.calls%checkEvery == 0 && s.bytes() > s.profile.limit {
		s.profile.spill(s)
	}
}

// bytes is the size of the tables.
func (s *Shard) bytes() int64 {
	n := s.stackBytes
	for _, c := range s.binaries {
		if c != nil {
			n += c.hits.bytes() + c.branchSums.bytes() + c.callSums.bytes()
		}
	}
	return n
}

func (c *counter) bytes() int64 { return int64(len(c.places)) * int64(unsafe.Sizeof(place{})) }

func (c *chains) bytes() int64 {
	return c.heads.bytes() + int64(len(c.links.places))*int64(unsafe.Sizeof(link{}))
}

func (s *Shard) reset() { s.binaries, s.stackBytes, s.cut = nil, 0, 0 }

// spill writes a shard to disk and empties it.
func (p *Profile) spill(s *Shard) {
	r, err := spillRun(p.dir, &shardItems{shard: s}, 0)
	cut := s.cut
	s.reset()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = binfmt.SatAdd(p.cut, cut)
	if err != nil {
		p.fail(err)
		return
	}
	p.runs = append(p.runs, r)
	p.mergeLevels()
}

// fail keeps the first error.
func (p *Profile) fail(err error) {
	if p.err == nil {
		p.err = err
		if p.failed != nil {
			p.failed(err)
		}
	}
}

// Err is the error that keeps the profile from being complete: partial sums
// could not be written to disk or read back.
func (p *Profile) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// mergeLevels merges runs where there are many of a level.
func (p *Profile) mergeLevels() {
	for level := 0; ; level++ {
		var same, others []*run
		higher := false
		for _, r := range p.runs {
			if r.level == level {
				same = append(same, r)
			} else {
				others = append(others, r)
			}
			higher = higher || r.level > level
		}
		if len(same) >= spillFanIn {
			var from []itemSource
			for _, r := range same {
				from = append(from, r.items())
			}
			m, err := mergeItems(from)
			var r *run
			if err == nil {
				r, err = spillRun(p.dir, m, level+1)
			}
			if err != nil {
				p.fail(err)
				return
			}
			for _, old := range same {
				old.close()
			}
			p.runs = append(others, r)
			continue
		}
		if !higher {
			return
		}
	}
}

// settle makes one sum of what the workers gave back: of their shards in
// memory, or of runs on disk if there are any. The caller holds the lock.
func (p *Profile) settle() {
	if len(p.runs) == 0 {
		for len(p.idle) > 1 {
			last := len(p.idle) - 1
			p.idle[0].merge(p.idle[last])
			p.idle[last] = nil
			p.idle = p.idle[:last]
		}
		return
	}
	for _, s := range p.idle {
		if len(s.binaries) == 0 && s.cut == 0 {
			continue
		}
		r, err := spillRun(p.dir, &shardItems{shard: s}, 0)
		if err != nil {
			p.fail(err)
			return
		}
		p.cut = binfmt.SatAdd(p.cut, s.cut)
		s.reset()
		p.runs = append(p.runs, r)
	}
}

// sources are all sums, of one binary or, if that is -1, of all.
func (p *Profile) sources(binary int32) []itemSource {
	var from []itemSource
	for _, r := range p.runs {
		if binary < 0 {
			from = append(from, r.items())
		} else if items := r.of(binary); items != nil {
			from = append(from, items)
		}
	}
	if binary < 0 {
		for _, s := range p.idle {
			from = append(from, &shardItems{shard: s})
		}
	}
	return from
}

// Close removes what is on disk.
func (p *Profile) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, r := range p.runs {
		errs = append(errs, r.close())
	}
	p.runs = nil
	return errors.Join(errs...)
}

// snapshotHead begins a snapshot.
type snapshotHead struct {
	Depth    int
	Cut      uint64
	Binaries []sample.Binary
}

// maxSnapshotHead bounds the part of a snapshot that is read at once.
const maxSnapshotHead = 256 << 20

// Save writes all sums such that Restore can read them. No worker may hold a
// shard. The sums are on disk afterwards, in one run.
func (p *Profile) Save(w io.Writer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.compact(); err != nil {
		return err
	}
	b, err := json.Marshal(&snapshotHead{Depth: p.depth, Cut: p.cut, Binaries: p.binaries})
	if err != nil {
		return err
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b...)); err != nil {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(p.runs[0].r, 0, p.runs[0].size))
	return err
}

// compact makes one run of all sums.
func (p *Profile) compact() error {
	if p.err != nil {
		return p.err
	}
	m, err := mergeItems(p.sources(-1))
	var r *run
	if err == nil {
		r, err = spillRun(p.dir, m, baseLevel)
	}
	if err != nil {
		p.fail(err)
		return err
	}
	for _, s := range p.idle {
		p.cut = binfmt.SatAdd(p.cut, s.cut)
		s.reset()
	}
	for _, old := range p.runs {
		old.close()
	}
	p.runs = []*run{r}
	return nil
}

// baseLevel is the level of a run that holds all that there was, which is not
// merged again until all others are.
const baseLevel = -1

// Restore gives an empty profile the sums that Save wrote, in the size bytes of
// r. The profile reads from r until it calls closeFile, at the latest when it
// is closed. Binaries have the indices that they had when they were saved.
func (p *Profile) Restore(r io.ReaderAt, size int64, closeFile func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var length [8]byte
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return &binfmt.Error{Part: "partial sums", Offset: 0, Err: binfmt.ErrTruncated}
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxSnapshotHead || n > uint64(size-8) {
		return &binfmt.Error{Part: "partial sums", Offset: 0, Err: binfmt.ErrCorrupt}
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, 8); err != nil {
		return &binfmt.Error{Part: "partial sums", Offset: 8, Err: binfmt.ErrTruncated}
	}
	var head snapshotHead
	if err := json.Unmarshal(b, &head); err != nil || head.Depth != p.depth {
		return &binfmt.Error{Part: "partial sums", Offset: 8, Err: binfmt.ErrCorrupt}
	}
	begin := 8 + int64(n)
	saved := &run{r: io.NewSectionReader(r, begin, size-begin), size: size - begin, level: baseLevel, close: closeFile}
	items := saved.items()
	items.note = true
	for {
		it, err := items.next()
		if err != nil {
			return err
		}
		if it == nil {
			break
		}
		if int(it.binary) >= len(head.Binaries) {
			return &binfmt.Error{Part: "partial sums", Offset: begin + items.offset(), Err: binfmt.ErrCorrupt}
		}
	}
	saved.starts = items.starts
	p.runs, p.cut = []*run{saved}, head.Cut
	for _, b := range head.Binaries {
		p.byKey[b.Key()] = int32(len(p.binaries))
		p.binaries = append(p.binaries, b)
	}
	return nil
}
