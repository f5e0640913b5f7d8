package collect

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// Pieces is a [Sink] for long collections: it writes small recordings in the
// folder for temporary files and hands each to Use when it is full, so that
// never more than two are on the disk. Each begins with what is known of the
// processes that live. The files have no names there, so that nothing is left of
// them however this process ends.
type Pieces struct {
	Bytes   int64                   // of records in a piece
	Version string                  // of this program
	Use     func(path string) error // takes a whole piece, which is gone afterwards

	attr    *perfdata.Attr
	initial []perfdata.Event // the snapshot
	side    *sideband
	file    *os.File
	path    string // that opens file
	w       *File
	written int64
	using   chan error // of the piece in use; nil if none is
}

// Start implements [Sink].
func (p *Pieces) Start(a *perfdata.Attr) error {
	p.attr, p.side = a, newSideband()
	return p.begin()
}

func (p *Pieces) begin() error {
	f, err := os.CreateTemp("", "sptcollect-*.data")
	if err != nil {
		return err
	}
	p.file, p.path, p.written = f, f.Name(), 0
	if runtime.GOOS == "linux" && os.Remove(p.path) == nil {
		p.path = fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	}
	p.w = NewFile(f, p.Version)
	if err := p.w.Start(p.attr); err != nil {
		return err
	}
	for _, ev := range p.initial {
		if err := p.w.Event(ev); err != nil {
			return err
		}
	}
	return p.side.replay(p.w.Record)
}

// Record implements [Sink].
func (p *Pieces) Record(t perfdata.Type, misc uint16, body []byte) error {
	p.side.note(t, misc, body)
	p.written += int64(len(body)) + 8
	return p.w.Record(t, misc, body)
}

// Event implements [Sink].
func (p *Pieces) Event(ev perfdata.Event) error {
	p.initial = append(p.initial, ev)
	return p.w.Event(ev)
}

// Round implements [Sink]. It is the only moment at which a piece can end:
// what comes later is later in time.
func (p *Pieces) Round() error {
	if err := p.w.Round(); err != nil {
		return err
	}
	if p.written < p.Bytes {
		return nil
	}
	if err := p.end(); err != nil {
		return err
	}
	p.side.prune()
	return p.begin()
}

// end completes a piece and has it used in the background.
func (p *Pieces) end() error {
	if err := p.w.Close(); err != nil {
		return err
	}
	if err := p.settle(); err != nil {
		return err
	}
	file, path := p.file, p.path
	p.file, p.using = nil, make(chan error, 1)
	go func(done chan<- error) {
		err := p.Use(path)
		remove(file)
		done <- err
	}(p.using)
	return nil
}

// settle waits for the piece in use.
func (p *Pieces) settle() error {
	if p.using == nil {
		return nil
	}
	err := <-p.using
	p.using = nil
	return err
}

// Close has the last piece used and waits for it.
func (p *Pieces) Close() error {
	if err := p.end(); err != nil {
		return err
	}
	return p.settle()
}

// Discard removes what is left after a failure.
func (p *Pieces) Discard() {
	p.settle()
	if p.file != nil {
		remove(p.file)
	}
}

// remove closes a piece, and removes it where it still has a name.
func remove(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}
