package debuginfo

import (
	"debug/elf"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
)

// MismatchError says that a PDB or debug file is not of the image.
type MismatchError struct {
	Path      string
	What      string // such as "build id"
	Want, Got string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s is of another build: %s: want %s, got %s", e.Path, e.What, e.Want, e.Got)
}

// regular returns an error unless there is a regular file: a pipe, which waits
// for who writes to it, is not to be opened.
func regular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return &os.PathError{Op: "open", Path: path, Err: errors.New("is no regular file")}
	}
	return err
}

// OpenPDB opens the PDB of an image. An image without identity takes any.
func OpenPDB(img *image.File, path string) (*pdb.File, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	file, err := pdb.Open(path)
	if err != nil {
		return nil, err
	}
	id, err := file.Identity()
	if err != nil {
		file.Close()
		return nil, binfmt.InFile(err, path)
	}
	want, source := img.ID()
	if source != image.IDNone && (id.GUID != want.GUID || id.Age != want.Age) {
		file.Close()
		return nil, &MismatchError{path, "GUID and age", want.String(), image.ID{GUID: id.GUID, Age: id.Age}.String()}
	}
	return file, nil
}

// OpenDebugFile opens the separate debug file of an ELF image. It is matched by
// build id, or where one has none by the checksum in .gnu_debuglink; without
// either any file of the same machine is taken.
func OpenDebugFile(img *image.File, path string) (*image.File, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	debug, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	if err := checkDebugFile(img, debug, path); err != nil {
		debug.Close()
		return nil, err
	}
	return debug, nil
}

func checkDebugFile(img, debug *image.File, path string) error {
	if debug.Kind != image.KindELF || debug.Arch != img.Arch {
		return &MismatchError{path, "kind", fmt.Sprintf("%v %s", img.Kind, img.Arch), fmt.Sprintf("%v %s", debug.Kind, debug.Arch)}
	}
	if _, err := elf.NewFile(debug.Reader()); err != nil {
		return binfmt.InFile(elfError(err), path)
	}
	want, got := img.ELF.BuildID, debug.ELF.BuildID
	if len(want) > 0 && len(got) > 0 {
		if !image.SameBuildID(want, got) {
			return &MismatchError{path, "build id", fmt.Sprintf("%x", want), fmt.Sprintf("%x", got)}
		}
		return nil
	}
	file, err := elf.NewFile(img.Reader())
	if err != nil {
		return nil
	}
	_, sum, ok := debugLink(file)
	if !ok {
		return nil
	}
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, debug.Reader()); err != nil {
		return binfmt.InFile(err, path)
	}
	if h.Sum32() != sum {
		return &MismatchError{path, "checksum", fmt.Sprintf("%08x", sum), fmt.Sprintf("%08x", h.Sum32())}
	}
	return nil
}
