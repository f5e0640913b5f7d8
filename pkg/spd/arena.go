package spd

// arena hands out slices of one element type from chunks, because a file has
// hundreds of thousands of tiny ones. Chunks grow with the demand so that a
// small file stays small. The slices are cut to capacity: appending to one
// copies it.
type arena[T any] struct {
	free  []T
	chunk int // elements of the last chunk
}

const (
	minChunk = 32
	maxChunk = 2048
)

func (a *arena[T]) take(n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(a.free) {
		chunk := min(max(2*a.chunk, minChunk), maxChunk)
		if n > chunk/4 {
			return make([]T, n) // big enough for itself; what is free stays
		}
		a.chunk = chunk
		a.free = make([]T, chunk)
	}
	s := a.free[:n:n]
	a.free = a.free[n:]
	return s
}
