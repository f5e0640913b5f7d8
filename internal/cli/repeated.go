package cli

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"

	"github.com/spgo-tools/spgo/internal/diag"
)

// WarnRepeated warns of inputs that count more than once without having been
// given a weight: named several times, or copies of each other, byte by byte.
// Names are those of the command line, files what they came to.
func (c *Context) WarnRepeated(names []string, files []Weighted) {
	count := make(map[string]int)
	for _, name := range names {
		count[name]++
	}
	type key struct {
		size  int64
		start [sha256.Size]byte
	}
	known := make(map[key][]string)
	for _, f := range files {
		if n := count[f.Name]; n > 1 {
			c.Warn(diag.New(diag.Repeated, "it is named %d times, and counts as often", n).In(f.Name))
		}
		fi, err := os.Stat(f.Name)
		if err != nil || !fi.Mode().IsRegular() || fi.Size() == 0 {
			continue
		}
		start, err := startOf(f.Name)
		if err != nil {
			continue // reading it will tell
		}
		k := key{fi.Size(), start}
		first := ""
		for _, other := range known[k] {
			if same(f.Name, other) {
				first = other
				break
			}
		}
		if first == "" {
			known[k] = append(known[k], f.Name)
			continue
		}
		c.Warn(diag.New(diag.Repeated, "it is the same as %s, so that its samples count twice", first).In(f.Name))
	}
}

// startOf is the hash of the first 64 KB of a file.
func startOf(name string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.CopyN(h, f, 1<<16)
	if err == io.EOF {
		err = nil
	}
	h.Sum(sum[:0])
	return sum, err
}

// same says whether two files of one size have the same bytes.
func same(a, b string) bool {
	f, err := os.Open(a)
	if err != nil {
		return false
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return false
	}
	defer g.Close()
	fi, err1 := f.Stat()
	gi, err2 := g.Stat()
	if err1 == nil && err2 == nil && os.SameFile(fi, gi) {
		return true
	}
	var x, y [1 << 16]byte
	for {
		n, errF := io.ReadFull(f, x[:])
		m, errG := io.ReadFull(g, y[:])
		if !bytes.Equal(x[:n], y[:m]) || (errF == nil) != (errG == nil) {
			return false
		}
		if errF != nil {
			return errF == io.EOF || errF == io.ErrUnexpectedEOF
		}
	}
}
