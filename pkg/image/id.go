package image

import (
	"bytes"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// ID identifies one build of an image. Two images with the same ID hold the
// same code at the same RVAs.
type ID struct {
	GUID binfmt.GUID
	Age  uint32
}

// String prints "{GUID} age N".
func (id ID) String() string { return fmt.Sprintf("%v age %d", id.GUID, id.Age) }

// IDSource tells what an [ID] was read from.
type IDSource uint8

// Sources of an ID.
const (
	IDNone    IDSource = iota // the image states no identity
	IDRSDS                    // CodeView RSDS record of a PE
	IDBuildID                 // GNU build id of an ELF; the age is 0
)

// String returns "none", "pe-rsds" or "elf-build-id".
func (s IDSource) String() string {
	switch s {
	case IDRSDS:
		return "pe-rsds"
	case IDBuildID:
		return "elf-build-id"
	}
	return "none"
}

// GUIDFromBuildID takes the first 16 bytes of a GNU build id, padded with
// zeros where it is shorter, as the binary form of a GUID. Breakpad and
// Sentry derive their debug ids in the same way, with age 0.
func GUIDFromBuildID(id []byte) binfmt.GUID {
	var g binfmt.GUID
	copy(g[:], id)
	return g
}

// SameBuildID compares two build ids without their trailing zeros, since
// older writers of perf.data pad ids of 8 or 16 bytes to 20. Ids without a
// byte other than zero equal nothing, not even each other.
func SameBuildID(a, b []byte) bool {
	a, b = trimBuildID(a), trimBuildID(b)
	return len(a) > 0 && bytes.Equal(a, b)
}

func trimBuildID(id []byte) []byte { return bytes.TrimRight(id, "\x00") }
