package ingest

import (
	"fmt"
	"math/bits"

	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// SPEConfig is how an SPE event was set up.
type SPEConfig struct {
	Event       string
	Interval    uint64 // operations between samples; 0: not known
	MinInterval uint64 // the least that the processor recommends; 0: not known
	Settings    []SPESetting
}

// SPESetting is one setting of an event, in perf's words. A filter on events
// is one setting for each of its events.
type SPESetting struct {
	Name, Value string
	Needs       string // the version of the extension
}

// speConfig decodes the configuration words of an attribute.
type speConfig struct{ attr *perfdata.Attr }

// Bits of config.
const (
	speJitter       = 1 << 16
	speBranchFilter = 1 << 32
	speLoadFilter   = 1 << 33
	speStoreFilter  = 1 << 34
	speDiscard      = 1 << 35
	speSIMDFilter   = 1 << 39
	speFloatFilter  = 1 << 41
	speOpFilters    = speBranchFilter | speLoadFilter | speStoreFilter | speSIMDFilter | speFloatFilter
)

// Versions of the extension that settings need.
const (
	speBase    = "SPE"
	speInverse = "SPEv1p2"
	speEFT     = "FEAT_SPE_EFT"
	speFDS     = "FEAT_SPE_FDS"
)

var speSwitches = []struct {
	bit         int
	name, needs string
}{
	{0, "ts_enable", speBase}, {1, "pa_enable", speBase}, {2, "pct_enable", speBase}, {16, "jitter", speBase},
	{32, "branch_filter", speBase}, {33, "load_filter", speBase}, {34, "store_filter", speBase}, {35, "discard", speInverse},
	{36, "branch_filter_mask", speEFT}, {37, "load_filter_mask", speEFT}, {38, "store_filter_mask", speEFT},
	{39, "simd_filter", speEFT}, {40, "simd_filter_mask", speEFT}, {41, "float_filter", speEFT}, {42, "float_filter_mask", speEFT},
}

const speLatencyBits = 1<<12 - 1 // of config2

func (c *speConfig) has(bit uint64) bool { return c.attr.Config&bit != 0 }

// someOperations says whether records are of some kinds of operations only.
func (c *speConfig) someOperations() bool { return c.has(speOpFilters) }

// branches says whether branches are among the operations. Filters whose mask
// is set must all hold, and a branch is none of the other kinds.
func (c *speConfig) branches() bool {
	for _, f := range []struct{ filter, mask uint64 }{{speLoadFilter, 1 << 37}, {speStoreFilter, 1 << 38}, {speSIMDFilter, 1 << 40}, {speFloatFilter, 1 << 42}} {
		if c.has(f.filter) && c.has(f.mask) {
			return false
		}
	}
	return !c.has(speOpFilters) || c.has(speBranchFilter)
}

func (c *speConfig) eventFilter() spe.Events   { return spe.Events(c.attr.Config1) }
func (c *speConfig) inverseFilter() spe.Events { return spe.Events(c.attr.Config3) }
func (c *speConfig) minLatency() uint64        { return c.attr.Config2 & speLatencyBits }

// describe lists all settings.
func (c *speConfig) describe(t *speTrace) SPEConfig {
	result := SPEConfig{Event: c.attr.String(), Interval: c.attr.SamplePeriod, Settings: []SPESetting{}}
	for _, cpu := range t.cpus {
		if cpu.pmu == c.attr.Type {
			result.MinInterval = max(result.MinInterval, cpu.minInterval)
		}
	}
	add := func(name, value, needs string) {
		result.Settings = append(result.Settings, SPESetting{name, value, needs})
	}
	for _, s := range speSwitches {
		if c.has(1 << s.bit) {
			add(s.name, "1", s.needs)
		}
	}
	for rest := c.eventFilter(); rest != 0; rest &= rest - 1 {
		n := bits.TrailingZeros64(uint64(rest))
		add("event_filter", eventName(n), spe.Event(n).Filter.String())
	}
	for rest := c.inverseFilter(); rest != 0; rest &= rest - 1 {
		n := bits.TrailingZeros64(uint64(rest))
		needs := spe.Event(n).Filter
		if needs == spe.Version1p0 || needs == spe.Version1p1 {
			needs = spe.Version1p2 // the inverse filter itself
		}
		add("inv_event_filter", eventName(n), needs.String())
	}
	if n := c.minLatency(); n > 0 {
		add("min_latency", fmt.Sprint(n), speBase)
	}
	if n := c.attr.Config4; n > 0 {
		add("inv_data_src_filter", fmt.Sprintf("%#x", n), speFDS)
	}
	return result
}

// eventName is the name of an event and its number.
func eventName(n int) string {
	if name := spe.Event(n).Name; name != "" {
		return fmt.Sprintf("%s (bit %d)", name, n)
	}
	return fmt.Sprintf("bit %d", n)
}
