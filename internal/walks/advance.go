package walks

import "slices"

// advance makes the walks of a layer out of its units. A path is the list of
// its arcs, from the hub to the hub, so that it has one token less.
//
// All paths start at once and step in turn. A path takes the way out as soon
// as it has aim tokens, and before only where there is no other way on. So
// the paths that started first leave first, as chains of one length do, and
// none uses up what the others need: on a ring or a line that was seen
// through windows of one length, about the windows come out again.
//
// Paths that cannot leave within maxLen tokens are left to lower layers.
func (f *folder) advance(aim int) [][]int32 {
	g := f.g
	var active, done [][]int32
	for _, k := range f.arcs {
		if g.from[k] == g.hub {
			for ; f.units[k] > 0; f.units[k]-- {
				active = append(active, []int32{k})
			}
		}
	}
	for len(active) > 0 {
		still := active[:0]
		for _, path := range active {
			v := g.to[path[len(path)-1]]
			exit := g.exit[v]
			open := exit >= 0 && f.units[exit] > 0
			next := int32(-1)
			if !open || len(path) < aim {
				next = f.rotor.turn(g, v, f.units)
			}
			switch {
			case next >= 0 && len(path) < f.maxLen:
				f.units[next]--
				still = append(still, append(path, next))
			case next >= 0:
				if path = f.leave(path); path != nil {
					done = append(done, path)
				}
			case open:
				f.units[exit]--
				done = append(done, append(path, exit))
			default:
				// Dead end: no unit of the last arc gets to the hub.
				f.units[path[len(path)-1]] = 0
				if path = path[:len(path)-1]; len(path) > 0 {
					still = append(still, path)
				}
			}
		}
		clear(active[len(still):])
		active = still
	}
	return done
}

// leave leads a path that has become too long to the hub: without its cycles
// by the shortest way, or if that is too long by the shortest way from its
// start. It returns nil, having given back the units, if there is no way or if
// the path is not taken.
func (f *folder) leave(path []int32) []int32 {
	g := f.g
	path = f.unloop(path)
	way := f.shortest(g.to[path[len(path)-1]], g.hub)
	if way == nil || len(path)+len(way)-1 > f.maxLen {
		f.giveBack(path[1:])
		path = path[:1]
		way = f.shortest(g.to[path[0]], g.hub)
		if way == nil || len(way) > f.maxLen && f.times > 1 {
			return nil
		}
	}
	for _, k := range way {
		f.units[k]--
	}
	return f.unloop(slices.Concat(path, way))
}

// unloop gives back the cycles of a path.
func (f *folder) unloop(path []int32) []int32 {
	g := f.g
	defer f.onPath.clear()
	kept := path[:0]
	for i, k := range path {
		v := g.to[k]
		place, ok := f.onPath.get(v)
		if !ok {
			kept = append(kept, k)
			f.onPath.put(v, len(kept))
			continue
		}
		f.giveBack(path[i : i+1])
		for _, k := range kept[place:] {
			f.onPath.drop(g.to[k])
		}
		f.giveBack(kept[place:])
		kept = kept[:place]
	}
	return kept
}

func (f *folder) giveBack(arcs []int32) {
	for _, k := range arcs {
		f.units[k]++
		f.rotor.list(f.g, k)
	}
}

// shortest returns the arcs of a shortest way from one node to another over
// units that are left; nil if there is none or the search takes too long.
func (f *folder) shortest(from, to int32) []int32 {
	g := f.g
	queue := append(f.queue[:0], from)
	defer func() {
		for _, v := range queue {
			f.via[v] = 0
		}
		f.queue = queue
	}()
	for i := 0; i < len(queue) && f.search > 0; i++ {
		v := queue[i]
		for k := g.out[v]; k < g.out[v+1]; k++ {
			f.search--
			w := g.to[k]
			if f.units[k] == 0 || f.via[w] != 0 || w == from {
				continue
			}
			f.via[w] = 1 + k
			queue = append(queue, w)
			if w == to {
				var way []int32
				for w != from {
					k := f.via[w] - 1
					way = append(way, k)
					w = g.from[k]
				}
				slices.Reverse(way)
				return way
			}
		}
	}
	return nil
}
