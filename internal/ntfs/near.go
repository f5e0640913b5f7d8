package ntfs

import (
	"cmp"
	"slices"
	"strings"
)

const (
	nearShown   = 3
	nearLooked  = 10000 // names that are compared at most
	nearLongest = 64    // letters of a name that is compared
)

// near returns the names of the folder that are most like name: few letters
// differ, or one begins with the other.
func (f *folder) near(name string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var list []candidate
	want := []rune(key(name))
	for i := range f.entries[:min(len(f.entries), nearLooked)] {
		e := &f.entries[i]
		if e.space == spaceDOS || len(want) > nearLongest || len(e.name) > nearLongest {
			continue
		}
		have := []rune(key(e.name))
		d := distance(want, have)
		if d <= max(len(want)/3, 1) || strings.HasPrefix(string(have), string(want)) || strings.HasPrefix(string(want), string(have)) {
			list = append(list, candidate{e.name, d})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, c := range list[:min(len(list), nearShown)] {
		names = append(names, c.name)
	}
	return names
}

// distance is how many letters have to be inserted, deleted or replaced to turn
// a into b.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1) // distances of the part of a so far to the parts of b
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			replaced := diagonal
			if x != y {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
