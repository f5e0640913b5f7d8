package image

import (
	"slices"
	"sync"
)

const defaultMaxScan = 1 << 16

// identities are files by what their headers say of the build. They are read
// once, when the first search needs them.
type identities struct {
	once    sync.Once
	byID    map[ID][]string
	byStamp map[peStamp][]string
}

// peStamp is what a Windows trace knows of an image without its GUID.
type peStamp struct{ timeDateStamp, sizeOfImage uint32 }

// read reads the headers of files. Those that hold no code, as separate debug
// files do not, come after those that do.
func (x *identities) read(fs FS, files []string) {
	x.byID, x.byStamp = map[ID][]string{}, map[peStamp][]string{}
	var codeless []func()
	for _, path := range files {
		r, size, err := fs.Open(path)
		if err != nil {
			continue
		}
		file, err := openReader(r, size)
		if err != nil {
			continue // most files are no images
		}
		id, source := file.ID()
		add := func() {
			if source != IDNone {
				x.byID[id] = append(x.byID[id], path)
			}
			if file.PE != nil {
				k := peStamp{file.PE.TimeDateStamp, file.PE.SizeOfImage}
				x.byStamp[k] = append(x.byStamp[k], path)
			}
		}
		if slices.ContainsFunc(file.Sections, func(s Section) bool { return s.Exec && s.FileSize > 0 }) {
			add()
		} else {
			codeless = append(codeless, add)
		}
		file.Close()
	}
	for _, add := range codeless {
		add()
	}
}

// of returns the files of the identity that is wanted.
func (x *identities) of(w *Want) []string {
	switch {
	case len(trimBuildID(w.BuildID)) > 0:
		return x.byID[ID{GUID: GUIDFromBuildID(w.BuildID)}]
	case w.ID != ID{}:
		return x.byID[w.ID]
	}
	return x.byStamp[peStamp{w.TimeDateStamp, w.SizeOfImage}]
}

// identified says whether an image can be told by its headers alone.
func (w *Want) identified() bool {
	return len(trimBuildID(w.BuildID)) > 0 || w.ID != ID{} || w.TimeDateStamp != 0 && w.SizeOfImage != 0
}

// givenByIdentity returns the files among Dirs that have the wanted identity.
func (f *Finder) givenByIdentity(w *Want) []string {
	if !w.identified() {
		return nil
	}
	f.walkOnce.Do(f.walk)
	f.givenIDs.once.Do(func() { f.givenIDs.read(f.fs(), f.given) })
	return f.givenIDs.of(w)
}

// byIdentity returns the files with the wanted identity in all folders.
func (f *Finder) byIdentity(w *Want) []string {
	if !w.identified() {
		return nil
	}
	f.walkOnce.Do(f.walk)
	f.allIDs.once.Do(func() {
		files := f.files
		most := f.MaxScan
		if most <= 0 {
			most = defaultMaxScan
		}
		if unread := len(files) - most; unread > 0 {
			files = files[:most]
			f.unread.Store(int64(unread))
		}
		f.allIDs.read(f.fs(), files)
	})
	return f.allIDs.of(w)
}

// Unread returns how many files no search by identity compared so far, because
// they are beyond MaxScan.
func (f *Finder) Unread() int { return int(f.unread.Load()) }
