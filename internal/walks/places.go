package walks

// places remembers where the nodes of a path are on it.
type places struct {
	at  []int32 // per node, 1 + place; 0 if it is not on the path
	set []int32 // nodes to clear
}

func (p *places) get(v int32) (place int, ok bool) { return int(p.at[v]) - 1, p.at[v] > 0 }

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
