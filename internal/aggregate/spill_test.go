package aggregate

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// TestSpill writes the same bytes whatever the memory, with all kinds of sums.
func TestSpill(t *testing.T) {
	events := randomEvents(rand.New(rand.NewPCG(1, 2)), 8000)
	for _, depth := range []int{255, 20} {
		want, wantWritten := aggregateEvents(t, events, 1, depth)
		for _, limit := range []int64{1, 50_000} {
			dir := t.TempDir()
			p := New(depth)
			p.Limit(limit, dir, func(err error) { t.Error(err) })
			workers := []*Shard{p.NewShard(), p.NewShard(), p.NewShard()}
			for i, e := range events {
				feed(p, workers[i%len(workers)], e)
			}
			for _, w := range workers {
				p.Merge(w)
			}
			if len(p.runs) == 0 {
				t.Errorf("limit %d: nothing was spilled", limit)
			}
			if most := 2 * spillFanIn; len(p.runs) > most {
				t.Errorf("limit %d: %d runs are open, more than %d", limit, len(p.runs), most)
			}
			got, gotWritten := write(t, p)
			if !bytes.Equal(got, want) || gotWritten != wantWritten {
				t.Errorf("depth %d, limit %d: other bytes: %+v, want %+v", depth, limit, gotWritten, wantWritten)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}

// TestSnapshot goes on with saved sums to the same bytes.
func TestSnapshot(t *testing.T) {
	events := randomEvents(rand.New(rand.NewPCG(3, 4)), 3000)
	for _, depth := range []int{255, 20} {
		want, _ := aggregateEvents(t, events, 1, depth)
		p := New(depth)
		var saved []byte
		for part := range 3 {
			s := p.NewShard()
			for _, e := range events[part*1000 : (part+1)*1000] {
				feed(p, s, e)
			}
			p.Merge(s)
			var b bytes.Buffer
			if err := p.Save(&b); err != nil {
				t.Fatal(err)
			}
			p.Close()
			saved = b.Bytes()
			p = New(depth)
			closed := 0
			if err := p.Restore(bytes.NewReader(saved), int64(len(saved)), func() error { closed++; return nil }); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if closed != 1 {
					t.Errorf("the snapshot was closed %d times", closed)
				}
			}()
		}
		if got, _ := write(t, p); !bytes.Equal(got, want) {
			t.Errorf("depth %d: other bytes", depth)
		}
		p.Close()

		for i := range len(saved) {
			if i > 300 && i%9973 != 0 {
				continue
			}
			cut := New(depth)
			if err := cut.Restore(bytes.NewReader(saved[:i]), int64(i), func() error { return nil }); err == nil {
				t.Fatalf("the first %d of %d bytes are taken for all", i, len(saved))
			}
			damaged := bytes.Clone(saved)
			damaged[i] ^= 0x55
			other := New(depth)
			if err := other.Restore(bytes.NewReader(damaged), int64(len(damaged)), func() error { return nil }); err == nil {
				other.Totals() // any result, but no panic
			}
		}
	}
}

// TestSpillFails says that the folder cannot be written to.
func TestSpillFails(t *testing.T) {
	p := New(255)
	var told error
	p.Limit(1, filepath.Join(t.TempDir(), "none"), func(err error) { told = err })
	s := p.NewShard()
	for _, e := range randomEvents(rand.New(rand.NewPCG(5, 6)), 2000) {
		feed(p, s, e)
	}
	p.Merge(s)
	_, err := p.Write(&bytes.Buffer{})
	if !errors.Is(told, os.ErrNotExist) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("told %v, failed with %v", told, err)
	}
	if err := p.Save(&bytes.Buffer{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("saved: %v", err)
	}
}

// FuzzRun reads anything as a run: its items are in order or there is an
// error, and they are written again and read as the same.
func FuzzRun(f *testing.F) {
	p := New(20)
	s := p.NewShard()
	for _, e := range randomEvents(rand.New(rand.NewPCG(7, 8)), 300) {
		feed(p, s, e)
	}
	var b bytes.Buffer
	if _, _, err := writeItems(&b, &shardItems{shard: s}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte{endOfRun})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &run{r: bytes.NewReader(data), size: int64(len(data))}
		var all []item
		items := r.items()
		for {
			i, err := items.next()
			if err != nil {
				if !errors.Is(err, binfmt.ErrCorrupt) && !errors.Is(err, binfmt.ErrTruncated) {
					t.Fatalf("%v", err)
				}
				return
			}
			if i == nil {
				break
			}
			all = append(all, *i)
		}
		var again bytes.Buffer
		if _, _, err := writeItems(&again, &listed{all}); err != nil {
			t.Fatal(err)
		}
		second := (&run{r: bytes.NewReader(again.Bytes()), size: int64(again.Len())}).items()
		for n := range all {
			i, err := second.next()
			if err != nil || i == nil || *i != all[n] {
				t.Fatalf("item %d: %+v, %v, want %+v", n, i, err, all[n])
			}
		}
	})
}

// listed is an itemSource of a list.
type listed struct{ items []item }

func (l *listed) next() (*item, error) {
	if len(l.items) == 0 {
		return nil, nil
	}
	i := &l.items[0]
	l.items = l.items[1:]
	return i, nil
}
