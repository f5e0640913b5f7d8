//go:build unix

package filelock

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func acquire(target string) (*os.File, error) {
	// Network file systems lock a file only for who may write it.
	f, err := os.OpenFile(target, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		f, err = os.Open(target)
	}
	if err != nil {
		return nil, err
	}
	if err := lock(f, target); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// own locks a new file.
func own(f *os.File) error { return lock(f, f.Name()) }

// removeAbandoned removes a file unless its writer is at work.
func removeAbandoned(name string) error {
	f, err := os.Open(name)
	if err == nil {
		defer f.Close()
		if err = lock(f, name); err == nil {
			err = os.Remove(name)
		}
	}
	if errors.Is(err, errBusy) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func lock(f *os.File, target string) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return errBusy
		}
		if !errors.Is(err, syscall.EINTR) {
			return &fs.PathError{Op: "lock", Path: target, Err: err}
		}
	}
	// Who held the lock may have put another file here.
	locked, err := f.Stat()
	if err != nil {
		return err
	}
	if current, err := os.Stat(target); err != nil || !os.SameFile(locked, current) {
		return errBusy
	}
	return nil
}
