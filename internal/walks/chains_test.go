package walks

import (
	"math/rand/v2"
	"slices"
)

// chains are the input that a decomposition does not see.
type chains struct {
	tokens int
	list   []chain
}

type chain struct {
	walk  []int32
	times uint64
}

// counts are the visits and transitions of the chains. They wrap.
func (c chains) counts() (visits []uint64, trans []Transition) {
	return countWalks(c.tokens, func(yield func([]int32, uint64) bool) {
		for _, x := range c.list {
			if !yield(x.walk, x.times) {
				return
			}
		}
	})
}

func countWalks(tokens int, walks func(yield func([]int32, uint64) bool)) (visits []uint64, trans []Transition) {
	visits = make([]uint64, tokens)
	pairs := map[[2]int32]uint64{}
	for walk, times := range walks {
		for i, v := range walk {
			visits[v] += times
			if i > 0 {
				pairs[[2]int32{walk[i-1], v}] += times
			}
		}
	}
	for k, n := range pairs {
		trans = append(trans, Transition{k[0], k[1], n})
	}
	slices.SortFunc(trans, compareEnds)
	return visits, trans
}

// mergedBytes is what the chains take as records if only equal ones are joined.
func (c chains) mergedBytes() (n int) {
	var records []record
	for _, x := range c.list {
		records = append(records, record(x))
	}
	for _, r := range merge(records) {
		n += r.bytes()
	}
	return n
}

// adjacency lists what may follow a token.
type adjacency [][]int32

// random is a graph where up to degree tokens follow each one.
func random(r *rand.Rand, tokens, degree int) adjacency {
	next := make(adjacency, tokens)
	for v := range next {
		for range 1 + r.IntN(degree) {
			next[v] = append(next[v], int32(r.IntN(tokens)))
		}
	}
	return next
}

// program is a graph like that of a program: straight runs, loops and jumps.
func program(r *rand.Rand, tokens int) adjacency {
	next := make(adjacency, tokens)
	for v := range next {
		next[v] = []int32{int32((v + 1) % tokens)}
		if r.IntN(3) == 0 {
			next[v] = append(next[v], int32(max(0, v-r.IntN(10))))
		}
		if r.IntN(3) == 0 {
			next[v] = append(next[v], int32(r.IntN(tokens)))
		}
	}
	return next
}

// ring is a cycle of all tokens.
func ring(tokens int) adjacency {
	next := make(adjacency, tokens)
	for v := range next {
		next[v] = []int32{int32((v + 1) % tokens)}
	}
	return next
}

// forward is a graph without cycles.
func forward(r *rand.Rand, tokens int) adjacency {
	next := make(adjacency, tokens)
	for v := range next {
		for range 2 {
			if to := v + 1 + r.IntN(5); to < tokens {
				next[v] = append(next[v], int32(to))
			}
		}
	}
	return next
}

// walk is a random walk of up to n tokens. Each follower of a token is taken
// a few times as often as the next one.
func (a adjacency) walk(r *rand.Rand, start int32, n int) []int32 {
	walk := []int32{start}
	for v := start; len(walk) < n && len(a[v]) > 0; {
		i := 0
		for i < len(a[v])-1 && r.IntN(3) == 0 {
			i++
		}
		v = a[v][i]
		walk = append(walk, v)
	}
	return walk
}

// walks are count chains of n tokens, or of 1 to n if n is negative, that
// start at one of the first starts tokens.
func (a adjacency) walks(r *rand.Rand, count, starts, n int) chains {
	c := chains{tokens: len(a)}
	for range count {
		length := n
		if n < 0 {
			length = 1 + r.IntN(-n)
		}
		c.list = append(c.list, chain{a.walk(r, int32(r.IntN(starts)), length), 1})
	}
	return c
}

// windows cuts one long random walk into chains of n tokens, as a sampler
// of branch stacks does.
func (a adjacency) windows(r *rand.Rand, count, n int) chains {
	c := chains{tokens: len(a)}
	for walk := range slices.Chunk(a.walk(r, 0, count*n), n) {
		c.list = append(c.list, chain{walk, 1})
	}
	return c
}

// shape is a kind of input; n is the greatest length of its chains.
type shape struct {
	name string
	make func(r *rand.Rand, n int) chains
}

var shapes = []shape{
	{"random graph", func(r *rand.Rand, n int) chains {
		tokens := 2 + r.IntN(400)
		return random(r, tokens, 1+r.IntN(4)).walks(r, 1+r.IntN(600), tokens, -n)
	}},
	{"dense graph", func(r *rand.Rand, n int) chains {
		tokens := 2 + r.IntN(8)
		return random(r, tokens, 4).walks(r, 1+r.IntN(1000), tokens, n)
	}},
	{"single entry", func(r *rand.Rand, n int) chains {
		return random(r, 2+r.IntN(400), 1+r.IntN(3)).walks(r, 1+r.IntN(600), 1, n)
	}},
	{"program windows", func(r *rand.Rand, n int) chains {
		return program(r, 2+r.IntN(300)).windows(r, 1+r.IntN(600), n)
	}},
	{"every window of a ring", func(r *rand.Rand, n int) chains {
		next := ring(1 + r.IntN(700))
		c := chains{tokens: len(next)}
		for v := range next {
			c.list = append(c.list, chain{next.walk(r, int32(v), n), 1})
		}
		return c
	}},
	{"some windows of a ring", func(r *rand.Rand, n int) chains {
		next := ring(1 + r.IntN(700))
		return next.walks(r, 1+r.IntN(len(next)), len(next), n)
	}},
	{"tours of a ring", func(r *rand.Rand, n int) chains {
		next := ring((n - 1) * (1 + r.IntN(16)))
		c := chains{tokens: len(next)}
		for range 1 + r.IntN(20) {
			at := r.IntN(len(next))
			for i := 0; i < len(next); i += n - 1 {
				c.list = append(c.list, chain{next.walk(r, int32((at+i)%len(next)), n), 1})
			}
		}
		return c
	}},
	{"every window of a line", func(r *rand.Rand, n int) chains {
		c := chains{tokens: n + r.IntN(600)}
		next := ring(c.tokens)
		for v := 0; v+n <= c.tokens; v++ {
			c.list = append(c.list, chain{next.walk(r, int32(v), n), 1})
		}
		return c
	}},
	{"stem and loop", func(r *rand.Rand, n int) chains {
		stem, loop := 1+r.IntN(n), 1+r.IntN(60)
		next := ring(stem + loop)
		next[stem+loop-1][0] = int32(stem)
		for v := stem; v < stem+loop; v++ {
			if r.IntN(3) == 0 {
				next[v] = append(next[v], int32(stem+r.IntN(loop)))
			}
		}
		return next.walks(r, 1+r.IntN(600), 1, n)
	}},
	{"no cycles", func(r *rand.Rand, n int) chains {
		tokens := 10 + r.IntN(600)
		return forward(r, tokens).walks(r, 1+r.IntN(600), 1+r.IntN(tokens), n)
	}},
	{"self-loops", func(r *rand.Rand, n int) chains {
		next := ring(1 + r.IntN(5))
		for v := range next {
			next[v] = append([]int32{int32(v)}, next[v]...)
		}
		return next.walks(r, 1+r.IntN(600), len(next), n)
	}},
	{"two rings", func(r *rand.Rand, n int) chains {
		a, b := 2+r.IntN(200), 2+r.IntN(200)
		next := ring(a + b)
		next[a-1][0], next[a+b-1][0] = 0, int32(a)
		next[0] = append(next[0], int32(a))
		next[a] = append(next[a], 0)
		return next.walks(r, 1+r.IntN(600), a+b, n)
	}},
	{"disjoint permutations", func(r *rand.Rand, n int) chains {
		c := chains{tokens: n + r.IntN(200)}
		for range 1 + r.IntN(30) {
			walk := make([]int32, n)
			for i, v := range r.Perm(c.tokens)[:n] {
				walk[i] = int32(v)
			}
			c.list = append(c.list, chain{walk, 1})
		}
		return c
	}},
	{"single tokens", func(r *rand.Rand, n int) chains {
		tokens := 1 + r.IntN(50)
		return random(r, tokens, 1).walks(r, 1+r.IntN(100), tokens, 1)
	}},
}

// weigh gives the chains multiplicities: all 1, small ones, or powers of 2 of
// all sizes.
func (c chains) weigh(r *rand.Rand) {
	switch r.IntN(3) {
	case 1:
		for i := range c.list {
			c.list[i].times = 1 + r.Uint64N(100)
		}
	case 2:
		for i := range c.list {
			c.list[i].times = 1 << r.IntN(45)
		}
	}
}
