package sample

import (
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Binary is an executable image or shared library that samples fall into.
type Binary struct {
	Name     string // file name without folders
	Path     string // as the traced machine named it
	GUID     binfmt.GUID
	Age      uint32
	Identity string // how GUID and age were found, see the Identity constants
	Kernel   bool   // the kernel or one of its modules

	// FileOffsets says that the RVAs of this binary are file offsets, because
	// its program headers were not at hand. Such counts never join those of
	// translated addresses.
	FileOffsets bool
}

// How an identity was found.
const (
	IdentityMMAP2      = "mmap2 build-id"       // build id in the map record
	IdentityFeature    = "build-id table"       // build id in the recording's table, by name
	IdentityFile       = "file build-id"        // build id of the file on disk
	IdentityPE         = "image RSDS"           // debug directory of the PE on disk
	IdentityTrace      = "trace RSDS"           // DbgID_RSDS event of a merged ETL
	IdentityImageFound = "image by stamp"       // PE on disk that has the trace's time stamp and size
	IdentityPDBFound   = "PDB by size"          // PDB on disk of an image of the trace's size
	IdentitySPT        = "program id of an SPT" // taken over from an input that is an SPT
	IdentityNone       = "none"
)

// FileOffsetsSuffix is behind the name of a binary whose addresses are file
// offsets.
const FileOffsetsSuffix = " (file offsets)"

// Key tells binaries apart when profiles are folded: by identity where there
// is one, else by name.
type Key struct {
	GUID        binfmt.GUID
	Age         uint32
	FileOffsets bool
	Name        string // empty where GUID is not zero
}

// Key returns the key of b.
func (b *Binary) Key() Key {
	k := Key{GUID: b.GUID, Age: b.Age, FileOffsets: b.FileOffsets}
	if b.GUID.IsZero() {
		k.Name = b.Name
	}
	return k
}

// ProgramName is the name of b in an SPT: "NAME", or "NAME (file offsets)".
func (b *Binary) ProgramName() string {
	if b.FileOffsets {
		return b.Name + FileOffsetsSuffix
	}
	return b.Name
}

// FromProgram is the binary of a program id of an SPT.
func FromProgram(name string, guid binfmt.GUID, age uint32) Binary {
	base, fileOffsets := strings.CutSuffix(name, FileOffsetsSuffix)
	return Binary{Name: base, Path: base, GUID: guid, Age: age, Identity: IdentitySPT, FileOffsets: fileOffsets}
}

// BaseName is the part of a path behind the last slash or backslash.
func BaseName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
