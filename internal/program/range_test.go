package program

import (
	"slices"
	"testing"
)

func TestRanges(t *testing.T) {
	list := []Range{{10, 20}, {5, 7}, {20, 25}, {7, 7}, {6, 8}, {12, 14}}
	union := []Range{{5, 8}, {10, 25}}
	if got := Union(list); !slices.Equal(got, union) {
		t.Errorf("Union = %v, want %v", got, union)
	}
	if got, want := Intersect(list, []Range{{7, 11}, {24, 99}, {0, 6}}), []Range{{5, 6}, {7, 8}, {10, 11}, {24, 25}}; !slices.Equal(got, want) {
		t.Errorf("Intersect = %v, want %v", got, want)
	}
	for rva, want := range map[uint32]int{4: -1, 5: 0, 7: 0, 8: -1, 10: 1, 24: 1, 25: -1} {
		if got := Containing(union, rva); got != want {
			t.Errorf("Containing(%d) = %d, want %d", rva, got, want)
		}
	}
	if Containing(nil, 1) != -1 || Intersect(union, nil) != nil {
		t.Error("ranges of nothing")
	}
}
