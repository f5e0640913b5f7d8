package spd

// bucketCount is the number of hash buckets that the linker gives to a table
// of n functions: the largest prime below the first power of two, from 32 on,
// that is not below n. Files seen have 31 and 1021.
func bucketCount(n int) uint32 {
	for bits := 5; ; bits++ {
		p := uint32(1)<<bits - 1
		for !isPrime(p) {
			p -= 2
		}
		if uint64(p) >= uint64(n) {
			return p
		}
	}
}

// isPrime tests an odd number above 2.
func isPrime(n uint32) bool {
	for d := uint32(3); uint64(d)*uint64(d) <= uint64(n); d += 2 {
		if n%d == 0 {
			return false
		}
	}
	return true
}

// tablePlace is where a symbol stands in the hash table, in entries.
type tablePlace struct {
	slot uint32 // its entry
	next uint32 // entry of the next symbol in its chain, or 0
}

// placeSymbols lays out the hash table for n symbols in record order, as the
// linker does: the first symbol of a bucket takes the bucket's entry, later
// ones are appended behind the buckets and linked at the end of the chain. It
// returns a place per symbol and the number of entries in the table.
func placeSymbols(n int, buckets uint32, id func(int) ID) ([]tablePlace, uint64) {
	places := make([]tablePlace, n)
	tails := make([]uint32, buckets) // last symbol of each chain, plus one
	end := uint64(buckets)
	for k := range places {
		b := uint32(uint64(id(k)) % uint64(buckets))
		if tail := tails[b]; tail == 0 {
			places[k].slot = b
		} else {
			places[k].slot = uint32(end)
			places[tail-1].next = uint32(end)
			end++
		}
		tails[b] = uint32(k) + 1
	}
	return places, end
}
