package profile

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// byHits orders targets by descending hits, then by id.
func byHits(a, b spd.Target) int {
	return cmp.Or(-cmp.Compare(a.Hits, b.Hits), cmp.Compare(a.ID, b.ID))
}

// pathStep is an edge on a path: the index of a block and one of its edges.
type pathStep struct{ block, edge int }

// widestPath finds the path from entry to exit over live edges whose least
// count is greatest; of those the shortest; of those the one with the lowest
// blocks and edges, compared from the entry on. It is empty if the entry is the
// exit and nil if there is none.
func widestPath(f *spd.Function) []pathStep {
	n := len(f.Blocks)
	if n == 0 {
		return nil
	}
	width, ok := pathWidth(f)
	if !ok {
		return nil
	}
	distance := distances(f, width)
	path := []pathStep{}
	for k := 0; k != n-1; {
		best := -1
		edges := f.Blocks[k].Edges
		for e := range edges {
			if !wide(&edges[e], width) || distance[edges[e].To-1] != distance[k]-1 {
				continue
			}
			if best < 0 || edges[e].To < edges[best].To {
				best = e
			}
		}
		path = append(path, pathStep{k, best})
		k = int(edges[best].To - 1)
	}
	return path
}

func wide(e *spd.Edge, width uint64) bool { return e.Flags&spd.EdgeDead == 0 && e.Count >= width }

// pathWidth is the greatest number such that a path of edges of at least that
// count leads from the entry to the exit.
func pathWidth(f *spd.Function) (uint64, bool) {
	widths := make([]uint64, len(f.Blocks))
	done := make([]bool, len(f.Blocks))
	front := &widthHeap{{0, math.MaxUint64}}
	for front.Len() > 0 {
		at := heap.Pop(front).(blockWidth)
		if done[at.block] {
			continue
		}
		done[at.block] = true
		if at.block == len(f.Blocks)-1 {
			return at.width, true
		}
		for _, e := range f.Blocks[at.block].Edges {
			to, width := int(e.To-1), min(at.width, e.Count)
			if e.Flags&spd.EdgeDead == 0 && !done[to] && (width > widths[to] || width == 0) {
				widths[to] = width
				heap.Push(front, blockWidth{to, width})
			}
		}
	}
	return 0, false
}

// blockWidth is a block that a path of some width leads to.
type blockWidth struct {
	block int
	width uint64
}

type widthHeap []blockWidth

func (h widthHeap) Len() int           { return len(h) }
func (h widthHeap) Less(i, j int) bool { return h[i].width > h[j].width }
func (h widthHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *widthHeap) Push(x any)        { *h = append(*h, x.(blockWidth)) }
func (h *widthHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// distances is the number of edges of at least a width from each block to the
// exit, or -1.
func distances(f *spd.Function, width uint64) []int {
	n := len(f.Blocks)
	sources := make([][]int32, n)
	for k := range f.Blocks {
		for e := range f.Blocks[k].Edges {
			if edge := &f.Blocks[k].Edges[e]; wide(edge, width) {
				sources[edge.To-1] = append(sources[edge.To-1], int32(k))
			}
		}
	}
	distance := slices.Repeat([]int{-1}, n)
	distance[n-1] = 0
	queue := []int{n - 1}
	for len(queue) > 0 {
		k := queue[0]
		queue = queue[1:]
		for _, s := range sources[k] {
			if distance[s] < 0 {
				distance[s] = distance[k] + 1
				queue = append(queue, int(s))
			}
		}
	}
	return distance
}

// raise adds to the counts along a path.
func raise(f *spd.Function, path []pathStep, by uint64) {
	for _, s := range path {
		b := &f.Blocks[s.block]
		b.Count = binfmt.SatAdd(b.Count, by)
		b.Edges[s.edge].Count = binfmt.SatAdd(b.Edges[s.edge].Count, by)
	}
	exit := &f.Blocks[len(f.Blocks)-1]
	exit.Count = binfmt.SatAdd(exit.Count, by)
}
