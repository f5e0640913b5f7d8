package etl

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Signatures of what a log file may be packed in.
var (
	zipMagic  = []byte("PK\x03\x04")
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// zipEncrypted is the flag of a member that needs a password.
const zipEncrypted = 1

// zstdWindow bounds the memory of the zstd decoder; files packed with its
// usual levels need less.
const zstdWindow = 128 << 20

// openContainer opens the log files in the file at path: itself, what it
// unpacks to, or the *.etl members of a zip archive in the archive's order. A
// member that is no log file fails alone and is returned in bad.
func openContainer(path string, opt *Options) (files []*File, bad []error, err error) {
	r, size, err := opt.files().Open(path)
	if err != nil {
		return nil, nil, err
	}
	keep := false
	defer func() {
		if !keep {
			closeReader(r)
		}
	}()
	var magic [4]byte
	n, err := r.ReadAt(magic[:], 0)
	if err != nil && err != io.EOF {
		return nil, nil, binfmt.InFile(err, path)
	}
	budget := opt.maxUnpacked()
	switch head := magic[:n]; {
	case bytes.HasPrefix(head, zipMagic):
		return openZip(r, size, path, opt)
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(io.NewSectionReader(r, 0, size))
		if err != nil {
			return nil, nil, badContainer(path, err)
		}
		return single(unpackFile(z, path, opt, &budget))
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(io.NewSectionReader(r, 0, size), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, nil, badContainer(path, err)
		}
		defer z.Close()
		return single(unpackFile(z, path, opt, &budget))
	}
	file, err := newFile(r, size, path, opt)
	if err != nil {
		return nil, nil, err
	}
	keep = true
	file.close = func() error { return closeReader(r) }
	return []*File{file}, nil, nil
}

func single(f *File, err error) ([]*File, []error, error) {
	if err != nil {
		return nil, nil, err
	}
	return []*File{f}, nil, nil
}

// openZip opens the members of an archive that are named as log files.
func openZip(r io.ReaderAt, size int64, path string, opt *Options) (files []*File, bad []error, err error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, nil, badContainer(path, err)
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader) // faster than the standard one
	budget := opt.maxUnpacked()
	for _, m := range z.File {
		if !strings.HasSuffix(strings.ToLower(m.Name), ".etl") {
			continue
		}
		f, err := openMember(m, path+"!"+m.Name, opt, &budget)
		switch {
		case err == nil:
			files = append(files, f)
		case IsDamage(err) && !errors.Is(err, binfmt.ErrLimit), errors.Is(err, binfmt.ErrMagic):
			bad = append(bad, err)
		default:
			closeAll(files)
			return nil, nil, err
		}
	}
	if len(files) == 0 {
		if len(bad) > 0 {
			return nil, nil, errors.Join(bad...)
		}
		return nil, nil, &binfmt.Error{File: path, Part: "zip archive", Offset: -1, Want: "a member *.etl",
			Got: fmt.Sprintf("%d others", len(z.File)), Err: binfmt.ErrMagic}
	}
	return files, bad, nil
}

func openMember(m *zip.File, name string, opt *Options, budget *int64) (*File, error) {
	if m.Flags&zipEncrypted != 0 {
		return nil, &binfmt.Error{File: name, Part: "zip archive", Offset: -1, Want: "a member without password", Got: "an encrypted one", Err: binfmt.ErrUnsupported}
	}
	r, err := m.Open()
	if err != nil {
		return nil, badContainer(name, err)
	}
	defer r.Close()
	return unpackFile(r, name, opt, budget)
}

// unpackFile copies r to a temporary file that is gone when it is closed, and
// opens that. What r yields is counted against budget. Where packed data are
// damaged or end early, the file is what came before, with that as its defect.
func unpackFile(r io.Reader, name string, opt *Options, budget *int64) (file *File, err error) {
	// The first buffer header tells whether the rest is worth the disk.
	head := make([]byte, bufferHeaderSize+systemHeader)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, &binfmt.Error{File: name, Part: "buffer header", Offset: int64(n), Want: fmt.Sprintf("%d bytes", len(head)),
			Got: fmt.Sprint(n), Err: binfmt.ErrTruncated}
	} else if err != nil {
		return nil, badContainer(name, err)
	}
	if err := checkMagic(head); err != nil {
		return nil, binfmt.InFile(err, name)
	}

	dir := ""
	if opt != nil {
		dir = opt.TempDir
	}
	t, err := os.CreateTemp(dir, "spgo-*.etl")
	if err != nil {
		return nil, err
	}
	// Where the system allows it the file loses its name at once, so that it
	// cannot be left behind.
	unlinked := os.Remove(t.Name()) == nil
	closeTemp := func() error {
		err := t.Close()
		if !unlinked {
			err = errors.Join(err, os.Remove(t.Name()))
		}
		return err
	}
	defer func() {
		if file == nil {
			closeTemp()
		}
	}()
	limit := *budget
	if limit < math.MaxInt64 {
		limit++ // one byte tells that there is too much
	}
	size, err := io.Copy(t, io.LimitReader(io.MultiReader(bytes.NewReader(head), r), limit))
	var defect error
	if err != nil {
		if defect = badContainer(name, err); !IsDamage(defect) {
			return nil, defect
		}
	}
	if *budget -= size; *budget < 0 {
		return nil, &binfmt.Error{File: name, Offset: -1, Want: fmt.Sprintf("at most %d bytes unpacked", opt.maxUnpacked()), Err: binfmt.ErrLimit}
	}
	if file, err = newFile(t, size, name, opt); err != nil {
		return nil, cmp.Or(defect, err)
	}
	if defect != nil { // the cause of whatever else is amiss at the end
		file.defect = defect
	}
	file.close = closeTemp
	return file, nil
}

// badContainer says that an archive or packed file cannot be unpacked. A
// failure of the disk, and the end of a context that Options.Files heeds, stay
// what they are.
func badContainer(name string, err error) error {
	var disk *os.PathError
	if errors.As(err, &disk) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind := binfmt.ErrCorrupt
	if errors.Is(err, io.ErrUnexpectedEOF) {
		kind = binfmt.ErrTruncated
	}
	return &binfmt.Error{File: name, Part: "packed file", Offset: -1, Want: "data that unpacks", Got: err.Error(), Err: kind}
}

func closeAll(files []*File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
