package carrier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

const (
	signature = "H_Q_"
	// chunk is how much is read at once.
	chunk = 256 << 10
	// Places in an SPD, see docs/format/spd.md.
	atModuleCount = 0x2c
	atModuleData  = 0x38
	minModuleData = 0x74
	moduleEntry   = 12
	moduleHeader  = 0x38
	// maxModules is far beyond the one module of known files.
	maxModules = 4096
)

var start = binary.LittleEndian.AppendUint32([]byte(signature), spd.Version)

// part is a stretch of bytes that can hold SPDs.
type part struct {
	// where makes the name; nil for the file itself.
	where func() string
	r     io.ReaderAt
	size  int64
	// at is where the part starts in the file, -1 if it lies in pieces.
	at int64
}

func (p *part) name() string {
	if p.where == nil {
		return ""
	}
	return p.where()
}

// fail makes an error about the byte at an offset in the part.
func (p *part) fail(what string, offset int64, want, got string, kind error) error {
	e := &binfmt.Error{Part: what, Offset: -1, Want: want, Got: got, Err: kind}
	if p.at >= 0 {
		e.Offset = p.at + offset
	} else {
		e.Part += fmt.Sprintf(" at %#x", offset)
	}
	if name := p.name(); name != "" {
		e.Part = name + ": " + e.Part
	}
	return e
}

// fill reads bytes at an offset into all of b. What it is goes into the error.
func (p *part) fill(b []byte, what string, offset int64) error {
	n, err := 0, io.EOF
	if offset >= 0 && int64(len(b)) <= p.size-offset {
		n, err = p.r.ReadAt(b, offset)
	}
	var located *binfmt.Error
	switch {
	case n == len(b):
		return nil
	case errors.As(err, &located):
		return err
	case err == nil || err == io.EOF:
		err = binfmt.ErrTruncated
	}
	return p.fail(what, offset, fmt.Sprintf("%d bytes", len(b)), fmt.Sprint(min(max(p.size-offset, 0), int64(len(b)))), err)
}

// read is fill with a new slice, for small n.
func (p *part) read(what string, offset, n int64) ([]byte, error) {
	b := make([]byte, n)
	if err := p.fill(b, what, offset); err != nil {
		return nil, err
	}
	return b, nil
}

// scan searches a part. At its start a version that is not known counts too,
// elsewhere that is taken for chance.
func (f *finder) scan(p part) {
	if f.unsearched -= p.size; f.unsearched < 0 {
		f.fail(p.fail("data", 0, "parts that do not overlap", fmt.Sprintf("%d bytes", p.size), binfmt.ErrCorrupt))
		return
	}
	if n := min(chunk, p.size); int64(len(f.buffer)) < n {
		f.buffer = make([]byte, n)
	}
	for at := int64(0); p.size-at >= int64(len(start)); {
		b := f.buffer[:min(chunk, p.size-at)]
		if err := p.fill(b, "data", at); err != nil {
			f.fail(err)
			return
		}
		pattern := start
		if at == 0 && bytes.HasPrefix(b, []byte(signature)) {
			pattern = b[:len(start)]
		}
		i := bytes.Index(b, pattern)
		if i < 0 {
			// The next window begins early enough for what this one cuts off.
			at += int64(max(len(b)-len(start)+1, 1))
			continue
		}
		if len(f.found) == maxFound {
			f.fail(p.fail("search", at+int64(i), fmt.Sprintf("at most %d SPDs", maxFound), "more", binfmt.ErrLimit))
			return
		}
		one := p.measure(at + int64(i))
		f.found = append(f.found, one)
		at = one.Offset + max(one.Size, int64(len(start)))
	}
}

// measure finds out how large the SPD at an offset is.
func (p *part) measure(at int64) Found {
	one := Found{Where: p.name(), Offset: at, part: p.r}
	if one.Version, one.Err = p.u32("SPD version", at+4); one.Err == nil {
		if one.Version == spd.Version {
			one.Size, one.Err = p.sizeOf(at)
		} else {
			one.Err = p.fail("SPD version", at+4, fmt.Sprintf("%#x", spd.Version), fmt.Sprintf("%#x", one.Version), binfmt.ErrVersion)
		}
	}
	return one
}

// sizeOf adds up an SPD: the header gives the offset of the module data, each
// module its size.
func (p *part) sizeOf(at int64) (int64, error) {
	modules, err := p.u32("SPD header: module count", at+atModuleCount)
	if err != nil {
		return 0, err
	}
	data, err := p.u32("SPD header: module data offset", at+atModuleData)
	if err != nil {
		return 0, err
	}
	if modules > maxModules {
		return 0, p.fail("SPD header: module count", at+atModuleCount, fmt.Sprintf("at most %d", maxModules), fmt.Sprint(modules), binfmt.ErrLimit)
	}
	if least := minModuleData + moduleEntry*modules; data < least {
		return 0, p.fail("SPD header: module data offset", at+atModuleData, fmt.Sprintf("at least %#x", least), fmt.Sprintf("%#x", data), binfmt.ErrCorrupt)
	}
	size := int64(data)
	for range modules {
		n, err := p.u32("SPD module size", at+size)
		if err != nil {
			return 0, err
		}
		if n < moduleHeader {
			return 0, p.fail("SPD module size", at+size, fmt.Sprintf("at least %#x", moduleHeader), fmt.Sprintf("%#x", n), binfmt.ErrCorrupt)
		}
		size += int64(n)
	}
	if size > p.size-at {
		return 0, p.fail("SPD", at, fmt.Sprintf("%d bytes", size), fmt.Sprint(p.size-at), binfmt.ErrTruncated)
	}
	return size, nil
}

func (p *part) u32(what string, offset int64) (uint32, error) {
	b, err := p.read(what, offset, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}
