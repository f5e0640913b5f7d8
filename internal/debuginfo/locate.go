package debuginfo

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spgo-tools/spgo/pkg/image"
)

// systemDebug is where systems install separate debug files.
var systemDebug = "/usr/lib/debug"

// Locate returns the PDB or separate debug file of an image where debuggers
// look for it too, "" if there is none of this build: of a PE the PDB that it
// names, beside it; of an ELF by build id and by the name in .gnu_debuglink. An
// ELF with debug information of its own needs none. Unusable says why others
// that are there are not it: damage, or a [MismatchError].
func Locate(img *image.File, imagePath string) (path string, unusable []error) {
	if img.Kind == image.KindPE {
		return first(pdbBeside(img, imagePath), func(path string) error {
			file, err := OpenPDB(img, path)
			if err == nil {
				file.Close()
			}
			return err
		})
	}
	file, err := elf.NewFile(img.Reader())
	if err != nil || file.Section(".debug_info") != nil || file.Section(".zdebug_info") != nil {
		return "", nil
	}
	var list []string
	if id := img.ELF.BuildID; len(id) > 1 {
		list = append(list, filepath.Join(systemDebug, ".build-id", hex.EncodeToString(id[:1]), hex.EncodeToString(id[1:])+".debug"))
	}
	if name, _, ok := debugLink(file); ok && imagePath != "" {
		dir := filepath.Dir(imagePath)
		list = append(list, filepath.Join(dir, name), filepath.Join(dir, ".debug", name))
		if whole, err := filepath.Abs(dir); err == nil {
			list = append(list, filepath.Join(systemDebug, whole, name))
		}
	}
	return first(list, func(path string) error {
		debug, err := OpenDebugFile(img, path)
		if err == nil {
			debug.Close()
		}
		return err
	})
}

// With calls use with the PDB or debug file of an image: the one that was named,
// or one that [Locate] finds. That nobody named one which is damaged is no
// failure: use is called again without it then, with "". Path is what was used
// at last, and unusable says why others that were found were not.
func With(img *image.File, imagePath, named string, use func(debugPath string) error) (path string, unusable []error, err error) {
	if named != "" {
		return named, nil, use(named)
	}
	path, unusable = Locate(img, imagePath)
	if err = use(path); err == nil || path == "" {
		return path, unusable, err
	}
	return "", append(unusable, err), use("")
}

// first returns the first file that can be opened, and why those before it that
// are there cannot.
func first(list []string, open func(path string) error) (path string, unusable []error) {
	for _, path := range list {
		err := open(path)
		if err == nil {
			return path, unusable
		}
		if !errors.Is(err, fs.ErrNotExist) {
			unusable = append(unusable, err)
		}
	}
	return "", unusable
}

// pdbBeside returns where a PDB is under the name that the linker gave it,
// without the folder: that is of the machine that linked.
func pdbBeside(img *image.File, imagePath string) []string {
	if img.PE.CodeView == nil || imagePath == "" {
		return nil
	}
	base := baseName(img.PE.CodeView.PDB)
	if base == "" {
		return nil
	}
	return []string{filepath.Join(filepath.Dir(imagePath), base)}
}

// debugLink returns what .gnu_debuglink says: a file name, padded to 4 bytes,
// and the CRC-32 of that file.
func debugLink(file *elf.File) (name string, crc uint32, ok bool) {
	s := file.Section(".gnu_debuglink")
	if s == nil {
		return "", 0, false
	}
	b, err := s.Data()
	end := bytes.IndexByte(b, 0)
	if err != nil || len(b) < 8 || end < 0 {
		return "", 0, false
	}
	return filepath.Base(string(b[:end])), binary.LittleEndian.Uint32(b[len(b)-4:]), true
}
