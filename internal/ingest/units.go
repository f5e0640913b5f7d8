package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ntfs"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// Input is the name of an input and how often its hits count.
type Input struct {
	Name   string
	Weight uint64 // 0 means 1
}

// Unit is what is read at once: one input, or the log files of one recording.
type Unit struct {
	Inputs []Input // the named ones, in their order
	Size   int64   // of the named ones in bytes, 0 where that is not known
	// Divides says that workers can share the reading.
	Divides bool
	// Once says that there is only one try: a pipe or standard input.
	Once bool

	kind unitKind
	rec  *etl.Recording // an open recording of log files; nil: to be opened
	err  error          // of looking at it
}

type unitKind uint8

const (
	fileUnit unitKind = iota
	logUnit
	pipeUnit
	stdinUnit
)

// Key names the unit whatever the order of the inputs: by the least name.
func (u *Unit) Key() string {
	key := u.Inputs[0].Name
	for _, in := range u.Inputs[1:] {
		key = min(key, in.Name)
	}
	return key
}

// weight is how often the hits of the unit count.
func (u *Unit) weight() (uint64, error) {
	w := max(1, u.Inputs[0].Weight)
	for _, in := range u.Inputs[1:] {
		if max(1, in.Weight) != w {
			return 0, diag.New(diag.BadValue, "%s weighs %d, but %s of the same recording %d", u.Inputs[0].Name, w, in.Name, max(1, in.Weight)).
				Because("A recording is read as a whole.").Do("Give the log files of a recording one weight.")
		}
	}
	return w, nil
}

// Units are inputs that are ready to be read.
type Units struct {
	List    []*Unit
	options *Options
	done    func() error
}

// keptOpen is how many recordings of log files stay open from looking at them
// until they are read. The others are opened again.
const keptOpen = 16

// FindUnits looks at inputs and puts together the log files of each recording,
// in the order of the first named one. The caller calls Close.
func FindUnits(ctx context.Context, inputs []Input, o *Options) *Units {
	o, done := o.withFiles()
	us := &Units{options: o, done: done}
	var logs []*Unit
	for _, in := range inputs {
		u := &Unit{Inputs: []Input{in}}
		us.List = append(us.List, u)
		if ctx.Err() != nil {
			u.err = ctx.Err()
			continue
		}
		u.look(o)
		if u.kind == logUnit {
			logs = append(logs, u)
		}
	}
	us.joinLogs(ctx, logs)
	return us
}

// Close closes what is open.
func (us *Units) Close() error {
	var errs []error
	for _, u := range us.List {
		if u.rec != nil {
			errs = append(errs, u.rec.Close())
		}
	}
	return errors.Join(append(errs, us.done())...)
}

// look finds out what kind of an input the unit is. What cannot be looked at
// is a file: reading it will tell why.
func (u *Unit) look(o *Options) {
	name := u.Inputs[0].Name
	switch {
	case name == "-":
		u.kind, u.Once, u.Divides = stdinUnit, true, true
		return
	case isStream(name):
		u.kind, u.Once, u.Divides = pipeUnit, true, true
		return
	}
	if folder, _, err := isSpecial(name); err != nil || folder {
		u.Divides = folder
		return
	}
	r, size, err := o.fs().Open(name)
	if err != nil {
		return
	}
	defer closeReader(r)
	u.Size = size
	switch {
	case isLog(io.NewSectionReader(r, 0, size)):
		u.kind, u.Divides = logUnit, true
	default:
		u.Divides = !isSPT(io.NewSectionReader(r, 0, size))
	}
}

// joinLogs makes one unit of the log files of each recording. A file that
// cannot be opened fails alone.
func (us *Units) joinLogs(ctx context.Context, logs []*Unit) {
	joined := map[*Unit]bool{}
	owner := map[string]*Unit{} // by path: the unit that reads the file
	first := map[*Unit]*etl.File{}
	var found []*Unit
	for _, u := range logs {
		name := u.Inputs[0].Name
		into := owner[absolute(name)]
		if into == nil {
			if into = us.openLog(ctx, u, owner, first, found); into == nil {
				continue
			}
			if into == u {
				found = append(found, u)
				continue
			}
			if into.rec != nil { // it has to be opened with all its files
				into.err = into.rec.Close()
				into.rec = nil
			}
		}
		into.Inputs = append(into.Inputs, u.Inputs...)
		into.Size += u.Size
		joined[u] = true
	}
	us.List = slices.DeleteFunc(us.List, func(u *Unit) bool { return joined[u] })
}

// openLog opens the recording that a log file is of and returns the unit that
// reads it: u itself, or one on the same clock that was found before.
func (us *Units) openLog(ctx context.Context, u *Unit, owner map[string]*Unit, first map[*Unit]*etl.File, found []*Unit) *Unit {
	name := u.Inputs[0].Name
	rec, err := etl.Open(name, us.logOptions(ctx))
	if err != nil {
		u.err = binfmt.InFile(err, name)
		return nil
	}
	into := u
	for _, other := range found {
		if etl.SameClock(first[other], rec.Files[0]) == nil {
			into = other
			break
		}
	}
	for _, f := range rec.Files {
		if path := absolute(f.Name()); owner[path] == nil {
			owner[path] = into
		}
	}
	owner[absolute(name)] = into
	if into == u {
		first[u] = rec.Files[0]
		if len(found) < keptOpen {
			u.rec = rec
			return u
		}
	}
	if err := rec.Close(); err != nil {
		u.err = err
	}
	return into
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

func (us *Units) logOptions(ctx context.Context) *etl.Options {
	return &etl.Options{TempDir: us.options.SpoolDir, Files: logFiles{us.options.fs(), ctx}}
}

// Read reads a unit with so many workers, each of which gives hits to a sink
// that newSink makes, and returns the facts of its files, which are there
// together with an error too: what was read before it was given to the sinks.
// Several goroutines may read different units.
func (us *Units) Read(ctx context.Context, u *Unit, workers int, stdin io.Reader, reg sample.Registry, newSink func() sample.Sink) ([]*Facts, error) {
	weight, err := u.weight()
	if err = errors.Join(err, u.err); err != nil {
		return u.failed(), err
	}
	o := *us.options
	o.Workers = workers
	weighted := newSink
	if weight > 1 {
		weighted = func() sample.Sink { return &weightedSink{newSink(), weight} }
	}
	facts, err := us.read(ctx, u, stdin, &o, reg, weighted)
	for _, f := range facts {
		f.Weight = weight
	}
	return facts, err
}

func (u *Unit) failed() []*Facts {
	var facts []*Facts
	for _, in := range u.Inputs {
		facts = append(facts, newFacts(in.Name, ""))
	}
	return facts
}

func (us *Units) read(ctx context.Context, u *Unit, stdin io.Reader, o *Options, reg sample.Registry, newSink func() sample.Sink) ([]*Facts, error) {
	name := u.Inputs[0].Name
	switch u.kind {
	case logUnit:
		rec := u.rec
		u.rec = nil
		if rec == nil {
			var err error
			if rec, err = us.reopen(ctx, u); err != nil {
				return u.failed(), err
			}
		}
		facts, err := readETL(ctx, rec, "", o, reg, newSink)
		return facts, errors.Join(err, rec.Close())
	case stdinUnit:
		return readOnce(ctx, stdin, name, o, reg, newSink)
	case pipeUnit:
		return readPipe(ctx, name, o, reg, newSink)
	}
	facts, err := Read(ctx, name, stdin, o, reg, newSink)
	return []*Facts{facts}, err
}

// reopen opens the recording of a unit that was closed after it was looked at.
func (us *Units) reopen(ctx context.Context, u *Unit) (*etl.Recording, error) {
	var paths []string
	for _, in := range u.Inputs {
		paths = append(paths, in.Name)
	}
	recs, err := etl.OpenAll(paths, us.logOptions(ctx))
	if err != nil {
		return nil, err
	}
	if len(recs) != 1 {
		for _, r := range recs {
			err = errors.Join(err, r.Close())
		}
		return nil, errors.Join(err, diag.New(diag.CannotRead, "the file changed while it was read").In(u.Inputs[0].Name))
	}
	return recs[0], nil
}

// Stamp tells whether a unit changed: sizes and times of its named files. It
// is empty for what can be read but once.
func (u *Unit) Stamp() string {
	if u.Once {
		return ""
	}
	var stamp []byte
	for _, in := range u.Inputs {
		fi, err := os.Stat(ntfs.HostFile(in.Name))
		if err != nil {
			return ""
		}
		stamp = fmt.Appendf(stamp, "%d bytes of %d;", fi.Size(), fi.ModTime().UnixNano())
	}
	return string(stamp)
}
