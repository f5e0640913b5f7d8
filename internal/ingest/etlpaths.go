package ingest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/pkg/etl"
)

// volumeMap turns the paths of the kernel into those that people know.
type volumeMap []etl.Volume // the longest beginning first

func newVolumeMap(events []stamped[etl.Volume]) volumeMap {
	var m volumeMap
	for i := range events {
		if v := events[i].event; v.NTPath != "" {
			m = append(m, v)
		}
	}
	slices.SortStableFunc(m, func(a, b etl.Volume) int { return -cmp.Compare(len(a.NTPath), len(b.NTPath)) })
	return m
}

// dosPath is the path with a drive letter where the recording tells it, else
// the path as it is. What only the kernel makes of a path goes in any case: the
// prefix of its namespace, and in paths of the network the redirector and the
// drive.
func (m volumeMap) dosPath(path string) string {
	for _, v := range m {
		n := len(v.NTPath)
		if len(path) < n || !strings.EqualFold(path[:n], v.NTPath) {
			continue
		}
		// A mapping ends with a backslash, or its path goes on with one: volume 1
		// is not the beginning of volume 10.
		if rest := path[n:]; rest == "" || path[n-1] == '\\' || rest[0] == '\\' {
			path = v.DOSPath + rest
			break
		}
	}
	if i := strings.LastIndex(path, `\;`); i >= 0 {
		path = path[i+1:]
		if i = strings.IndexByte(path, '\\'); i >= 0 {
			path = path[i:]
		}
		return `\` + path // \\server\share\...
	}
	return strings.TrimPrefix(path, `\??\`)
}

// pathInVolume is a path without what names its volume, in lower case, by
// which the paths that different events give to one file can be compared.
func pathInVolume(path string) string {
	path = strings.ToLower(volumeMap{}.dosPath(path))
	if rest, ok := strings.CutPrefix(path, `\device\`); ok {
		if i := strings.IndexByte(rest, '\\'); i >= 0 {
			return rest[i:]
		}
	}
	if rest, ok := strings.CutPrefix(path, `\systemroot\`); ok {
		return `\windows\` + rest
	}
	if len(path) > 2 && path[1] == ':' {
		return path[2:]
	}
	return path
}
