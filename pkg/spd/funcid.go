package spd

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// ID identifies a function: Bernstein's hash over its name, in 64 bits. It is
// the only link between the records of an SPD and between the SPDs of
// successive builds.
type ID uint64

// FunctionID is the id of a function with external linkage; name is the
// decorated name.
func FunctionID(name string) ID { return ID(djb2(djb2Start, name)) }

// StaticID is the id of a file-local function. Object is the file name of its
// object file without folders and with the extension, such as "ebpf_core.obj".
func StaticID(object, name string) ID { return ID(djb2(djb2(djb2Start, object), name)) }

// ImportID is the id of a function that is called through the import table.
func ImportID(name string) ID { return FunctionID("__imp_" + name) }

// String prints the id as "0x" and 16 digits, the spelling of all text forms.
func (id ID) String() string { return fmt.Sprintf("0x%016x", uint64(id)) }

// MarshalText is String.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads "0x" and up to 16 hexadecimal digits.
func (id *ID) UnmarshalText(b []byte) error {
	v, err := parseHex(string(b), 64)
	*id = ID(v)
	return err
}

const djb2Start = 5381

// djb2 continues Bernstein's hash h*33+c from h.
func djb2(h uint64, s string) uint64 {
	for i := range len(s) {
		h = h*33 + uint64(s[i])
	}
	return h
}

// binaryHash is the header's hash of the image name: the low half of
// Bernstein's hash, case kept. It is proved for ASCII names alone; for others
// it runs over UTF-16 units here.
func binaryHash(name string) uint32 {
	h := uint32(djb2Start)
	for _, u := range utf16.Encode([]rune(name)) {
		h = h*33 + uint32(u)
	}
	return h
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func parseHex(s string, bits int) (uint64, error) {
	digits, ok := strings.CutPrefix(s, "0x")
	v, err := strconv.ParseUint(digits, 16, bits)
	if !ok || err != nil {
		return 0, &binfmt.Error{Offset: -1, Want: fmt.Sprintf(`"0x" and a hexadecimal number of %d bits`, bits),
			Got: strconv.Quote(s), Err: binfmt.ErrCorrupt}
	}
	return v, nil
}
