package ingest

import (
	"context"
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// etlTrace is a recording of Event Tracing for Windows on its way to hits.
// A first pass over the buffers, in any order, gathers the side band and notes
// which samples there are. The side band is put into the order of time and
// becomes time lines of processes and threads and the history of address
// spaces. A second pass, in any order again, resolves samples, call stacks and
// last branch records.
type etlTrace struct {
	options  *Options
	registry sample.Registry
	files    []*etlFile // of the recording, all on one clock
	main     *Facts     // of the file that warnings about the whole go to

	lives     *timeline[uint32, processLife] // by process id
	threads   *timeline[uint32, uint32]      // process by thread id
	processes []etlProcess
	selected  []bool // by process: the filter takes it
	objects   []*object
	byFile    map[imageFile]int32
	locator   *locator
	space     *addrspace.Space // owners are objects, tags processes
	methods   []jitMethod
	modules   *timeline[slotKey, managedModule]
	code      *addrspace.Space // owners are methods
	sources   *profileSources
	stacks    stackTable
	sampled   sourceSet
	kernelLow uint64 // lowest kernel address
	from, to  uint64 // times that are wanted
}

// etlFile is one file of a recording.
type etlFile struct {
	*etl.File
	number  int32
	facts   *Facts
	records [32]uint64   // by bit number of the class
	table   *sampleTable // nil where no record can belong to a sample
	damage  etl.Damage   // found in the first pass
	bad     error        // the first damaged buffer
}

// readETL reads an open recording to its end and returns the facts of its
// files. Name stands for the path of a recording in a temporary file; else it
// is empty.
func readETL(ctx context.Context, rec *etl.Recording, name string, o *Options, reg sample.Registry, newSink func() sample.Sink) ([]*Facts, error) {
	t := &etlTrace{options: o, registry: reg, byFile: map[imageFile]int32{}, kernelLow: 1 << 63, to: addrspace.Forever}
	var facts []*Facts
	for i, f := range rec.Files {
		shown := f.Name()
		if name != "" {
			_, member, _ := strings.Cut(shown, "!")
			shown = strings.TrimSuffix(name+"!"+member, "!")
		}
		t.files = append(t.files, &etlFile{File: f, number: int32(i), facts: newFacts(shown, "etl")})
		facts = append(facts, t.files[i].facts)
	}
	t.main = facts[0]
	side, err := t.scan(ctx)
	if err != nil {
		return facts, err
	}
	t.describe(rec, side)
	t.sources = newProfileSources(o, side.intervals, t.sampled)
	t.followProcesses(side)
	t.locator = newLocator(o, t.main)
	t.placeImages(side)
	t.placeMethods(side)
	t.stacks = newStackTable(side.definitions)
	t.findTimes()
	for i := range t.processes {
		t.selected = append(t.selected, len(o.Processes) == 0 || t.processes[i].matches(o.Processes))
	}
	masks := side.masks
	side = nil // its memory can go
	workers, err := t.resolve(ctx, newSink)
	t.conclude(workers, masks)
	return facts, err
}

// eachBuffer has workers decode the buffers of a file, in any order. Visit
// gets the number of the worker. It returns the damage met and the error of
// the first buffer that is damaged; err is a failure to read the file.
func (t *etlTrace) eachBuffer(ctx context.Context, f *etlFile, want etl.Class, visit func(worker, buffer int, r *etl.Records)) (damage etl.Damage, bad, err error) {
	var (
		next  atomic.Int64
		mu    sync.Mutex
		badAt = math.MaxInt
		group sync.WaitGroup
	)
	for worker := range t.workers() {
		group.Go(func() {
			decoder := f.NewDecoder(want)
			for ctx.Err() == nil {
				buffer := int(next.Add(1) - 1)
				if buffer >= len(f.Buffers()) {
					break
				}
				records := decoder.Buffer(buffer)
				visit(worker, buffer, records)
				failed := records.Err()
				if failed == nil {
					continue
				}
				mu.Lock()
				switch {
				case !etl.IsDamage(failed):
					err = failed
					next.Store(math.MaxInt32) // no use to go on
				case buffer < badAt:
					bad, badAt = failed, buffer
				}
				mu.Unlock()
			}
			mu.Lock()
			damage.Add(&decoder.Damage)
			mu.Unlock()
		})
	}
	group.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return damage, bad, err
}

func (t *etlTrace) workers() int { return max(1, t.options.Workers) }
