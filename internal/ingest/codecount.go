package ingest

import (
	"sync"

	"github.com/spgo-tools/spgo/internal/disasm"
	"github.com/spgo-tools/spgo/pkg/image"
)

// codeCounter counts instructions in the images of a trace, which it opens when
// they are first needed.
type codeCounter struct {
	objects []*object
	open    func(path string) (*image.File, error)

	mu    sync.Mutex
	files map[int32]*image.File // nil: cannot be read
}

// file is the open image of an object, nil if there is none.
func (c *codeCounter) file(object int32) *image.File {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.files[object]; ok {
		return f
	}
	if c.files == nil {
		c.files = map[int32]*image.File{}
	}
	var f *image.File
	if path := c.objects[object].path; path != "" {
		f, _ = c.open(path) // code that cannot be read is not counted
	}
	c.files[object] = f
	return f
}

func (c *codeCounter) close() {
	for _, f := range c.files {
		if f != nil {
			f.Close()
		}
	}
}

// codeView is a codeCounter for one worker, which remembers what it counted.
type codeView struct {
	*codeCounter
	known map[stretch]codeCount
	code  []byte
}

func (c *codeCounter) view() *codeView {
	return &codeView{codeCounter: c, known: map[stretch]codeCount{}}
}

// stretch is straight code in an object, up to the instruction at end.
type stretch struct {
	object     int32
	start, end uint32
}

// codeCount is what a stretch holds, with the instruction at its end. Without
// instructions the stretch is no code, or no image was found.
type codeCount struct{ instructions, branches uint32 }

// maxStretch bounds what is decoded for one stretch, in bytes.
const maxStretch = 1 << 16

// count counts a stretch of code.
func (v *codeView) count(object int32, start, end uint32) (codeCount, bool) {
	key := stretch{object, start, end}
	n, ok := v.known[key]
	if !ok {
		n = v.decode(key)
		v.known[key] = n
	}
	return n, n.instructions > 0
}

func (v *codeView) decode(s stretch) (n codeCount) {
	f := v.file(s.object)
	if f == nil || s.end-s.start > maxStretch {
		return codeCount{}
	}
	var arch disasm.Arch
	switch f.Arch {
	case image.ArchAMD64:
		arch = disasm.AMD64
	case image.ArchARM64:
		arch = disasm.ARM64
	default:
		return codeCount{}
	}
	size := int(s.end-s.start) + disasm.MaxLen
	v.code = append(v.code[:0], make([]byte, size)...)
	read, _ := f.ReadAtRVA(v.code, uint64(s.start)) // less at the end of the code
	code := v.code[:read]
	for at := s.start; ; {
		in, ok := arch.Decode(code[min(int(at-s.start), len(code)):], uint64(at))
		if !ok {
			return codeCount{}
		}
		n.instructions++
		switch in.Kind {
		case disasm.Other, disasm.Trap:
		default:
			n.branches++
		}
		if at == s.end {
			return n
		}
		if at += uint32(in.Len); at > s.end {
			return codeCount{} // the branch does not begin where an instruction does
		}
	}
}
