package cli

import (
	"slices"
	"strings"
	"testing"
)

// FuzzListedNames reads any bytes as a list of names. What is read, written as
// a list in UTF-8, is the same list.
func FuzzListedNames(f *testing.F) {
	f.Add([]byte("# all\r\n\"c d.spt\"\nb.spt@3\n"))
	f.Add([]byte("\xff\xfea\x00\n\x00\xe4\x00"))
	f.Add([]byte("\xfe\xff\xd8\x00\x00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		names, err := listedNames(data)
		if err != nil {
			return
		}
		if len(names) > len(data) {
			t.Fatalf("%d names in %d bytes", len(names), len(data))
		}
		again, err := listedNames([]byte("\"" + strings.Join(names, "\"\n\"") + "\"\n"))
		if len(names) == 0 {
			return
		}
		if err != nil || !slices.Equal(again, names) {
			t.Fatalf("%q, and then %q, %v", names, again, err)
		}
	})
}

// FuzzWeight splits any name; what is left of it and the weight are in range.
func FuzzWeight(f *testing.F) {
	f.Add("a.spt@7")
	f.Add("me@home@18446744073709551617")
	f.Fuzz(func(t *testing.T, arg string) {
		name, weight, err := splitWeight(arg)
		if err == nil && (weight == 0 || weight > MaxWeight || !strings.HasPrefix(arg, name)) {
			t.Fatalf("%q: %q, %d", arg, name, weight)
		}
	})
}
