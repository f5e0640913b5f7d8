package carrier

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/pdb"
)

// searchPDB searches the streams. Stream 0 is left out: it is the directory of
// the state before, and its blocks may belong to other streams now.
func (f *finder) searchPDB(file part) {
	p, err := pdb.NewFile(file.r, file.size)
	if err != nil {
		f.fail(err)
		return
	}
	for i := 1; i < p.NumStreams(); i++ {
		s, err := p.OpenStream(i)
		if err != nil {
			f.fail(err)
			continue
		}
		f.scan(part{where: func() string { return streamName(p, i) }, r: s, size: s.Size(), at: -1})
	}
}

// streamName is the number of a stream with its name if it has one. The search
// does not depend on the stream that lists the names.
func streamName(p *pdb.File, i int) string {
	info, err := p.Info()
	if err == nil {
		for _, n := range info.Named {
			if n.Stream == i {
				return fmt.Sprintf("stream %d %q", i, n.Name)
			}
		}
	}
	return fmt.Sprintf("stream %d", i)
}
