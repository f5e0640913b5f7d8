package debuginfo

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/spgo-tools/spgo/pkg/image"
)

// systemDebug is where systems install separate debug files.
const systemDebug = "/usr/lib/debug"

// Locate returns the PDB or separate debug file of an image where debuggers
// look for it too, "" if there is none of this build: of a PE the PDB that it
// names, beside it; of an ELF by build id and by the name in .gnu_debuglink. An
// ELF with debug information of its own needs none.
func Locate(img *image.File, imagePath string) string {
	if img.Kind == image.KindPE {
		return locatePDB(img, imagePath)
	}
	file, err := elf.NewFile(img.Reader())
	if err != nil || file.Section(".debug_info") != nil || file.Section(".zdebug_info") != nil {
		return ""
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
	for _, path := range list {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if debug, err := OpenDebugFile(img, path); err == nil {
			debug.Close()
			return path
		}
	}
	return ""
}

// locatePDB looks for the PDB under the name that the linker gave it, without
// the folder: that is of the machine that linked.
func locatePDB(img *image.File, imagePath string) string {
	if img.PE.CodeView == nil || imagePath == "" {
		return ""
	}
	named := img.PE.CodeView.PDB
	path := filepath.Join(filepath.Dir(imagePath), named[strings.LastIndexAny(named, `/\`)+1:])
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := OpenPDB(img, path)
	if err != nil {
		return ""
	}
	file.Close()
	return path
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
