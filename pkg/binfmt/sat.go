package binfmt

import "math/bits"

// SatAdd adds and stays at the maximum instead of wrapping, as the counts of
// all formats of this module do.
func SatAdd(a, b uint64) uint64 {
	s, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return ^uint64(0)
	}
	return s
}

// SatMul multiplies and stays at the maximum instead of wrapping.
func SatMul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return ^uint64(0)
	}
	return lo
}
