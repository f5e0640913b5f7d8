package filelock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.spd")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNothingIsLost has many add one to a number in a file that each replaces.
func TestNothingIsLost(t *testing.T) {
	path := file(t, "0")
	const writers, rounds = 8, 10
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range rounds {
				if err := increment(path, w); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got, _ := os.ReadFile(path); string(got) != strconv.Itoa(writers*rounds) {
		t.Errorf("%s of %d increments are left", got, writers*rounds)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are left beside it, %v", len(entries)-1, err)
	}
}

func increment(path string, writer int) (err error) {
	l, err := Acquire(context.Background(), path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	next := path + strconv.Itoa(writer)
	if err := os.WriteFile(next, []byte(strconv.Itoa(n+1)), 0o644); err != nil {
		return err
	}
	return os.Rename(next, path)
}

func TestWaitingEnds(t *testing.T) {
	path := file(t, "")
	l, err := Acquire(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err = Acquire(ctx, path, func() { calls++; cancel() })
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("waiting ended with %v after %d notices", err, calls)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Acquire(context.Background(), path, func() { t.Error("a lock that was released is waited for") })
	if err != nil {
		t.Fatal(err)
	}
	again.Release()
}

func TestMissing(t *testing.T) {
	if _, err := Acquire(context.Background(), filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("locking a missing file: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	path := file(t, "")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	l, err := Acquire(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// TestRemoveTemporaries removes what was left behind and nothing else.
func TestRemoveTemporaries(t *testing.T) {
	path := file(t, "x")
	dir := filepath.Dir(path)
	stay := []string{".app.spd.tmp-", ".app.spd.tmp-12a", ".other.spd.tmp-12", "app.spd.tmp-12", ".app.spd.tmp"}
	for _, name := range append([]string{".app.spd.tmp-123", ".app.spd.tmp-7"}, stay...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link.spd")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	l, err := Acquire(context.Background(), link, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if err := l.RemoveTemporaries(); err != nil {
		t.Fatal(err)
	}
	for _, name := range stay {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if entries, _ := filepath.Glob(filepath.Join(dir, ".app.spd.tmp-[17]*")); len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
}
