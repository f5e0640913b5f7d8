package binfmt

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// GUID is a globally unique identifier in its binary layout: the first three
// groups are little-endian integers (RSDS records, ETW providers).
type GUID [16]byte

// String prints the form "{884C945B-FE84-B717-4C4C-44205044422E}".
func (g GUID) String() string {
	return fmt.Sprintf("{%08X-%04X-%04X-%X-%X}",
		binary.LittleEndian.Uint32(g[0:]), binary.LittleEndian.Uint16(g[4:]),
		binary.LittleEndian.Uint16(g[6:]), g[8:10], g[10:16])
}

// IsZero says whether all bytes are zero.
func (g GUID) IsZero() bool { return g == GUID{} }

// ParseGUID reads the form that String prints, with or without braces, in
// either case.
func ParseGUID(s string) (GUID, error) {
	t := strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
	groups := strings.Split(t, "-")
	bad := func() (GUID, error) {
		return GUID{}, &Error{Part: "GUID", Offset: -1, Want: "8-4-4-4-12 hex digits", Got: fmt.Sprintf("%q", s), Err: ErrCorrupt}
	}
	if len(groups) != 5 {
		return bad()
	}
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(groups[i]) != n {
			return bad()
		}
	}
	b, err := hex.DecodeString(strings.Join(groups, ""))
	if err != nil {
		return bad()
	}
	var g GUID
	copy(g[:], b)
	g[0], g[1], g[2], g[3] = b[3], b[2], b[1], b[0]
	g[4], g[5] = b[5], b[4]
	g[6], g[7] = b[7], b[6]
	return g, nil
}
