package ingest

import (
	"context"
	"slices"
	"sync"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// speSource hands out the blocks of all queues to workers. The blocks of one
// queue come one after the other; reading and skimming them is done by the
// worker that asks, so that different queues go on in parallel.
type speSource struct {
	trace *perfTrace
	file  *perfdata.File

	mu      sync.Mutex
	idle    sync.Cond
	ready   []*speQueue // not at their end, and read by nobody
	busy    int         // queues that are being read
	err     error
	workers []*speWorker
}

func newSPESource(t *perfTrace) *speSource {
	s := &speSource{trace: t, file: t.file}
	s.idle.L = &s.mu
	if t.spe != nil {
		s.ready = slices.Clone(t.spe.queues)
		slices.Reverse(s.ready) // the last one is taken first
	}
	return s
}

// run lets a worker take blocks until there are none.
func (s *speSource) run(ctx context.Context, w *perfWorker) {
	if s.trace.spe == nil {
		return
	}
	worker := newSPEWorker(w)
	s.mu.Lock()
	s.workers = append(s.workers, worker)
	s.mu.Unlock()
	var b speBlock
	for ctx.Err() == nil && s.next(&b) {
		worker.block(&b)
		if progress := s.trace.options.Progress; progress != nil {
			progress(int64(len(b.data)))
		}
	}
}

// next fills a block and says whether there was one.
func (s *speSource) next(b *speBlock) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && len(s.ready)+s.busy > 0 {
		last := len(s.ready) - 1
		if last < 0 {
			s.idle.Wait()
			continue
		}
		q := s.ready[last]
		s.ready = s.ready[:last]
		s.busy++
		s.mu.Unlock()
		err := q.fill(s.file, b)
		s.mu.Lock()
		s.busy--
		got := err == nil && len(b.data) > 0
		if err != nil {
			s.err = err
		}
		if got {
			s.ready = append(s.ready, q)
		}
		s.idle.Broadcast()
		if got {
			return true
		}
	}
	return false
}

// finish adds up what the workers found. None is running any more.
func (s *speSource) finish() error {
	if s.trace.spe == nil {
		return nil
	}
	total := new(speStats)
	runs := newSPERuns()
	for _, w := range s.workers {
		w.finish(total)
		runs.merge(&w.runs)
	}
	if len(s.workers) > 0 {
		runs.flush(s.workers[0].out.sink)
	}
	s.trace.concludeSPE(total)
	return s.err
}
