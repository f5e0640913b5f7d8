package walks

// splice lengthens a path of the layer by cycles of the units that are left,
// while it stays within maxLen tokens. A cycle costs least bytes in the
// greatest multiplicity that it can have.
func (f *folder) splice(path []int32) []int32 {
	g := f.g
	for i := 0; i < len(path)-1; i++ {
		v := g.to[path[i]]
		for {
			room := f.maxLen - (len(path) - 1)
			if room < int(f.need[v]) || room <= 0 {
				break
			}
			cycle := f.cycle(v)
			if cycle == nil {
				f.setNeed(v, f.maxLen+1)
				break
			}
			if len(cycle) > room {
				f.setNeed(v, len(cycle))
				break
			}
			n := uint64(room / len(cycle))
			for _, k := range cycle {
				n = min(n, f.units[k])
			}
			longer := make([]int32, 0, len(path)+int(n)*len(cycle))
			longer = append(longer, path[:i+1]...)
			for range n {
				longer = append(longer, cycle...)
			}
			path = append(longer, path[i+1:]...)
			for _, k := range cycle {
				f.units[k] -= n
			}
		}
	}
	return path
}

// cycle looks for a simple cycle through v among the units left. It follows
// the rotor and forgets the cycles that do not lead through v, which comes
// back to v soon if anything does.
func (f *folder) cycle(v int32) []int32 {
	g := f.g
	defer f.onPath.clear()
	f.onPath.put(v, 0)
	path := f.path[:0]
	at := v
	for range 4 * f.maxLen {
		k := f.rotor.turn(g, at, f.units)
		if k < 0 {
			return nil
		}
		path = append(path, k)
		f.path = path
		at = g.to[k]
		place, ok := f.onPath.get(at)
		switch {
		case at == v:
			return path
		case ok:
			for _, k := range path[place : len(path)-1] {
				f.onPath.drop(g.to[k])
			}
			path = path[:place]
		default:
			f.onPath.put(at, len(path))
		}
	}
	return nil
}

// setNeed notes that only paths with room for n more tokens need to try v.
func (f *folder) setNeed(v int32, n int) {
	f.need[v] = int32(n)
	f.needSet = append(f.needSet, v)
}
