package image

import (
	"fmt"
	"strings"
)

// Want describes the image that a [Finder] shall find: a name and whatever is
// known of its identity. A fact that is known must agree; one that the
// candidate does not state counts as a disagreement.
type Want struct {
	// Name is the path or base name as the trace gives it.
	Name string
	// Windows makes "\" a separator and ignores the case of names.
	Windows bool
	// BuildID is the GNU build id, nil if unknown. See [SameBuildID].
	BuildID []byte
	// ID is the identity as [File.ID] gives it, zero if unknown.
	ID ID
	// SizeOfImage, TimeDateStamp and CheckSum are those of the PE header; the
	// zero value means unknown.
	SizeOfImage   uint32
	TimeDateStamp uint32
	CheckSum      uint32
	// Accept, if set, has the last word: its error is the reason against.
	Accept func(*File) error
}

// Check returns nil if f is the wanted image, else an error that states the
// first difference with both values.
func (w *Want) Check(f *File) error {
	if w.BuildID != nil {
		if f.ELF == nil {
			return fmt.Errorf("is %v, want ELF with build id %x", f.Kind, w.BuildID)
		}
		if !SameBuildID(f.ELF.BuildID, w.BuildID) {
			return fmt.Errorf("build id differs: have %s, want %x", buildIDText(f.ELF.BuildID), w.BuildID)
		}
	}
	if w.ID != (ID{}) {
		have, source := f.ID()
		switch {
		case source == IDNone:
			return fmt.Errorf("states no identity, want %v", w.ID)
		case have.GUID == w.ID.GUID && have.Age != w.ID.Age:
			return fmt.Errorf("GUID %v agrees, age differs: have %d, want %d", have.GUID, have.Age, w.ID.Age)
		case have != w.ID:
			return fmt.Errorf("%v differs: have %v, want %v", source, have, w.ID)
		}
	}
	if w.SizeOfImage != 0 || w.TimeDateStamp != 0 || w.CheckSum != 0 {
		if f.PE == nil {
			return fmt.Errorf("is %v, want PE", f.Kind)
		}
		for _, field := range []struct {
			name       string
			have, want uint32
		}{
			{"time stamp", f.PE.TimeDateStamp, w.TimeDateStamp},
			{"size of image", f.PE.SizeOfImage, w.SizeOfImage},
			{"checksum", f.PE.CheckSum, w.CheckSum},
		} {
			if field.want != 0 && field.have != field.want {
				return fmt.Errorf("%s differs: have %#x, want %#x", field.name, field.have, field.want)
			}
		}
	}
	if w.Accept != nil {
		return w.Accept(f)
	}
	return nil
}

func buildIDText(id []byte) string {
	if id == nil {
		return "none"
	}
	return fmt.Sprintf("%x", id)
}

// baseName is the last part of a path as the recorded system spells it.
// Linux marks a file that was deleted or replaced while it was mapped.
func baseName(path string, windows bool) string {
	if windows {
		path = strings.ReplaceAll(path, `\`, "/")
	} else {
		path = strings.TrimSuffix(path, " (deleted)")
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}
