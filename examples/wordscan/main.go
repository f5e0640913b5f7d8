// Command wordscan counts the words of a made-up text, which it reads byte by
// byte through an interface, as parsers of streams do. A profile tells the
// compiler which reader is behind the interface, so that it can put the code
// of the reader in place of the calls. The Makefile beside it does that.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strings"
)

// A table counts words by hash. Words of the same hash share a place: the
// program needs no more.
type table struct {
	counts [1 << 12]uint32
	words  int
}

func (t *table) add(hash uint32) {
	t.counts[hash>>20]++
	t.words++
}

// mix adds a byte to a hash.
func mix(hash uint32, c byte) uint32 { return (hash ^ uint32(c)) * 16777619 }

// letter says whether c belongs to a word.
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// scan reads all words.
func scan(r io.ByteReader, t *table) error {
	hash, inside := uint32(2166136261), false
	for {
		c, err := r.ReadByte()
		if err != nil {
			if inside {
				t.add(hash)
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
		switch {
		case letter(c):
			hash, inside = mix(hash, c), true
		case inside:
			t.add(hash)
			hash, inside = 2166136261, false
		}
	}
}

// text is the same in every run.
func text(words int) []byte {
	vocabulary := strings.Fields("the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many off before must well back through years where much your way down should because long each just state those people too mr how little good world")
	var b bytes.Buffer
	r := uint64(1)
	for range words {
		r = r*6364136223846793005 + 1442695040888963407
		b.WriteString(vocabulary[r>>33%uint64(len(vocabulary))])
		b.WriteByte(" \n,"[r>>60%3])
	}
	return b.Bytes()
}

func run(passes int) (*table, error) {
	content, t := text(200_000), &table{}
	for range passes {
		if err := scan(bufio.NewReader(bytes.NewReader(content)), t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func main() {
	passes := flag.Int("passes", 100, "how often to read the text")
	profile := flag.String("cpuprofile", "", "write a profile of the Go run time, to compare with")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			fmt.Fprintln(os.Stderr, "wordscan:", err)
			os.Exit(1)
		}
		defer f.Close()
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	t, err := run(*passes)
	if err != nil {
		fmt.Fprintln(os.Stderr, "wordscan:", err)
		os.Exit(1)
	}
	fmt.Println(t.words, "words")
}
