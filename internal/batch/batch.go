// Package batch reads many inputs into one profile: several at a time, those of
// one share, and on from where an interrupted run was.
//
// Each worker adds to a sum of its own, so that what is read when and by whom
// has no effect on the result. The state of an interrupted run is trusted only
// as a whole: it has a checksum, and names the inputs and options that it
// belongs to.
package batch

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/sample"
)

// Options say how to read.
type Options struct {
	Workers int
	Stdin   io.Reader
	// Read is called when the files of a unit were read; it may come from
	// several goroutines.
	Read func(file string)
	// State is where to save what was read; nil: nowhere.
	State *State
}

// Outcome is what became of a unit.
type Outcome struct {
	Unit   *ingest.Unit
	Facts  []*ingest.Facts
	Errors []*diag.Error // failures to read it
	// Earlier says that an interrupted run read it.
	Earlier bool

	begun, done bool
}

// shareable is the size in bytes from which all workers share an input. Smaller
// ones are read side by side, by one worker each.
const shareable = 32 << 20

// reader reads the units of a batch.
type reader struct {
	units   *ingest.Units
	profile *aggregate.Profile
	options *Options

	// reading is held for reading while a unit is read, and for writing while
	// the state is saved, which must not hold half a unit.
	reading  sync.RWMutex
	mu       sync.Mutex // of what follows
	outcomes []*Outcome
	unsaved  bool
	savedAt  time.Time
	pause    time.Duration // between savings
	failed   error         // of saving
}

// Read reads units of the list into a profile and returns what became of each,
// in their order. The error is a failure that is none of an input.
func Read(ctx context.Context, units *ingest.Units, list []*ingest.Unit, profile *aggregate.Profile, o *Options) ([]*Outcome, error) {
	r := &reader{units: units, profile: profile, options: o, savedAt: time.Now(), pause: savePause}
	for _, u := range list {
		r.outcomes = append(r.outcomes, &Outcome{Unit: u})
	}
	if o.State != nil {
		if err := o.State.load(r.outcomes, profile); err != nil {
			return nil, err
		}
	}
	var small, large []*Outcome
	for _, out := range r.outcomes {
		switch u := out.Unit; {
		case out.done:
		case u.Once, u.Divides && u.Size >= shareable:
			large = append(large, out)
		default:
			small = append(small, out)
		}
	}
	r.sideBySide(ctx, small)
	for _, out := range large {
		r.saveIfDue(out.Unit.Once)
		r.read(ctx, out, o.Workers)
	}
	r.saveIfDue(false)
	if err := profile.Err(); err != nil {
		return r.outcomes, err
	}
	if r.failed != nil {
		return r.outcomes, r.failed
	}
	return r.outcomes, ctx.Err()
}

// sideBySide reads several units at a time.
func (r *reader) sideBySide(ctx context.Context, list []*Outcome) {
	if len(list) == 0 {
		return
	}
	lanes := min(r.options.Workers, len(list))
	next := make(chan *Outcome)
	var group sync.WaitGroup
	for range lanes {
		group.Go(func() {
			for out := range next {
				r.read(ctx, out, max(1, r.options.Workers/len(list)))
				r.saveIfDue(false)
			}
		})
	}
	for _, out := range list {
		next <- out
	}
	close(next)
	group.Wait()
}

// read reads a unit. Once the context ended or something failed, it does
// nothing.
func (r *reader) read(ctx context.Context, out *Outcome, workers int) {
	r.reading.RLock()
	defer r.reading.RUnlock()
	if ctx.Err() != nil || r.profile.Err() != nil || r.hasFailed() {
		return
	}
	var (
		mu     sync.Mutex
		shards []*aggregate.Shard
	)
	out.begun = true
	newSink := func() sample.Sink {
		mu.Lock()
		defer mu.Unlock()
		s := r.profile.NewShard()
		shards = append(shards, s)
		return s
	}
	facts, err := r.units.Read(ctx, out.Unit, workers, r.options.Stdin, r.profile, newSink)
	for _, s := range shards {
		r.profile.Merge(s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out.Facts = facts
	for _, e := range flatten(err) {
		out.Errors = append(out.Errors, diag.Of(e))
	}
	if ctx.Err() == nil {
		out.done = true
		r.unsaved = true
	}
	for _, f := range facts {
		r.options.Read(f.File)
	}
}

func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

func (r *reader) hasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed != nil
}

const (
	// savePause is the least time between savings.
	savePause = 3 * time.Second
	// saveShare bounds the part of the time that goes into saving.
	saveShare = 20
)

// saveIfDue saves the state after a while, or now.
func (r *reader) saveIfDue(now bool) {
	if r.options.State == nil || !r.due(now) {
		return
	}
	r.reading.Lock()
	defer r.reading.Unlock()
	if !r.due(now) { // another worker saved meanwhile
		return
	}
	for _, out := range r.outcomes {
		if out.begun && !out.done {
			return // interrupted within: the sums hold a part of it
		}
	}
	begin := time.Now()
	err := r.options.State.save(r.outcomes, r.profile)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.unsaved, r.savedAt = err, false, time.Now()
	r.pause = max(savePause, saveShare*time.Since(begin))
}

func (r *reader) due(now bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unsaved && r.failed == nil && (now || time.Since(r.savedAt) >= r.pause)
}
