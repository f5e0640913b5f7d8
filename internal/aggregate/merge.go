package aggregate

import (
	"container/heap"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// merged gives the items of several sources as one sum.
type merged struct {
	heads sources
	item  item
}

// source is one of the sources with the item that it is at.
type source struct {
	from itemSource
	at   *item
}

// sources is a heap, the least item first.
type sources []source

func (s sources) Len() int           { return len(s) }
func (s sources) Less(i, j int) bool { return compareItems(s[i].at, s[j].at) < 0 }
func (s sources) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sources) Push(x any)        { *s = append(*s, x.(source)) }
func (s *sources) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}

// mergeItems returns the sum of sources.
func mergeItems(from []itemSource) (*merged, error) {
	m := &merged{}
	for _, f := range from {
		at, err := f.next()
		if err != nil {
			return nil, err
		}
		if at != nil {
			m.heads = append(m.heads, source{f, at})
		}
	}
	heap.Init(&m.heads)
	return m, nil
}

// next implements itemSource.
func (m *merged) next() (*item, error) {
	if len(m.heads) == 0 {
		return nil, nil
	}
	m.item = *m.heads[0].at
	m.item.n = 0
	for len(m.heads) > 0 && compareItems(m.heads[0].at, &m.item) == 0 {
		m.item.n = binfmt.SatAdd(m.item.n, m.heads[0].at.n)
		at, err := m.heads[0].from.next()
		switch {
		case err != nil:
			return nil, err
		case at == nil:
			heap.Pop(&m.heads)
		default:
			m.heads[0].at = at
			heap.Fix(&m.heads, 0)
		}
	}
	return &m.item, nil
}
