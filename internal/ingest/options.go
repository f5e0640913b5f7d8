package ingest

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/addrspace"
	"github.com/spgo-tools/spgo/internal/ntfs"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Options says what to take from a trace and where to look for binaries. The
// zero value takes everything.
type Options struct {
	Processes []string // process or executable names; empty: all
	PIDs      []uint32 // process ids; empty: all
	Binaries  []string // names or paths of binaries; empty: all
	NoKernel  bool     // leave out the kernel and its modules
	Events    *EventMap
	Time      *TimeRange // nil: all

	WeighByPeriod bool // a sample counts its period instead of 1
	KeepBias      bool // branch stacks count 1 whatever triggered them
	// InsideOnly leaves out branches with one end outside the binary, and with
	// them what they tell about the code before and behind.
	InsideOnly bool

	SPEKinds  SPEKinds // what to make of Arm SPE records
	SPEPeriod uint64   // use one in so many of them; 0 means 1

	ImagePath []string  // folders that hold binaries; see package ntfs for those in disk images
	PathMap   []PathMap // places of the traced machine on this one

	Workers  int    // goroutines that decode; 0 means 1
	SpoolDir string // for inputs that cannot be read twice; empty: the system's
	// MaxMemory bounds, in bytes, what is kept of the changes of processes and
	// address spaces of an input; 0 means some gigabytes.
	MaxMemory int64

	// Progress is called with bytes done; it may come from several goroutines.
	Progress func(bytes int64)

	files *ntfs.FS // open disk images, while inputs are read
}

// mostNodes bounds the history of address spaces.
func (o *Options) mostNodes() int {
	if o.MaxMemory == 0 {
		return addrspace.MostNodes
	}
	return int(min(o.MaxMemory/addrspace.NodeBytes, addrspace.MostNodes))
}

// mostSideBand is how many bytes of events about processes and address spaces
// may be kept.
func (o *Options) mostSideBand() int64 {
	const most = 2 << 30
	if o.MaxMemory == 0 {
		return most
	}
	return min(o.MaxMemory, most)
}

// TimeRange is a span in seconds from the start of the trace. A To of 0 means
// until the end.
type TimeRange struct{ From, To float64 }

// ParseTimeRange reads "FROM,TO", either of which may be empty.
func ParseTimeRange(s string) (*TimeRange, bool) {
	from, to, ok := strings.Cut(s, ",")
	if !ok {
		return nil, false
	}
	r := &TimeRange{}
	if !parseSeconds(from, &r.From) || !parseSeconds(to, &r.To) || to != "" && r.To <= r.From {
		return nil, false
	}
	return r, true
}

func parseSeconds(s string, field *float64) bool {
	if s = strings.TrimSpace(s); s == "" {
		return true
	}
	v, err := strconv.ParseFloat(s, 64)
	*field = v
	return err == nil && v >= 0 && v < 1e12
}

// nanoseconds turns the range into time stamps of a clock in nanoseconds that
// starts at start.
func (r *TimeRange) nanoseconds(start uint64) (from, to uint64) { return r.stamps(start, 1e9) }

// stamps turns the range into time stamps of a clock that is at start when the
// trace begins and counts so many ticks a second.
func (r *TimeRange) stamps(start uint64, perSecond float64) (from, to uint64) {
	after := func(seconds float64) uint64 {
		if seconds >= math.MaxUint64/perSecond {
			return math.MaxUint64 // centuries: the conversion would not fit
		}
		return binfmt.SatAdd(start, uint64(seconds*perSecond))
	}
	from, to = after(r.From), math.MaxUint64
	if r.To > 0 {
		to = after(r.To)
	}
	return from, to
}

// PathMap replaces the beginning of a path of the traced machine.
type PathMap struct{ From, To string }

// ParsePathMap reads "FROM=TO".
func ParsePathMap(s string) (PathMap, bool) {
	from, to, ok := strings.Cut(s, "=")
	return PathMap{from, to}, ok && from != "" && to != ""
}

// localPath is where a path of the traced machine is on this machine, and
// whether the user said so.
func (o *Options) localPath(path string) (local string, mapped bool) {
	for _, m := range o.PathMap {
		if rest, ok := cutPathPrefix(path, m.From); ok {
			return filepath.Join(m.To, filepath.FromSlash(strings.ReplaceAll(rest, `\`, "/"))), true
		}
	}
	return path, false
}

// cutPathPrefix removes a prefix that ends at a separator.
func cutPathPrefix(path, prefix string) (rest string, ok bool) {
	trimmed := strings.TrimRight(prefix, `/\`)
	if !strings.HasPrefix(path, trimmed) {
		return "", false
	}
	rest = path[len(trimmed):]
	return rest, rest == "" || rest[0] == '/' || rest[0] == '\\'
}

// wantsBinary says whether the binary filter takes a binary.
func (o *Options) wantsBinary(b *sample.Binary) bool {
	return MatchName(o.Binaries, b.Name, b.Path)
}

// MatchName says whether any of the filters names one of the candidates, which
// are names or paths. Filters are compared without case; one with a separator
// must be the whole path or its end, one without is the name behind the last
// separator.
func MatchName(filters []string, candidates ...string) bool {
	if len(filters) == 0 {
		return true
	}
	for _, f := range filters {
		f = strings.ToLower(strings.ReplaceAll(f, `\`, "/"))
		for _, c := range candidates {
			c = strings.ToLower(strings.ReplaceAll(c, `\`, "/"))
			if c == "" {
				continue
			}
			if !strings.Contains(f, "/") {
				if sample.BaseName(c) == f {
					return true
				}
				continue
			}
			if c == f || strings.HasSuffix(c, "/"+strings.TrimLeft(f, "./")) {
				return true
			}
		}
	}
	return false
}
