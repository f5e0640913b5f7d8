package export

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestOthers holds what compilers are to see of the targets that are not known.
func TestOthers(t *testing.T) {
	for _, c := range []struct {
		name   string
		known  []uint64
		others uint64
		pieces int
	}{
		{"none", []uint64{600, 300, 90}, 0, 0},
		{"few", []uint64{600, 300, 90}, 10, 1},
		{"as many as one known", []uint64{600, 300, 90}, 180, 3},
		{"many rare ones", []uint64{513, 502, 494}, 17782, 32},
		{"a rare known one", []uint64{600, 1}, 1 << 40, 32},
		{"no known one", nil, 100, 0},
	} {
		x := &line{calls: make(map[string]uint64)}
		known := uint64(0)
		for k, n := range c.known {
			x.calls["f"+strconv.Itoa(k)] = n
			known += n
		}
		x.addOthers(c.others)
		sum, pieces := uint64(0), 0
		for name, n := range x.calls {
			sum += n
			if !strings.HasPrefix(name, "[other.") {
				continue
			}
			pieces++
			if least := c.known[len(c.known)-1]; n == 0 || n >= least && n*20 >= known+c.others {
				t.Errorf("%s: a piece of %d", c.name, n)
			}
		}
		if pieces != c.pieces || c.known != nil && sum != known+c.others {
			t.Errorf("%s: %d pieces, sum %d", c.name, pieces, sum)
		}
	}
}

// TestOtherTargets exports calls through pointers of which the database knows
// half: the other half is in the profile, too.
func TestOtherTargets(t *testing.T) {
	in := sampledProgram(t, "shapes")
	whole, _ := written(t, LLVM, in)
	in.Profile = copied(t, in.Profile)
	for m := range in.Profile.Modules {
		for _, f := range in.Profile.Modules[m].Functions {
			for _, b := range f.Blocks {
				for s := range b.Indirect {
					b.Indirect[s].Hits *= 2
				}
			}
		}
	}
	half, _ := written(t, LLVM, in)
	other := regexp.MustCompile(`\[other\.[0-9]+\]:([0-9]+)`)
	if found := other.FindAll(whole, -1); found != nil {
		t.Errorf("all targets are known, but there is %s", found)
	}
	calls, others := uint64(0), uint64(0)
	for _, text := range strings.Split(string(half), "\n") {
		if !strings.Contains(text, "[other.") {
			continue
		}
		for _, f := range strings.Fields(text)[2:] {
			at := strings.LastIndex(f, ":")
			n, err := strconv.ParseUint(f[at+1:], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if calls += n; strings.HasPrefix(f, "[other.") {
				others += n
			}
		}
	}
	if share := float64(others) / float64(calls); calls == 0 || share < 0.49 || share > 0.51 {
		t.Errorf("%d of %d calls go to other functions; want half of them", others, calls)
	}
}
