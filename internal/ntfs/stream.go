package ntfs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// valueReader reads the value of an attribute; Size is in bytes.
type valueReader interface {
	io.ReaderAt
	Size() int64
}

const (
	// maxValue bounds the size of a file, in bytes: 2^32 clusters of 64 KiB,
	// which is the most that NTFS can hold with such clusters.
	maxValue = 1 << 48
	// maxUnit bounds a compression unit, in bytes. NTFS makes units of 16
	// clusters and compresses with clusters of up to 4 KiB.
	maxUnit = 1 << 20
	// keptUnits is how many unpacked units a file keeps, for readers that
	// come back in small steps.
	keptUnits = 8
)

// extent is a row of clusters of a value.
type extent struct {
	vcn, lcn int64 // first cluster in the value and on the volume; hole: no cluster
	n        int64 // clusters
}

const hole = -1

// stream is a value outside of the MFT. It is safe for concurrent use once it
// is complete.
type stream struct {
	v           *Volume
	what        string   // for errors
	extents     []extent // in the order of clusters, without gaps
	clusters    int64    // all of them
	real        int64    // those that are no hole
	size        int64    // bytes
	initialized int64    // bytes from which on the value is zero
	unit        int64    // clusters in a compression unit; 0: not compressed
	holes       bool     // may have holes

	mu   sync.Mutex
	kept []unit // unpacked units, the last used one last
}

// unit is an unpacked compression unit.
type unit struct {
	number int64
	data   []byte
}

// newStream starts the value of which first is the first part.
func (v *Volume) newStream(what string, first *attribute) (*stream, error) {
	s := &stream{v: v, what: what, holes: first.flags&(attributeSparse|attributeCompressed) != 0}
	switch {
	case first.size > maxValue:
		return nil, s.defect(first.off+48, binfmt.ErrLimit, fmt.Sprintf("at most %d bytes", int64(maxValue)), first.size)
	case first.initialized > first.size:
		return nil, s.defect(first.off+56, binfmt.ErrCorrupt, fmt.Sprintf("at most %d initialized bytes", first.size), first.initialized)
	}
	s.size, s.initialized = int64(first.size), int64(first.initialized)
	if first.flags&attributeCompressed != 0 && first.unit > 0 {
		if first.unit > 20 || v.cluster<<first.unit > maxUnit || v.cluster<<first.unit < chunkSize {
			return nil, s.defect(first.off+34, binfmt.ErrUnsupported, fmt.Sprintf("compression units of %d to %d bytes", chunkSize, maxUnit),
				fmt.Sprintf("2^%d clusters of %d", first.unit, v.cluster))
		}
		s.unit = 1 << first.unit
	}
	return s, s.add(first)
}

func (s *stream) defect(off int64, kind error, want string, got any) error {
	return &binfmt.Error{Part: s.what, Offset: off, Want: want, Got: fmt.Sprint(got), Err: kind}
}

// add appends the extents of the next part.
func (s *stream) add(a *attribute) error {
	if a.resident || a.firstVCN != uint64(s.clusters) {
		return s.defect(a.off+16, binfmt.ErrCorrupt, fmt.Sprintf("a part from cluster %d on", s.clusters), a.firstVCN)
	}
	if a.lastVCN+1 == a.firstVCN {
		return nil // empty
	}
	runs, err := runList(a.raw, s.what, a.off)
	if err != nil {
		return err
	}
	for _, r := range runs {
		e := extent{s.clusters, r.Offset, r.Length}
		// A run without an offset is a hole. The parser gives it the offset
		// of the run before, on which no real run can start; only the boot
		// file starts with a real one at cluster 0.
		if r.RelativeUrnOffset == 0 && (s.holes || r.Offset != 0) {
			e.lcn = hole
		}
		switch {
		case e.n <= 0 || e.n > 2*maxValue/s.v.cluster-s.clusters: // space can be reserved beyond the size
			return s.defect(a.off, binfmt.ErrCorrupt, "a run list of possible lengths", fmt.Sprintf("a run of %d clusters", e.n))
		case e.lcn != hole && (e.lcn < 0 || e.lcn >= s.v.clusters || e.n > s.v.clusters-e.lcn || e.n > s.v.clusters-s.real):
			return s.defect(a.off, binfmt.ErrCorrupt, fmt.Sprintf("runs within %d clusters of the volume", s.v.clusters),
				fmt.Sprintf("%d clusters from %d on", e.n, e.lcn))
		}
		if e.lcn != hole {
			s.real += e.n
		}
		s.clusters += e.n
		s.extents = append(s.extents, e)
	}
	if uint64(s.clusters) != a.lastVCN+1 {
		return s.defect(a.off+24, binfmt.ErrCorrupt, fmt.Sprintf("runs up to cluster %d", a.lastVCN), fmt.Sprintf("%d clusters", s.clusters))
	}
	return nil
}

// complete checks that the parts map all of the value.
func (s *stream) complete() error {
	if have := s.clusters; have < (s.size+s.v.cluster-1)/s.v.cluster {
		return s.defect(-1, binfmt.ErrCorrupt, fmt.Sprintf("clusters for %d bytes", s.size), fmt.Sprintf("%d of %d bytes", have, s.v.cluster))
	}
	return nil
}

// Size is the size of the value in bytes.
func (s *stream) Size() int64 { return s.size }

// ReadAt implements io.ReaderAt.
func (s *stream) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &binfmt.Error{Part: s.what, Offset: -1, Want: "an offset from 0 on", Got: fmt.Sprint(off), Err: binfmt.ErrLimit}
	}
	if off >= s.size {
		return 0, io.EOF
	}
	var end error
	if int64(len(p)) > s.size-off {
		p, end = p[:s.size-off], io.EOF
	}
	done := 0
	for done < len(p) {
		n, err := s.some(p[done:], off+int64(done))
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, end
}

// some fills the beginning of p, which is not empty and ends within the value.
func (s *stream) some(p []byte, off int64) (int, error) {
	if off >= s.initialized {
		clear(p)
		return len(p), nil
	}
	p = p[:min(int64(len(p)), s.initialized-off)]
	if s.unit > 0 {
		size := s.unit * s.v.cluster
		number := off / size
		p = p[:min(int64(len(p)), (number+1)*size-off)]
		if first, data, packed := s.layout(number); packed {
			u, err := s.unpacked(number, first, data)
			if err != nil {
				return 0, err
			}
			return copy(p, u[off-number*size:]), nil
		}
	}
	i := s.search(off / s.v.cluster)
	if i < 0 {
		return 0, s.defect(-1, binfmt.ErrCorrupt, "mapped data", fmt.Sprintf("none for byte %d", off))
	}
	e := &s.extents[i]
	in := off - e.vcn*s.v.cluster
	p = p[:min(int64(len(p)), e.n*s.v.cluster-in)]
	if e.lcn == hole {
		clear(p)
		return len(p), nil
	}
	if err := s.v.read(p, e.lcn*s.v.cluster+in, s.what); err != nil {
		return 0, err
	}
	return len(p), nil
}

// search returns the index of the extent that holds a cluster of the value; -1
// if there is none.
func (s *stream) search(vcn int64) int {
	i, found := slices.BinarySearchFunc(s.extents, vcn, func(e extent, vcn int64) int { return cmp.Compare(e.vcn, vcn) })
	if !found {
		i--
	}
	if i < 0 || vcn-s.extents[i].vcn >= s.extents[i].n {
		return -1
	}
	return i
}

// locate returns the place of a byte of the value in the image; -1 if it has
// none.
func (s *stream) locate(off int64) int64 {
	i := s.search(off / s.v.cluster)
	if i < 0 || s.extents[i].lcn == hole {
		return -1
	}
	e := &s.extents[i]
	return s.v.part.off + e.lcn*s.v.cluster + off - e.vcn*s.v.cluster
}

// layout says how a compression unit is stored: as it is, all hole or all
// data, or packed into its first clusters with a hole behind them. It returns
// the first extent of the unit and how many clusters hold data.
func (s *stream) layout(number int64) (first int, data int64, packed bool) {
	from, to := number*s.unit, (number+1)*s.unit
	first = s.search(from)
	if first < 0 {
		return first, 0, false
	}
	gap := int64(0)
	for _, e := range s.extents[first:] {
		if e.vcn >= to {
			break
		}
		n := min(e.vcn+e.n, to) - max(e.vcn, from)
		if e.lcn == hole {
			gap += n
		} else {
			data += n
		}
	}
	return first, data, data > 0 && gap > 0
}

// unpacked returns a packed unit, of which only data clusters are stored.
func (s *stream) unpacked(number int64, first int, data int64) ([]byte, error) {
	if u := s.recall(number); u != nil {
		return u, nil
	}
	packed := make([]byte, 0, data*s.v.cluster)
	at := number * s.unit
	for _, e := range s.extents[first:] {
		if e.lcn == hole || int64(len(packed)) == data*s.v.cluster {
			break
		}
		in := at - e.vcn
		n := min(e.n-in, (number+1)*s.unit-at)
		piece := packed[len(packed) : int64(len(packed))+n*s.v.cluster]
		if err := s.v.read(piece, (e.lcn+in)*s.v.cluster, s.what); err != nil {
			return nil, err
		}
		packed = packed[:len(packed)+len(piece)]
		at += n
	}
	off := s.locate(number * s.unit * s.v.cluster)
	if int64(len(packed)) != data*s.v.cluster {
		return nil, s.defect(off, binfmt.ErrCorrupt, "a hole only at the end of a compression unit", "data behind it")
	}
	u := make([]byte, s.unit*s.v.cluster)
	if err := expand(u, packed, fmt.Sprintf("%s: compression unit %d", s.what, number), off); err != nil {
		return nil, err
	}
	s.keep(number, u)
	return u, nil
}

func (s *stream) recall(number int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, u := range s.kept {
		if u.number == number {
			s.kept = append(slices.Delete(s.kept, i, i+1), u)
			return u.data
		}
	}
	return nil
}

func (s *stream) keep(number int64, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) >= keptUnits {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	s.kept = append(s.kept, unit{number, data})
}
