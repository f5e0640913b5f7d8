package ingest

import (
	"context"
	"slices"
	"sync"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// speSource hands out the blocks of all queues to workers. The blocks of one
// queue come one after the other; reading them is done by the worker that asks,
// so that different queues go on in parallel. Where the next block of a queue
// begins is known when this one was decoded. While a worker waits for want of
// queues, blocks are skimmed instead, so that two can be decoded at a time.
type speSource struct {
	trace *perfTrace
	file  *perfdata.File

	mu      sync.Mutex
	idle    sync.Cond
	ready   []*speQueue // not at their end, and read by nobody
	busy    int         // queues that are being read, or decoded by one worker alone
	waiting int         // workers
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
		s.done(&b)
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
			s.waiting++
			s.idle.Wait()
			s.waiting--
			continue
		}
		q := s.ready[last]
		s.ready = s.ready[:last]
		s.busy++
		s.mu.Unlock()
		err := q.fill(s.file, b)
		s.mu.Lock()
		if err == nil && s.waiting == 0 && b.end == 0 && len(b.data) > 0 {
			b.exclusive = true
			return true
		}
		s.mu.Unlock()
		if err == nil {
			b.skim()
			b.cut()
		}
		s.mu.Lock()
		if err != nil {
			s.err = err
		}
		got := err == nil && len(b.data) > 0
		s.release(q, got)
		if got {
			return true
		}
	}
	return false
}

// release lets other workers have a queue, unless it is at its end.
func (s *speSource) release(q *speQueue, more bool) {
	s.busy--
	if more {
		s.ready = append(s.ready, q)
	}
	s.idle.Broadcast()
}

// done ends the work on a block.
func (s *speSource) done(b *speBlock) {
	if b.exclusive {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.release(b.queue, true)
	}
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
