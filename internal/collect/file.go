package collect

import (
	"cmp"
	"io"
	"slices"

	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// File is a [Sink] that writes one perf.data file, readable by perf, with the
// build ids of the binaries that were mapped.
type File struct {
	out  io.WriteSeeker
	w    *perfdata.Writer
	head *perfdata.Features
	maps mapNames
}

// NewFile returns a sink that writes to out from its start. Version is that of
// this program, for the header.
func NewFile(out io.WriteSeeker, version string) *File {
	f := &File{out: out, head: &perfdata.Features{Version: version}, maps: mapNames{}}
	Host(f.head)
	return f
}

// Start implements [Sink].
func (f *File) Start(a *perfdata.Attr) (err error) {
	f.w, err = perfdata.NewWriter(f.out, perfdata.WriterOptions{Attrs: []*perfdata.Attr{a}, Features: f.head})
	return err
}

// Record implements [Sink].
func (f *File) Record(t perfdata.Type, misc uint16, body []byte) error {
	f.maps.note(t, body)
	return f.w.WriteRecord(t, misc, body)
}

// Event implements [Sink].
func (f *File) Event(ev perfdata.Event) error {
	if m, ok := ev.(*perfdata.Mmap); ok {
		f.maps[m.Name] = true
	}
	return f.w.WriteEvent(ev, perfdata.SampleIDs{})
}

// Round implements [Sink].
func (f *File) Round() error { return f.w.WriteRecord(perfdata.TypeFinishedRound, 0, nil) }

// Close completes the file.
func (f *File) Close() error {
	f.head.BuildIDs = f.maps.buildIDs()
	return f.w.Close()
}

// mapNames is the set of the names of all mappings.
type mapNames map[string]bool

// note adds the name in an MMAP2 record of the kernel.
func (names mapNames) note(t perfdata.Type, body []byte) {
	if name, ok := mapName(t, body); ok {
		names[name] = true
	}
}

// buildIDs reads the build ids of the mapped files. What is no file or has
// none is left out.
func (names mapNames) buildIDs() []perfdata.BuildID {
	var ids []perfdata.BuildID
	for name := range names {
		if len(name) == 0 || name[0] != '/' {
			continue
		}
		f, err := image.Open(name)
		if err != nil {
			continue
		}
		if f.ELF != nil && len(f.ELF.BuildID) > 0 {
			ids = append(ids, perfdata.BuildID{Mode: perfdata.ModeUser, PID: -1, ID: f.ELF.BuildID, Name: name})
		}
		f.Close()
	}
	slices.SortFunc(ids, func(a, b perfdata.BuildID) int { return cmp.Compare(a.Name, b.Name) })
	return ids
}
