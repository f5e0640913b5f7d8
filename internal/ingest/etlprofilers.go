package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// Optimisation tiers of methods.
const (
	tierUnknown = 0
	tierMinOpts = 1
	tierQuick   = 3
)

// profilerEffect is a way in which a profiler or debugger changes the code of
// managed methods, as far as a recording shows it. What was asked of the
// runtime is not recorded.
type profilerEffect struct {
	code   diag.Code
	what   string // what was seen of methods
	shows  func(m *jitMethod) bool
	always bool // it counts only if all methods with a known tier show it
	cause  string
}

var profilerEffects = []profilerEffect{
	{diag.RejectedImages, "were compiled at run time because a profiler rejected their precompiled code (method flag 0x20)",
		func(m *jitMethod) bool { return m.flags&etl.CLRMethodNGenRejected != 0 }, false,
		"COR_PRF_USE_PROFILE_IMAGES, COR_PRF_MONITOR_ENTERLEAVE and COR_PRF_MONITOR_CODE_TRANSITIONS do that; with COR_PRF_DISABLE_INLINING or COR_PRF_DISABLE_OPTIMIZATIONS the code compiled instead is not optimised either."},
	{diag.RejectedReadyToRun, "were compiled at run time because their ReadyToRun code was rejected (method flag 0x40)",
		func(m *jitMethod) bool { return m.flags&etl.CLRMethodR2RRejected != 0 }, false,
		"COR_PRF_USE_PROFILE_IMAGES, COR_PRF_MONITOR_ENTERLEAVE and COR_PRF_MONITOR_CODE_TRANSITIONS do that, and so does a profiler that rewrites methods."},
	{diag.ReJITCode, "were compiled again with a body that a profiler asked for (ReJIT id other than 0)",
		func(m *jitMethod) bool { return m.rejit != 0 }, false,
		"A profiler with COR_PRF_ENABLE_REJIT replaced the methods; it can switch off inlining and optimisation for each, as COR_PRF_DISABLE_INLINING and COR_PRF_DISABLE_OPTIMIZATIONS do for all."},
	{diag.UnoptimizedCode, "are all of the lowest optimisation tier",
		func(m *jitMethod) bool { return m.tier() == tierMinOpts || m.tier() == tierQuick }, true,
		"COR_PRF_DISABLE_OPTIMIZATIONS does that, and COR_PRF_DISABLE_INLINING shows alike; so do a debugger, a debug build, and a program that ran too short to be optimised."},
}

// reportProfilers warns of managed code that is not what a release runs, in the
// processes that are asked for. Samples are by method.
func (t *etlTrace) reportProfilers(samples []uint64) {
	type sum struct{ methods, samples, others uint64 }
	for _, effect := range profilerEffects {
		sums := map[string]*sum{} // by process
		for i := range t.methods {
			m := &t.methods[i]
			name, asked := t.processOf(m)
			if !asked {
				continue
			}
			s := sums[name]
			if s == nil {
				s = &sum{}
				sums[name] = s
			}
			switch {
			case effect.shows(m):
				s.methods++
				s.samples += samples[i]
			case m.tier() != tierUnknown:
				s.others++
			}
		}
		var list []string
		total := uint64(0)
		for _, name := range sortedNames(sums) {
			if s := sums[name]; s.methods > 0 && (s.others == 0 || !effect.always) {
				list = append(list, fmt.Sprintf("%d methods of %s with %d samples", s.methods, name, s.samples))
				total += s.methods
			}
		}
		if len(list) > 0 {
			w := diag.New(effect.code, "%s %s", strings.Join(list, ", "), effect.what).Because("%s", effect.cause)
			w.Count = total
			t.main.warn(w)
		}
	}
}

// processOf is the name of the process of a method and whether the process is
// asked for.
func (t *etlTrace) processOf(m *jitMethod) (name string, asked bool) {
	o := t.options
	asked = len(o.PIDs) == 0 || slices.Contains(o.PIDs, m.pid)
	life, _ := t.lives.at(m.pid, m.from)
	if life == nil {
		return fmt.Sprintf("process %d", m.pid), asked && len(o.Processes) == 0
	}
	p := life.thing.index
	return fmt.Sprintf("%s (%d)", t.processes[p].shown(), m.pid), asked && t.selected[p]
}
