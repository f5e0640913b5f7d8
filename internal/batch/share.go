package batch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/ingest"
)

// Share is one of several parts of a list of inputs.
type Share struct {
	Index int // from 1
	Count int
}

// ParseShare reads "I/N", or "auto/N", where the index counts from 0 in a
// variable of the environment, which job is the value of.
func ParseShare(s, job string) (Share, bool) {
	index, count, ok := strings.Cut(s, "/")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 {
		return Share{}, false
	}
	i, err := strconv.Atoi(index)
	if strings.EqualFold(index, "auto") {
		i, err = strconv.Atoi(job)
		i++
	}
	return Share{i, n}, err == nil && i >= 1 && i <= n
}

// Of returns the units of the share, in their order. Units are dealt out in the
// order of their names, so that the order of the list has no effect, and shares
// differ by one unit at most.
func (s Share) Of(units []*ingest.Unit) []*ingest.Unit {
	byName := slices.Clone(units)
	slices.SortStableFunc(byName, func(a, b *ingest.Unit) int { return cmp.Compare(a.Key(), b.Key()) })
	mine := map[*ingest.Unit]bool{}
	for i, u := range byName {
		mine[u] = i%s.Count == s.Index-1
	}
	var part []*ingest.Unit
	for _, u := range units {
		if mine[u] {
			part = append(part, u)
		}
	}
	return part
}
