package cfg

// normalize gives the graph one entry without predecessors and one exit, the
// last block, and numbers the blocks anew. Entries are the blocks that are
// entered from outside.
func (g *Graph) normalize(entries []int) {
	g.escape()
	looped := len(entries) > 1 // or an edge leads to the first block
	var exits []int
	for k := range g.Blocks {
		for _, e := range g.Blocks[k].Edges {
			looped = looped || e.To == 0
			if e.To == exit && (len(exits) == 0 || exits[len(exits)-1] != k) {
				exits = append(exits, k)
			}
		}
	}
	last := 0 // the block that is the exit itself
	if len(exits) == 1 && len(g.Blocks[exits[0]].Edges) == 1 && !g.Blocks[exits[0]].Edges[0].Dead {
		last = exits[0]
	}
	if !looped && len(g.Blocks) == 1 && len(exits) == 1 && len(g.Blocks[0].Edges) == 1 && !g.Blocks[0].Edges[0].Dead {
		g.Blocks[0].Edges = nil
		return
	}

	number := make([]int, len(g.Blocks))
	var blocks []Block
	if looped {
		entry := Block{Reached: true}
		for _, k := range entries {
			entry.Edges = append(entry.Edges, Edge{To: k})
		}
		blocks = append(blocks, entry)
	}
	for k := range g.Blocks {
		if k != last || k == 0 {
			number[k] = len(blocks)
			blocks = append(blocks, g.Blocks[k])
		}
	}
	end := len(blocks)
	if last > 0 {
		number[last] = end
		blocks = append(blocks, g.Blocks[last])
		blocks[end].Edges = nil
	} else {
		blocks = append(blocks, Block{Reached: true})
	}
	for k := range blocks {
		for i := range blocks[k].Edges {
			e := &blocks[k].Edges[i]
			if e.To == exit {
				e.To = end
			} else {
				e.To = number[e.To]
			}
		}
	}
	g.Blocks = blocks
}

// escape adds a dead edge to the exit where no block leaves the function.
func (g *Graph) escape() {
	for k := range g.Blocks {
		for _, e := range g.Blocks[k].Edges {
			if e.To == exit {
				return
			}
		}
	}
	// The last block that is reached from the entry, which lies in a loop or
	// leads to one.
	for k := len(g.Blocks) - 1; k >= 0; k-- {
		if g.Blocks[k].Reached {
			g.Blocks[k].Edges = append(g.Blocks[k].Edges, Edge{To: exit, Dead: true})
			return
		}
	}
}
