package carrier

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// searchImage searches the sections of a PE image.
func (f *finder) searchImage(file part) {
	i, err := image.NewFile(file.r, file.size)
	if err != nil {
		f.fail(err)
		return
	}
	for _, s := range i.PE.Sections {
		name := func() string { return "section " + shown(s.Name) }
		f.section(file, name, s.PointerToRawData, s.SizeOfRawData)
	}
}

// shown is a name as it is, or quoted where it has other than printable
// characters.
func shown(name string) string {
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
		return quoted
	}
	return name
}

// section searches a section of an image or object. Where the file ends before
// the section does, what is there is searched.
func (f *finder) section(file part, name func() string, at, size uint32) {
	if at == 0 || size == 0 {
		return // the section has no data in the file
	}
	p := part{where: name, at: file.at + int64(at), size: int64(size)}
	if left := file.size - int64(at); left < p.size {
		f.fail(p.fail("data", 0, fmt.Sprintf("%d bytes", size), fmt.Sprint(max(left, 0)), binfmt.ErrTruncated))
		if left <= 0 {
			return
		}
		p.size = left
	}
	p.r = io.NewSectionReader(file.r, int64(at), p.size)
	f.scan(p)
}
