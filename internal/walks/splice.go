package walks

// splice lengthens a path of the layer, which is in f.path, by cycles of the units that are left,
// while it stays within maxLen tokens. A cycle costs the fewest bytes in the
// greatest multiplicity that it can have.
func (f *folder) splice(path []int32) []int32 {
	l := f.live
	for i := 0; i < len(path)-1; i++ {
		v := l.to[path[i]]
		for {
			room := f.maxLen - (len(path) - 1)
			if room <= 0 || room < int(f.need[v]) {
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
			f.tail = append(f.tail[:0], path[i+1:]...)
			path = path[:i+1]
			for range n {
				path = append(path, cycle...)
			}
			path = append(path, f.tail...)
			f.path = path
			for _, k := range cycle {
				f.units[k] -= n
			}
		}
	}
	return path
}

// cycle looks for a simple cycle through v among the units that are left. It
// goes where the rotor points and forgets the cycles on the way that do not
// contain v, which leads back to v soon if anything does.
func (f *folder) cycle(v int32) []int32 {
	l := f.live
	defer f.onPath.clear()
	f.onPath.put(v, 0)
	path := f.cycling[:0]
	defer func() { f.cycling = path }()
	at := v
	for range 4 * f.maxLen {
		k := f.rotor.turn(l, at, f.units)
		if k < 0 || f.tries == 0 {
			return nil
		}
		f.tries--
		path = append(path, k)
		at = l.to[k]
		if at == v {
			return path
		}
		place, ok := f.onPath.get(at)
		if !ok {
			f.onPath.put(at, len(path))
			continue
		}
		for _, k := range path[place : len(path)-1] {
			f.onPath.drop(l.to[k])
		}
		path = path[:place]
	}
	return nil
}

// setNeed notes that only a path with room for n more tokens need try v.
func (f *folder) setNeed(v int32, n int) {
	f.need[v] = int32(n)
	f.needSet = append(f.needSet, v)
}
