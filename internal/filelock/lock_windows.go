package filelock

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Values of the Windows API that package syscall does not have.
const (
	accessDelete          = 0x00010000
	fileFlagDeleteOnClose = 0x04000000
	errorSharingViolation = syscall.Errno(32)
)

func acquire(target string) (*os.File, error) {
	if _, err := os.Stat(target); err != nil {
		return nil, err
	}
	name := target + ".lock"
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, &fs.PathError{Op: "lock", Path: target, Err: err}
	}
	// Sharing nothing makes the file the lock. Access is denied as well while
	// the file of another program is being deleted.
	h, err := syscall.CreateFile(path, syscall.GENERIC_WRITE|accessDelete, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL|fileFlagDeleteOnClose, 0)
	if errors.Is(err, errorSharingViolation) {
		return nil, errBusy
	}
	if errors.Is(err, syscall.ERROR_ACCESS_DENIED) {
		if _, statErr := os.Stat(name); statErr == nil {
			return nil, errBusy
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "lock", Path: target, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// own has nothing to do: nobody can remove a file that is open.
func own(*os.File) error { return nil }

// removeAbandoned removes a file unless its writer is at work.
func removeAbandoned(name string) error {
	err := os.Remove(name)
	if errors.Is(err, errorSharingViolation) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
