package image

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	defaultMaxFiles = 1 << 20
	maxWalkDepth    = 64
	maxMisses       = 16 // named in a NotFoundError
)

// Finder finds images below some folders. It walks them once, when the first
// search by name needs it, and knows the files from then on. It is safe for
// concurrent use; the fields must not change after the first search.
type Finder struct {
	// Dirs are the folders in the order of preference. An entry can also be a
	// file.
	Dirs []string
	// FS is where Dirs lie; nil stands for the operating system's files.
	FS FS
	// MaxFiles bounds how many files and folders are looked at over all Dirs;
	// 0 stands for 1,048,576. Beyond it files are not found and Problems
	// says so.
	MaxFiles int
	// MaxScan bounds how many files of folders a search by identity reads the
	// headers of, nearest ones first; 0 stands for 65,536. See Unread.
	MaxScan int

	walkOnce sync.Once
	files    []string            // in order of preference
	given    []string            // those of Dirs that are files
	byName   map[string][]string // by base name, exact
	byFolded map[string][]string // by base name in lower case
	problems []error

	givenIDs, allIDs identities
	unread           atomic.Int64
}

// How tells what led a [Finder] to an image.
type How uint8

// Ways to an image.
const (
	ByName    How = iota + 1 // base name
	ByBuildID                // path made of the build id
	ByScan                   // identity, whatever the name
)

// String returns "name", "build-id path" or "identity".
func (h How) String() string {
	switch h {
	case ByName:
		return "name"
	case ByBuildID:
		return "build-id path"
	case ByScan:
		return "identity"
	}
	return fmt.Sprintf("how %d", uint8(h))
}

// Found is the result of a search. The caller closes File.
type Found struct {
	File *File
	Path string
	How  How
}

// Miss is a candidate that was not the wanted image.
type Miss struct {
	Path string
	Err  error // why not
}

// NotFoundError says that no candidate was the wanted image.
type NotFoundError struct {
	Name      string
	Misses    []Miss // at most 16, in the order tried
	MissCount int    // all of them
}

// Error names the candidates with the reason against each.
func (e *NotFoundError) Error() string {
	if e.MissCount == 0 {
		return e.Name + ": no image of this name or identity found"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: no image matches", e.Name)
	for _, m := range e.Misses {
		fmt.Fprintf(&b, "; %s: %v", m.Path, m.Err)
	}
	if more := e.MissCount - len(e.Misses); more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

func (e *NotFoundError) add(path string, err error) {
	e.MissCount++
	if len(e.Misses) < maxMisses {
		e.Misses = append(e.Misses, Miss{path, err})
	}
}

// Find returns the first image that passes w.Check. It tries, each in the
// order of Dirs: executables at paths that are made of the build id, all files
// with the base name of w.Name, separate debug files at paths that are made of
// the build id (late, since they hold no code for [File.ReadAtRVA]), and files
// of the wanted identity, whatever their name. Of the latter, files that Dirs
// names come before debug files, and those in folders last: their headers are
// all read once, when the first search comes to that. An image of which no
// identity is known (build id, ID, or time stamp with size) is found by its name
// alone. Without a match the error is a *NotFoundError.
func (f *Finder) Find(w Want) (Found, error) {
	missed := &NotFoundError{Name: w.Name}
	tried := map[string]bool{}
	try := func(path string, how How) (Found, bool) {
		if tried[path] {
			return Found{}, false
		}
		r, size, err := f.fs().Open(path)
		if err != nil && how == ByBuildID && !errors.Is(err, fs.ErrPermission) {
			return Found{}, false // the path was a guess
		}
		tried[path] = true
		var file *File
		if err == nil {
			file, err = openReader(r, size)
		}
		if err == nil {
			if err = w.Check(file); err == nil {
				file.nameWarnings(path)
				return Found{file, path, how}, true
			}
			file.Close()
		}
		missed.add(path, err)
		return Found{}, false
	}
	for _, step := range []struct {
		paths func() []string
		how   How
	}{
		{func() []string { return f.buildIDPaths(w.BuildID, executablePaths) }, ByBuildID},
		{func() []string { return f.Paths(w.Name, w.Windows) }, ByName},
		{func() []string { return f.givenByIdentity(&w) }, ByScan},
		{func() []string { return f.buildIDPaths(w.BuildID, debugPaths) }, ByBuildID},
		{func() []string { return f.byIdentity(&w) }, ByScan},
	} {
		for _, path := range step.paths() {
			if found, ok := try(path, step.how); ok {
				return found, nil
			}
		}
	}
	return Found{}, missed
}

// Paths returns the files with the base name of name, in the order of
// preference. It serves for other files too, such as PDBs.
func (f *Finder) Paths(name string, windows bool) []string {
	f.walkOnce.Do(f.walk)
	base := baseName(name, windows)
	if windows {
		return f.byFolded[strings.ToLower(base)]
	}
	return f.byName[base]
}

// Problems returns the folders that could not be read and whether MaxFiles
// was exceeded, of the walk if there was one.
func (f *Finder) Problems() []error {
	f.walkOnce.Do(f.walk)
	return f.problems
}

func (f *Finder) fs() FS {
	if f.FS != nil {
		return f.FS
	}
	return OS
}

// Where tools keep files by build id, of which the first byte and the rest are
// filled in: perf's cache, distributions' debug packages, debuginfod's cache.
var (
	executablePaths = []string{".build-id/%s/%s/elf", ".build-id/%s/%s", "%s%s/executable"}
	debugPaths      = []string{".build-id/%s/%s.debug", "%s%s/debuginfo"}
)

func (f *Finder) buildIDPaths(id []byte, formats []string) []string {
	if len(trimBuildID(id)) < 2 {
		return nil
	}
	// The id can be padded or cut, so the usual lengths are tried as well.
	var names []string
	add := func(b []byte) {
		if h := hex.EncodeToString(b); len(b) >= 2 && (len(names) == 0 || names[0] != h) {
			names = append(names, h)
		}
	}
	add(id)
	trimmed := trimBuildID(id)
	for _, n := range []int{8, 16, 20} {
		if n >= len(trimmed) {
			add(append(append([]byte(nil), trimmed...), make([]byte, n-len(trimmed))...))
		}
	}
	var paths []string
	for _, format := range formats {
		for _, dir := range f.Dirs {
			for _, h := range names {
				paths = append(paths, joinPath(dir, fmt.Sprintf(format, h[:2], h[2:])))
			}
		}
	}
	return paths
}

// walk lists the files, nearer ones first: each folder of Dirs breadth first,
// names in order.
func (f *Finder) walk() {
	f.byName, f.byFolded = map[string][]string{}, map[string][]string{}
	left := f.MaxFiles
	if left <= 0 {
		left = defaultMaxFiles
	}
	seen := map[string]bool{}
	type folder struct {
		path  string
		depth int
	}
	for _, root := range f.Dirs {
		queue := []folder{{root, 0}}
		for len(queue) > 0 {
			dir := queue[0]
			queue = queue[1:]
			real, err := f.fs().RealPath(dir.path)
			if err != nil {
				f.problem(dir.path, err)
				continue
			}
			if seen[real] {
				continue // given twice, or a loop of symbolic links
			}
			seen[real] = true
			entries, err := f.fs().ReadDir(dir.path)
			if err != nil {
				if dir.depth == 0 && f.isFile(root) {
					f.addFile(root)
					f.given = append(f.given, root)
					continue
				}
				f.problem(dir.path, err)
				continue
			}
			for _, e := range entries {
				if left--; left < 0 {
					f.problem(dir.path, &binfmt.Error{Part: "image search", Offset: -1,
						Got: "more files than the limit, the rest is not searched", Err: binfmt.ErrLimit})
					return
				}
				path := joinPath(dir.path, e.Name)
				switch {
				case !e.Dir:
					f.addFile(path)
				case dir.depth+1 > maxWalkDepth:
					f.problem(path, &binfmt.Error{Part: "image search", Offset: -1,
						Want: fmt.Sprintf("at most %d levels of folders", maxWalkDepth), Err: binfmt.ErrLimit})
				default:
					queue = append(queue, folder{path, dir.depth + 1})
				}
			}
		}
	}
}

func (f *Finder) problem(path string, err error) {
	f.problems = append(f.problems, binfmt.InFile(err, path))
}

func (f *Finder) isFile(path string) bool {
	file, _, err := f.fs().Open(path)
	if err != nil {
		return false
	}
	closeReader(file)
	return true
}

func (f *Finder) addFile(path string) {
	f.files = append(f.files, path)
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	f.byName[base] = append(f.byName[base], path)
	folded := strings.ToLower(base)
	f.byFolded[folded] = append(f.byFolded[folded], path)
}

func joinPath(dir, name string) string {
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}
