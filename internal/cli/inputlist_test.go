package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestListedNames(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string // nil: an error
	}{
		{"lines", "a.spt\nb.spt@3\n", []string{"a.spt", "b.spt@3"}},
		{"no newline at the end", "a.spt\nb.spt", []string{"a.spt", "b.spt"}},
		{"carriage returns, comments, blanks", "# all\r\n\r\n  a b.spt \r\n#c.spt\r\n", []string{"a b.spt"}},
		{"quotes", "\"c d.spt\"\n\"\n", []string{"c d.spt", "\""}},
		{"byte order mark", "\xef\xbb\xbfa.spt\n", []string{"a.spt"}},
		{"UTF-16 little", "\xff\xfea\x00\n\x00\xe4\x00", []string{"a", "ä"}},
		{"UTF-16 big", "\xfe\xff\x00a\x00\r\x00\n\x00b\x00", []string{"a", "b"}},
		{"empty", "", []string{}},
		{"binary", "a\x00b", nil},
		{"Latin-1", "\xe4.spt", nil},
	} {
		got, err := listedNames([]byte(tc.text))
		if (err != nil) != (tc.want == nil) || err == nil && !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, %v, want %q", tc.name, got, err, tc.want)
		}
	}
}

func TestWeighted(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there@2")
	if err := os.WriteFile(there, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		arg, name string
		weight    uint64 // 0: an error
	}{
		{"a.spt", "a.spt", 1},
		{"a.spt@7", "a.spt", 7},
		{"a@b@7", "a@b", 7},
		{"me@home.spt", "me@home.spt", 1},
		{"@3", "@3", 1},
		{there, there, 1},
		{there + "@3", there, 3},
		{"a.spt@0", "", 0},
		{"a.spt@", "", 0},
		{"a.spt@4294967297", "", 0},
		{"a.spt@18446744073709551617", "", 0},
	} {
		name, weight, err := splitWeight(tc.arg)
		if (err != nil) != (tc.weight == 0) || name != tc.name || weight != tc.weight {
			t.Errorf("%s: %q, %d, %v", tc.arg, name, weight, err)
		}
	}
}
