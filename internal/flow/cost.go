package flow

import "math"

// borders are the distances from the observed count, in standard deviations,
// at which the deviance is cut into linear pieces.
var borders = [...]float64{.25, .5, .75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256}

// lossFactor times the confidence is the price of the last piece on the way
// down to 0, where the deviance itself grows without bound.
const lossFactor = 60

// A shape is the cost of an arc as a function of its flow.
type shape struct {
	kind shapeKind
	at   int64   // the flow of least cost
	n    float64 // confidence, or the slope of a linear shape
}

type shapeKind uint8

const (
	// free flow costs nothing. at is only a start.
	free shapeKind = iota
	// toll: n per unit.
	toll
	// deviance: Poisson deviance of flow at with confidence n.
	deviance
	// nearest: n per unit of |flow - at|.
	nearest
)

// maxSlope returns the steepest slope of the shape.
func (s shape) maxSlope() float64 {
	switch s.kind {
	case free:
		return 0
	case deviance:
		if s.at > 0 {
			return lossFactor * s.n
		}
	}
	return s.n
}

// A piece is a range of flow in which an arc's cost is linear. It ends where
// the next one of the arc starts. The pieces of an arc stand between two
// sentinels of slope -none and none, the second of which starts at the
// capacity.
type piece struct {
	start, slope int64
}

// A scale turns shapes into pieces of integers.
type scale struct {
	unit     float64 // flow that stands for one execution
	capacity int64   // of every arc
	quantum  float64 // slope in quanta = slope * quantum
	factor   int64   // integer slopes are multiples of it
}

// slope rounds a slope to quanta.
func (s scale) slope(x float64) int64 {
	return int64(math.RoundToEven(x*s.quantum)) * s.factor
}

// appendPieces appends the pieces of a shape with their sentinels.
func (s scale) appendPieces(ps []piece, sh shape) []piece {
	first := len(ps) + 1
	ps = append(ps, piece{slope: -none})
	add := func(start, slope int64) {
		switch last := len(ps) - 1; {
		case last >= first && ps[last].slope >= slope:
			// Rounding made two slopes equal: one piece.
		case last >= first && ps[last].start == start:
			ps[last].slope = slope
		default:
			ps = append(ps, piece{start, slope})
		}
	}
	switch sh.kind {
	case free:
		add(0, 0)
	case toll:
		add(0, max(s.slope(sh.n), s.factor))
	case nearest:
		add(0, -s.slope(sh.n))
		add(sh.at, s.slope(sh.n))
	case deviance:
		s.deviance(sh.at, sh.n, add)
	}
	return append(ps, piece{s.capacity, none})
}

// deviance cuts n (x - c ln x), the deviance of x executions seen as c with
// confidence n, at c and at c -+ borders * sigma. Between two borders the
// slope is the derivative n (1 - c/x) in the middle; below the last border it
// is -60 n and above the last n. If c is 0 it is n everywhere.
//
// Products are converted before they are added so that no machine fuses the
// two operations: results must be the same everywhere.
func (s scale) deviance(c int64, n float64, add func(start, slope int64)) {
	if c == 0 {
		add(0, s.slope(n))
		return
	}
	x := float64(c)
	sigma := deviation(x/s.unit, n) * s.unit
	var at [2*len(borders) + 1]int64
	k := 0
	for i := len(borders) - 1; i >= 0; i-- {
		if b := x - float64(borders[i]*sigma); b >= 1 {
			at[k] = int64(b)
			k++
		}
	}
	at[k] = c
	k++
	for _, b := range borders {
		at[k] = int64(math.Ceil(x + float64(b*sigma)))
		k++
	}
	add(0, s.slope(-lossFactor*n))
	for i, start := range at[:k] {
		if start >= s.capacity {
			break
		}
		slope := n
		if i+1 < k {
			if at[i+1] == start {
				continue
			}
			middle := (float64(start) + float64(at[i+1])) / 2
			slope = max(float64(n*(1-float64(x/middle))), -lossFactor*n)
		}
		add(start, s.slope(slope))
	}
}

// deviation returns the standard deviation of a count of c executions that
// was measured with confidence n.
func deviation(c, n float64) float64 {
	return math.Sqrt(max(c, .5/n) / n)
}
