package program

import (
	"cmp"
	"slices"
)

// Union returns the ranges sorted, with those that touch or overlap joined and
// empty ones left out.
func Union(list []Range) []Range {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	var out []Range
	for _, r := range sorted {
		if n := len(out); n > 0 && r.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, r.End)
		} else if r.Start < r.End {
			out = append(out, r)
		}
	}
	return out
}

// Intersect returns what two lists of ranges have in common, as Union does.
func Intersect(a, b []Range) []Range {
	a, b = Union(a), Union(b)
	var out []Range
	for i, k := 0, 0; i < len(a) && k < len(b); {
		if r := (Range{max(a[i].Start, b[k].Start), min(a[i].End, b[k].End)}); r.Start < r.End {
			out = append(out, r)
		}
		if a[i].End < b[k].End {
			i++
		} else {
			k++
		}
	}
	return Union(out)
}

// Containing returns the index of the range with the byte at rva, -1 if there
// is none. The ranges are sorted and disjoint.
func Containing(list []Range, rva uint32) int {
	i, found := slices.BinarySearchFunc(list, rva, func(r Range, rva uint32) int { return cmp.Compare(r.Start, rva) })
	if !found {
		i--
	}
	if i < 0 || !list[i].Contains(rva) {
		return -1
	}
	return i
}
