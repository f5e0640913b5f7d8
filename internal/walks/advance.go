package walks

import "slices"

// step is an arc of a path and the step before it, -1 if it is the first. Paths
// that grow by turns are kept as chains of steps in one list: an allocation for
// each would take several times as much memory.
type step struct{ arc, before int32 }

// path is a path that goes on.
type path struct {
	last   int32 // step
	length int32
}

// advance makes the walks of a layer out of its units and returns the last
// steps of their paths. A path is the list of its arcs, from the hub to the hub,
// so that it has one token less.
//
// All paths start at once and step in turn. A path takes the way out as soon
// as it has aim tokens, and before only where there is no other way on. So
// the paths that started first leave first, as chains of one length do, and
// none uses up what the others need: on a ring or a line that was seen
// through windows of one length, about the windows come out again.
//
// Paths that cannot leave within maxLen tokens are left to lower layers.
func (f *folder) advance(aim int) (done []int32) {
	l := f.live
	starts := 0
	for k, n := range f.units {
		if l.from[k] == l.hub {
			starts += int(n)
		}
	}
	active := make([]path, 0, starts)
	for _, k := range l.byFlow {
		if l.from[k] == l.hub {
			for ; f.units[k] > 0; f.units[k]-- {
				active = append(active, path{f.step(k, -1), 1})
			}
		}
	}
	for len(active) > 0 {
		still := active[:0]
		for _, p := range active {
			last := f.steps[p.last]
			v := l.to[last.arc]
			exit := l.exit(v)
			open := exit >= 0 && f.units[exit] > 0
			next := int32(-1)
			if !open || int(p.length) < aim {
				next = f.rotor.turn(l, v, f.units)
			}
			switch {
			case next >= 0 && int(p.length) < f.maxLen:
				f.units[next]--
				still = append(still, path{f.step(next, p.last), p.length + 1})
			case next >= 0:
				if way := f.leave(f.unwind(p.last)); way != nil {
					end := int32(-1)
					for _, k := range way {
						end = f.step(k, end)
					}
					done = append(done, end)
				}
			case open:
				f.units[exit]--
				done = append(done, f.step(exit, p.last))
			default:
				// Dead end: no unit of the last arc gets to the hub.
				f.units[last.arc] = 0
				if last.before >= 0 {
					still = append(still, path{last.before, p.length - 1})
				}
			}
		}
		active = still
	}
	return done
}

// step adds a step.
func (f *folder) step(arc, before int32) int32 {
	f.steps = append(f.steps, step{arc, before})
	return int32(len(f.steps) - 1)
}

// unwind returns the arcs of the path that ends with a step, in memory that is
// used again.
func (f *folder) unwind(last int32) []int32 {
	path := f.path[:0]
	for i := last; i >= 0; i = f.steps[i].before {
		path = append(path, f.steps[i].arc)
	}
	slices.Reverse(path)
	f.path = path
	return path
}

// leave leads a path that has become too long to the hub: without its cycles
// by the shortest way, or if that is too long by the shortest way from its
// start. It returns nil, having given back the units, if there is no way or if
// the path is not taken.
func (f *folder) leave(path []int32) []int32 {
	l := f.live
	path = f.unloop(path)
	way := f.shortest(l.to[path[len(path)-1]], l.hub)
	if way == nil || len(path)+len(way)-1 > f.maxLen {
		f.giveBack(path[1:])
		path = path[:1]
		way = f.shortest(l.to[path[0]], l.hub)
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
	l := f.live
	defer f.onPath.clear()
	kept := path[:0]
	for i, k := range path {
		v := l.to[k]
		place, ok := f.onPath.get(v)
		if !ok {
			kept = append(kept, k)
			f.onPath.put(v, len(kept))
			continue
		}
		f.giveBack(path[i : i+1])
		for _, k := range kept[place:] {
			f.onPath.drop(l.to[k])
		}
		f.giveBack(kept[place:])
		kept = kept[:place]
	}
	return kept
}

func (f *folder) giveBack(arcs []int32) {
	for _, k := range arcs {
		f.units[k]++
		f.rotor.list(f.live, k)
	}
}

// shortest returns the arcs of a shortest way from one node to another over
// units that are left; nil if there is none or the search takes too long.
func (f *folder) shortest(from, to int32) []int32 {
	l := f.live
	queue := append(f.queue[:0], from)
	defer func() {
		for _, v := range queue {
			f.via[v] = 0
		}
		f.queue = queue
	}()
	for i := 0; i < len(queue) && f.search > 0; i++ {
		v := queue[i]
		for k := l.out[v]; k < l.out[v+1]; k++ {
			f.search--
			w := l.to[k]
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
					w = l.from[k]
				}
				slices.Reverse(way)
				return way
			}
		}
	}
	return nil
}
