package ntfs

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// Scheme starts the name of a file in an image.
const Scheme = "ntfs:"

// Spec is the parsed form of a name.
type Spec struct {
	Image     string // file on this machine that holds the file system
	Partition int    // number in the partition table; 0: where Path is found
	Path      string // absolute, separated by slashes, without . and ..
}

// Parse reads a name of the form ntfs:IMAGE!/PATH or ntfs:IMAGE!N:/PATH, in
// which either separator is good and a missing PATH stands for the root. It
// reports whether the name starts with "ntfs:"; a local file of such a name is
// reached as "./ntfs:...". The first "!" that a path or number follows ends
// IMAGE.
func Parse(name string) (Spec, bool) {
	rest, ok := strings.CutPrefix(name, Scheme)
	if !ok {
		return Spec{}, false
	}
	for i := range len(rest) {
		if rest[i] != '!' {
			continue
		}
		number, inner, ok := cutPartition(rest[i+1:])
		if ok && (inner == "" || isSeparator(inner[0])) {
			return Spec{Image: rest[:i], Partition: number, Path: clean(inner)}, true
		}
	}
	return Spec{Image: rest, Path: "/"}, true
}

// cutPartition takes "N:" from the beginning, if there is one. What starts
// with another number is not what follows an IMAGE.
func cutPartition(s string) (number int, rest string, ok bool) {
	digits, rest, found := strings.Cut(s, ":")
	if !found || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, s, true
	}
	number, err := strconv.Atoi(digits)
	return number, rest, err == nil && number > 0
}

func isSeparator(c byte) bool { return c == '/' || c == '\\' }

// clean makes a path absolute and gives it slashes.
func clean(inner string) string { return path.Clean("/" + strings.ReplaceAll(inner, `\`, "/")) }

// String returns the name that Parse reads.
func (s Spec) String() string {
	if s.Partition > 0 {
		return fmt.Sprintf("%s%s!%d:%s", Scheme, s.Image, s.Partition, s.Path)
	}
	return Scheme + s.Image + "!" + s.Path
}

// HostFile returns the file of this machine that a name stands for: the image
// if it is a name of this package, else the name itself.
func HostFile(name string) string {
	if s, ok := Parse(name); ok {
		return s.Image
	}
	return name
}

// SplitList splits a comma list of names of files. The comma is a part of a
// name of this package unless what follows is another such name, a file of
// this machine, or "-".
func SplitList(list string) []string {
	var names []string
	for piece := range strings.SplitSeq(list, ",") {
		if n := len(names); n > 0 && strings.HasPrefix(names[n-1], Scheme) && !startsName(piece) {
			names[n-1] += "," + piece
			continue
		}
		if piece = strings.TrimSpace(piece); piece != "" {
			names = append(names, piece)
		}
	}
	return names
}

func startsName(piece string) bool {
	piece = strings.TrimSpace(piece)
	if piece == "-" || strings.HasPrefix(piece, Scheme) {
		return true
	}
	_, err := os.Stat(piece)
	return piece != "" && err == nil
}
