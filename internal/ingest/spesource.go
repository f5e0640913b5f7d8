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
	list    []*speQueue // that are not at their end
	err     error
	workers []*speWorker
}

func newSPESource(t *perfTrace) *speSource {
	s := &speSource{trace: t, file: t.file}
	s.idle.L = &s.mu
	if t.spe != nil {
		s.list = slices.Clone(t.spe.queues)
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
	for s.err == nil && len(s.list) > 0 {
		i := slices.IndexFunc(s.list, func(q *speQueue) bool { return !q.busy })
		if i < 0 {
			s.idle.Wait()
			continue
		}
		q := s.list[i]
		q.busy = true
		s.mu.Unlock()
		err := q.fill(s.file, b)
		s.mu.Lock()
		q.busy = false
		if err != nil {
			s.err = err
		}
		if err != nil || len(b.data) == 0 {
			s.list = slices.DeleteFunc(s.list, func(x *speQueue) bool { return x == q })
		}
		s.idle.Broadcast()
		if err == nil && len(b.data) > 0 {
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
