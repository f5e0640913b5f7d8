package walks

import "slices"

// places remembers where on a path its nodes are.
type places struct {
	at  []int32 // per node, 1 + place; 0 if it is not on the path
	set []int32
}

func (p *places) get(v int32) (place int, ok bool) {
	return int(p.at[v]) - 1, p.at[v] > 0
}

func (p *places) put(v int32, place int) {
	p.at[v] = int32(place) + 1
	p.set = append(p.set, v)
}

func (p *places) drop(v int32) { p.at[v] = 0 }

func (p *places) clear() {
	for _, v := range p.set {
		p.at[v] = 0
	}
	p.set = p.set[:0]
}

// shortest returns the arcs of a shortest way from one node to another over
// arcs with units left, nil if there is none. It does not pass the hub.
func (f *folder) shortest(from, to int32) []int32 {
	g := f.g
	queue := f.queue[:0]
	defer func() {
		for _, v := range queue {
			f.via[v] = 0
		}
		f.queue = queue
	}()
	queue = append(queue, from)
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		if v == g.hub {
			continue
		}
		for k := g.out[v]; k < g.out[v+1]; k++ {
			w := g.to[k]
			if f.units[k] == 0 || f.via[w] != 0 {
				continue
			}
			f.via[w] = k + 1
			queue = append(queue, w)
			if w != to {
				continue
			}
			var way []int32
			for w := to; len(way) == 0 || w != from; w = g.from[f.via[w]-1] {
				way = append(way, f.via[w]-1)
			}
			slices.Reverse(way)
			return way
		}
	}
	return nil
}
