package ntfs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]Spec{
		"ntfs:disk.img!/a/run.etl":              {"disk.img", 0, "/a/run.etl"},
		`ntfs:disk.img!\a\run.etl`:              {"disk.img", 0, "/a/run.etl"},
		"ntfs:disk.img!2:/run.etl":              {"disk.img", 2, "/run.etl"},
		`ntfs:C:\vm\disk.img!12:\r.etl`:         {`C:\vm\disk.img`, 12, "/r.etl"},
		"ntfs:disk.img!2:":                      {"disk.img", 2, "/"},
		"ntfs:disk.img!":                        {"disk.img", 0, "/"},
		"ntfs:disk.img":                         {"disk.img", 0, "/"},
		"ntfs:a!b.img!/c":                       {"a!b.img", 0, "/c"},
		"ntfs:disk.img!/a!/b":                   {"disk.img", 0, "/a!/b"},
		"ntfs:disk.img!/a/../../b//c/./":        {"disk.img", 0, "/b/c"},
		"ntfs:disk.img!0:/a":                    {"disk.img!0:/a", 0, "/"},
		"ntfs:disk.img!99999999999999999999:/a": {"disk.img!99999999999999999999:/a", 0, "/"},
		"ntfs:disk.img!run.etl":                 {"disk.img!run.etl", 0, "/"},
		"ntfs:disk.img!x:/a":                    {"disk.img!x:/a", 0, "/"},
		"ntfs:":                                 {"", 0, "/"},
	} {
		got, ok := Parse(name)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if again, ok := Parse(got.String()); !ok || again != got {
			t.Errorf("%s: %q is %+v", name, got.String(), again)
		}
		if HostFile(name) != want.Image {
			t.Errorf("%s: host file %q", name, HostFile(name))
		}
	}
	for _, name := range []string{"", "disk.img!/a", "./ntfs:a!/b", "NTFS:a!/b", "-"} {
		if s, ok := Parse(name); ok || HostFile(name) != name {
			t.Errorf("%q is %+v", name, s)
		}
	}
}

func TestSplitList(t *testing.T) {
	local := filepath.Join(t.TempDir(), "local.etl")
	if err := os.WriteFile(local, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string][]string{
		"a.etl,b.etl":                         {"a.etl", "b.etl"},
		"ntfs:d!/a.etl,ntfs:d!/b.etl":         {"ntfs:d!/a.etl", "ntfs:d!/b.etl"},
		"ntfs:d!/a, b.etl,ntfs:d!/b.etl":      {"ntfs:d!/a, b.etl", "ntfs:d!/b.etl"},
		"x,ntfs:d!/a.etl, " + local + " ,-,c": {"x", "ntfs:d!/a.etl", local, "-", "c"},
		"ntfs:a,b.img!/c":                     {"ntfs:a,b.img!/c"},
		" ,a,, b ":                            {"a", "b"},
	} {
		if diff := cmp.Diff(want, SplitList(list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("disk.img!2:/a/b.etl")
	f.Add(`C:\disk.img!\a!/b`)
	f.Fuzz(func(t *testing.T, rest string) {
		s, ok := Parse(Scheme + rest)
		if !ok {
			t.Fatal("not recognised")
		}
		if again, ok := Parse(s.String()); !ok || again != s {
			t.Errorf("%+v becomes %q, which is %+v", s, s.String(), again)
		}
	})
}
