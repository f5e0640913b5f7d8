package walks

import "slices"

// advance makes the walks of a layer out of its units. A path is the list of
// its arcs, from the hub to the hub, so that it has one token less.
//
// All paths start at once and step in turn. A path takes the way out as soon
// as it has aim tokens, and before only where there is no other way on. So
// the paths that started first leave first, as chains of one length do, and
// none uses up what the others need: on a ring or a line that was seen
// through windows of a fixed length the windows come out again.
//
// If choosy is set, paths that cannot leave within maxLen tokens are not
// taken; lower layers have another chance.
func (f *folder) advance(aim int, choosy bool) [][]int32 {
	g := f.g
	choosy = choosy && f.times > 1
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
			exit := g.exit(v)
			open := exit >= 0 && f.units[exit] > 0
			next := int32(-1)
			if !open || len(path) < aim {
				next = f.rotor.turn(g, v, f.units)
			}
			switch {
			case next >= 0 && len(path) >= f.maxLen:
				if path = f.leave(path, choosy); path != nil {
					done = append(done, path)
				}
			case next >= 0:
				f.units[next]--
				still = append(still, append(path, next))
			case open:
				f.units[exit]--
				done = append(done, append(path, exit))
			default:
				// Dead end: nothing of the last arc gets to the hub.
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
// by the shortest way, or else by the shortest way from its start. It returns
// nil, having given back the units, if there is no way or if choosy is set and
// the path stays too long.
func (f *folder) leave(path []int32, choosy bool) []int32 {
	g := f.g
	path = f.unloop(path)
	way := f.shortest(g.to[path[len(path)-1]], g.hub)
	if len(path)+len(way)-1 > f.maxLen {
		f.giveBack(path[1:])
		path = path[:1]
		way = f.shortest(g.to[path[0]], g.hub)
	}
	if way == nil || choosy && len(way) > f.maxLen {
		f.giveBack(path[1:])
		return nil
	}
	for _, k := range way {
		f.units[k]--
	}
	return f.unloop(slices.Concat(path, way))
}

// unloop gives back the cycles of a path.
func (f *folder) unloop(path []int32) []int32 {
	g := f.g
	kept := path[:0]
	for i, k := range path {
		if at, ok := f.onPath.get(g.to[k]); ok {
			f.giveBack(path[i : i+1])
			for _, l := range kept[at:] {
				f.onPath.drop(g.to[l])
			}
			f.giveBack(kept[at:])
			kept = kept[:at]
			continue
		}
		kept = append(kept, k)
		f.onPath.put(g.to[k], len(kept))
	}
	f.onPath.clear()
	return kept
}

func (f *folder) giveBack(arcs []int32) {
	for _, k := range arcs {
		f.units[k]++
		f.rotor.list(f.g, k)
	}
}
