// Program hot spends its time in a few calls. With an argument it writes a CPU
// profile of itself there.
package main

import (
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
)

type shape interface{ area() float64 }

type rect struct{ w, h float64 }

type circle struct{ r float64 }

func (r rect) area() float64   { return r.w*r.h + float64(int(r.w)%7) }
func (c circle) area() float64 { return 3*c.r*c.r + float64(int(c.r)%5) }

// total calls through an interface, mostly one method.
//
//go:noinline
func total(list []shape) (sum float64) {
	for _, x := range list {
		sum += x.area()
	}
	return sum
}

// mix costs too much to be inlined without a profile.
func mix(h, v uint64) uint64 {
	h ^= v
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	if h%3 == 0 {
		h += v * 31
	} else if h%5 == 1 {
		h -= v * 17
	}
	h = h<<5 | h>>59
	h += v
	h = h<<7 | h>>57
	h ^= v << 3
	h = h<<11 | h>>53
	h -= v >> 2
	return h
}

func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = mix(h, uint64(c))
	}
	return h
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	rounds := 2500
	if len(os.Args) > 1 {
		f, err := os.Create(os.Args[1])
		if err != nil {
			panic(err)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			panic(err)
		}
		defer pprof.StopCPUProfile()
	}
	if len(os.Args) > 2 {
		rounds, _ = strconv.Atoi(os.Args[2])
	}
	var list []shape
	for i := range 8000 {
		if i%10 == 0 {
			list = append(list, circle{float64(i)})
		} else {
			list = append(list, rect{float64(i), float64(i % 7)})
		}
	}
	data := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog ", 200))
	var h uint64
	var area float64
	fibs := 0
	for range rounds {
		h += hash(data)
		area += total(list)
		fibs += fib(15)
	}
	fmt.Println(h, area, fibs)
}
