package ingest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/spgo-tools/spgo/internal/debias"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// Stacks says what triggered the branch stacks of an event and what was done
// about the bias of the trigger.
type Stacks struct {
	Event string
	Unit  debias.Unit // what the event counts
	// Biased says that the windows are not seen alike: by the kind of the
	// event, or where that is unknown by the skew of the targets.
	Biased      bool
	Skew, Noise float64 // see debias.Collector.Skew; of biased or unknown events
	Windows     uint64  // from which the weights were found
	Effective   float64 // number of equal windows that tell as much; 0: not weighed
	Kept        string  // why biased stacks were not weighed; empty: they were
}

// stackWindows is how many windows the weights are found from. Many more would
// only take time: they are the mean durations of straight code.
const stackWindows = 1 << 17

// weighStacks finds out for each event with branch stacks whether its trigger
// is biased, and the weights that undo that. It reads the samples once more
// where it has to.
func (t *perfTrace) weighStacks(ctx context.Context, index *perfdata.Index) error {
	var doubtful []*perfEvent
	for _, a := range t.file.Attrs {
		e := t.events[a]
		if !e.wanted || a.SampleType&perfdata.SampleBranchStack == 0 || e.stacks != stackHistory {
			continue
		}
		if e.unit == debias.Taken || t.options.KeepBias {
			s := Stacks{Event: e.name, Unit: e.unit, Biased: e.unit > debias.Taken}
			if s.Biased {
				s.Kept = "not wanted"
			}
			t.facts.Stacks = append(t.facts.Stacks, s)
			continue
		}
		doubtful = append(doubtful, e)
	}
	if !slices.ContainsFunc(doubtful, func(e *perfEvent) bool { return e.unit != debias.Unknown }) {
		// No weights can be found. That the stacks are biased is worth to know,
		// but not to read everything once more.
		t.watched = doubtful
		return nil
	}
	code := &codeCounter{objects: t.objects, open: t.locator.openImage}
	defer code.close()
	windows, err := t.collectWindows(ctx, index, code)
	if err != nil {
		return err
	}
	for _, e := range doubtful {
		t.judgeStacks(e, windows[e.number])
	}
	return nil
}

// collectWindows reads a share of the samples, the same whatever worker gets
// which of them.
func (t *perfTrace) collectWindows(ctx context.Context, index *perfdata.Index, code *codeCounter) ([]*windowCollector, error) {
	source := t.file.Chunks(index)
	defer source.Close()
	var group sync.WaitGroup
	workers := make([]*windowWorker, max(1, t.options.Workers))
	for i := range workers {
		w := newWindowWorker(t, code)
		workers[i] = w
		group.Go(func() { w.run(ctx, source) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return mergeWindows(workers), source.Err()
}

// mergeWindows is the sum of all workers, by event.
func mergeWindows(workers []*windowWorker) []*windowCollector {
	total := workers[0].events
	for _, w := range workers[1:] {
		for i, c := range w.events {
			total[i].merge(c)
		}
	}
	return total
}

// judgeWatched decides about the events whose windows were collected beside
// the hits.
func (t *perfTrace) judgeWatched(workers []*windowWorker) {
	if len(t.watched) == 0 {
		return
	}
	windows := mergeWindows(workers)
	for _, e := range t.watched {
		t.judgeStacks(e, windows[e.number])
	}
}

// judgeStacks decides about one event.
func (t *perfTrace) judgeStacks(e *perfEvent, c *windowCollector) {
	s := Stacks{Event: e.name, Unit: e.unit, Windows: c.Windows()}
	if s.Windows == 0 {
		return // no stack of the event can be used
	}
	s.Skew, s.Noise = c.Skew()
	s.Biased = e.unit != debias.Unknown || debias.Biased(s.Skew, s.Noise)
	switch {
	case !s.Biased:
	case e.unit == debias.Unknown:
		s.Kept = "it is not known what the event counts"
	case c.known < c.unknown && e.unit == debias.Cycles:
		s.Kept = "the stacks have no cycle counts"
	case c.known < c.unknown:
		s.Kept = "the images were not found"
	default:
		if e.weights = c.Solve(); e.weights == nil {
			s.Kept = "no straight code was observed"
			break
		}
		s.Effective = e.weights.Effective
	}
	if s.Biased && s.Kept != "" {
		w := diag.New(diag.BiasedStacks, "stacks of %s are biased and count as they are: %s", e.name, s.Kept)
		switch e.unit {
		case debias.Instructions, debias.Branches:
			w.Do("Name the folders of the images with --image-path, or record an event that counts taken branches alone " +
				"(br_inst_retired.near_taken:u on Intel, ex_ret_brn_tkn:u on AMD).")
		default:
			w.Do("Record an event that counts taken branches alone (br_inst_retired.near_taken:u on Intel, ex_ret_brn_tkn:u on AMD).")
		}
		t.facts.warn(w)
	}
	t.facts.Stacks = append(t.facts.Stacks, s)
}

// windowCollector counts in addition how many runs have a known duration.
type windowCollector struct {
	*debias.Collector
	known, unknown uint64
}

func (c *windowCollector) merge(o *windowCollector) {
	c.Merge(o.Collector)
	c.known += o.known
	c.unknown += o.unknown
}

// windowWorker takes the windows of a share of the samples.
type windowWorker struct {
	*perfWorker
	code   *codeView
	events []*windowCollector
	share  float64 // of the samples to look at
	runs   []debias.Run
}

// newWindowWorker returns a worker. Without code, only events of unknown units
// can be taken.
func newWindowWorker(t *perfTrace, code *codeCounter) *windowWorker {
	w := &windowWorker{perfWorker: newPerfWorker(t, discard{}), share: stackWindows / float64(max(t.facts.Samples, 1))}
	if code != nil {
		w.code = code.view()
	}
	for range t.events {
		w.events = append(w.events, &windowCollector{Collector: debias.NewCollector()})
	}
	return w
}

func (w *windowWorker) run(ctx context.Context, source *perfdata.ChunkSource) {
	var c perfdata.Chunk
	for ctx.Err() == nil && source.Next(&c) {
		for w.decoder.Reset(&c); w.decoder.Next(); {
			w.take(w.decoder.Sample())
		}
	}
}

// take adds the window of a sample if it is one of the share.
func (w *windowWorker) take(s *perfdata.Sample) {
	e := w.trace.events[s.Attr]
	if len(s.Branches) > 0 && e.stacks == stackHistory && e.unit != debias.Taken &&
		(w.share >= 1 || float64(drawOf(s)>>11)/(1<<53) < w.share) && w.admit(s, e) == sample.Used {
		w.window(s, e)
	}
}

// drawOf is an even number that identifies a sample by what is in it.
func drawOf(s *perfdata.Sample) uint64 {
	b := &s.Branches[0]
	return debias.Mix(s.Time, uint64(uint32(s.TID)), s.IP, b.From, b.To)
}

// window adds one stack to the collector of its event.
func (w *windowWorker) window(s *perfdata.Sample, e *perfEvent) {
	c := w.events[e.number]
	newest, ok := w.newest(s)
	if !ok {
		return
	}
	w.runs = w.runs[:0]
	var after place // of the branch at which the code before ends
	var cycles uint16
	for i := range s.Branches {
		b := &s.Branches[i]
		from, to, _ := w.branch(b)
		if i > 0 && to.usable() && after.usable() && after.binary == to.binary && after.rva >= to.rva {
			duration, known := w.duration(e.unit, to, after.rva, cycles)
			if known {
				c.known++
				w.runs = append(w.runs, debias.Run{Start: debias.Target{Binary: to.binary, RVA: to.rva}, Duration: duration})
			} else {
				c.unknown++
			}
		}
		after, cycles = from, b.Flags.Cycles()
	}
	c.Add(newest, w.runs)
}

// duration is the length of the straight code from start to the branch at end,
// in units of the event. Cycles are those that the branch at the end tells.
func (w *windowWorker) duration(unit debias.Unit, start place, end uint32, cycles uint16) (float64, bool) {
	switch unit {
	case debias.Cycles:
		return float64(cycles), cycles > 0
	case debias.Instructions, debias.Branches:
		n, ok := w.code.count(start.object, start.rva, end)
		if unit == debias.Branches {
			return float64(n.branches), ok
		}
		return float64(n.instructions), ok
	}
	return 1, true // only the targets matter
}

// newest is the target of the newest branch of a sample, if that is usable.
func (w *perfWorker) newest(s *perfdata.Sample) (debias.Target, bool) {
	to := s.Branches[0].To
	p := w.locate(to, to >= w.trace.kernelLow, 0)
	return debias.Target{Binary: p.binary, RVA: p.rva}, p.object >= 0
}

// windowWeight is the weight of a sample's branch stack as a whole number,
// which is its weight on average.
func (w *perfWorker) windowWeight(s *perfdata.Sample, e *perfEvent) uint64 {
	newest, ok := w.newest(s)
	if !ok {
		return 1
	}
	// Another draw than that of the share.
	return debias.Round(e.weights.Of(newest), debias.Mix(drawOf(s)))
}

// discard is a sink of hits that nobody wants.
type discard struct{}

func (discard) IP(int32, byte, uint32, uint64)          {}
func (discard) Branches(int32, []sample.Branch, uint64) {}
func (discard) Calls(int32, []uint32, uint64)           {}

// Describe says in words what was done, for the summary.
func (s *Stacks) Describe() string {
	switch {
	case s.Unit == debias.Taken:
		return "triggered by taken branches: unbiased"
	case !s.Biased:
		return fmt.Sprintf("triggered by an event of unknown kind: no bias seen (skew %.3f, by chance %.3f)", s.Skew, s.Noise)
	case s.Kept != "":
		return fmt.Sprintf("triggered by %v: biased, kept as they are (%s)", s.Unit, s.Kept)
	}
	return fmt.Sprintf("triggered by %v: biased, weighed by the gap between branches; %.0f of %d windows count as equal ones",
		s.Unit, s.Effective, s.Windows)
}
