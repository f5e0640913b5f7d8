package addrspace

// Region is a range of addresses that belongs to one thing.
type Region struct {
	Start, End uint64 // [Start, End)

	// Owner is an index that the user of the package gives meaning to.
	Owner int32
	// Bias + address is the address inside the owner, modulo 2^64.
	Bias uint64
}

// node is a node of a treap ordered by Start, with priorities that are a
// hash of Start, so that the shape depends on the content alone. Nodes of a
// finished version are never changed.
type node struct {
	left, right *node
	region      Region
	version     uint32 // version that made the node and may still change it
}

// priority mixes an address (the finalizer of a 64-bit hash).
func priority(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return x
}

// edit returns n, or a copy that belongs to the current version.
func (n *node) edit(by *Builder) *node {
	if n.version == by.serial {
		return n
	}
	c := *n
	c.version = by.serial
	by.nodes++
	return &c
}

// leaf returns a new node of the current version.
func (by *Builder) leaf(r Region) *node {
	by.nodes++
	return &node{region: r, version: by.serial}
}

// split parts a tree into the regions that start before at and the others.
func split(n *node, at uint64, by *Builder) (below, above *node) {
	if n == nil {
		return nil, nil
	}
	n = n.edit(by)
	if n.region.Start < at {
		n.right, above = split(n.right, at, by)
		return n, above
	}
	below, n.left = split(n.left, at, by)
	return below, n
}

// join puts trees together; all of a lies before all of b.
func join(a, b *node, by *Builder) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case priority(a.region.Start) > priority(b.region.Start):
		a = a.edit(by)
		a.right = join(a.right, b, by)
		return a
	default:
		b = b.edit(by)
		b.left = join(a, b.left, by)
		return b
	}
}

// find returns the region that holds addr, or nil.
func (n *node) find(addr uint64) *Region {
	for n != nil {
		switch {
		case addr < n.region.Start:
			n = n.left
		case addr >= n.region.End:
			n = n.right
		default:
			return &n.region
		}
	}
	return nil
}

// last returns the region with the greatest start.
func (n *node) last() *Region {
	for n.right != nil {
		n = n.right
	}
	return &n.region
}

// cut removes [start, end) and keeps the outer parts of what overlapped it.
func cut(root *node, start, end uint64, by *Builder) *node {
	below, rest := split(root, start, by)
	inside, above := split(rest, end, by)
	// What reaches beyond the end is the last region that starts inside, or
	// the one before the cut if it spans all of it.
	var tail Region
	if below != nil {
		if head := *below.last(); head.End > start {
			below, _ = split(below, head.Start, by)
			below = join(below, by.leaf(Region{head.Start, start, head.Owner, head.Bias}), by)
			tail = head
		}
	}
	if inside != nil {
		tail = *inside.last()
	}
	if tail.End > end {
		tail.Start = end
		above = join(by.leaf(tail), above, by)
	}
	return join(below, above, by)
}

// put inserts r, replacing what it overlaps.
func put(root *node, r Region, by *Builder) *node {
	if r.End <= r.Start {
		return root
	}
	root = cut(root, r.Start, r.End, by)
	below, above := split(root, r.Start, by)
	return join(join(below, by.leaf(r), by), above, by)
}
