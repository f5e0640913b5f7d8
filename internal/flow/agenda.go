package flow

import "cmp"

// An agenda is a heap of what is to be visited, the least cost first.
type agenda []visit

// A visit is to a block, or of a network to a half of an arc.
type visit struct {
	item int32
	cost int64
}

// compare orders by cost, then number.
func (v visit) compare(w visit) int {
	return cmp.Or(cmp.Compare(v.cost, w.cost), cmp.Compare(v.item, w.item))
}

// add puts in a visit.
func (a *agenda) add(v visit) {
	*a = append(*a, v)
	q := *a
	for k := len(q) - 1; k > 0; {
		up := (k - 1) / 2
		if q[k].compare(q[up]) >= 0 {
			return
		}
		q[k], q[up] = q[up], q[k]
		k = up
	}
}

// take removes and returns the first.
func (a *agenda) take() visit {
	q := *a
	first, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	*a = q
	for k := 0; ; {
		down := 2*k + 1
		if down >= last {
			return first
		}
		if down+1 < last && q[down+1].compare(q[down]) < 0 {
			down++
		}
		if q[k].compare(q[down]) <= 0 {
			return first
		}
		q[k], q[down] = q[down], q[k]
		k = down
	}
}
