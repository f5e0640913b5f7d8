package filelock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Lock is a lock that is held.
type Lock struct {
	path string // of the file, without symbolic links
	file *os.File
}

// errBusy is returned by acquire while somebody else holds the lock.
var errBusy = errors.New("locked by another program")

// interval is the time between two attempts to get a lock.
const interval = 50 * time.Millisecond

// Acquire locks the file at path, which must exist. If somebody else holds the
// lock it calls waiting once and waits. Errors are *fs.PathError and that of
// ctx.
func Acquire(ctx context.Context, path string, waiting func()) (*Lock, error) {
	for attempt := 0; ; attempt++ {
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		file, err := acquire(target)
		if err == nil {
			return &Lock{target, file}, nil
		}
		if !errors.Is(err, errBusy) {
			return nil, err
		}
		if attempt == 0 && waiting != nil {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(interval):
		}
	}
}

// Release gives the lock up.
func (l *Lock) Release() error { return l.file.Close() }

// CreateTemp creates the file that becomes the next version of the file base in
// dir. It is told from one that was left behind until it is closed, which is
// to be done after it was renamed, but on Windows.
func CreateTemp(dir, base string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(dir, "."+base+".tmp-*")
		if err != nil {
			return nil, err
		}
		// Between the two steps it looked as if it was left behind.
		if err = own(f); err == nil {
			return f, nil
		}
		f.Close()
		os.Remove(f.Name())
		if !errors.Is(err, errBusy) {
			return nil, err
		}
	}
}

// RemoveTemporaries removes what programs left beside the file that were
// killed while they wrote its next version, see [RemoveTemporaries].
func (l *Lock) RemoveTemporaries() error { return RemoveTemporaries(l.path) }

// RemoveTemporaries removes the files beside path with its name between "." and
// ".tmp-" and a number that nobody writes. Without the lock it is not to be
// called on Windows, which does not tell who writes.
func RemoveTemporaries(path string) error {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "."+base+".tmp-")
		if ok && number != "" && strings.Trim(number, "0123456789") == "" && e.Type().IsRegular() {
			errs = append(errs, removeAbandoned(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
