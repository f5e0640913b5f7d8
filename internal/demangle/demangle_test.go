package demangle

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/golden"
)

// listed reads the names in a file of testdata, one a line.
func listed(t testing.TB, file string) (names []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	return names
}

// TestNames compares with the readable forms that were looked at; TestPeer
// compares the same names with llvm-undname.
func TestNames(t *testing.T) {
	for _, file := range []string{"names.txt", "beyond.txt"} {
		var b strings.Builder
		for _, name := range listed(t, file) {
			readable, ok := Name(name)
			if !ok {
				t.Errorf("%s is not read", name)
			}
			fmt.Fprintf(&b, "%s\n\t%s\n", name, readable)
		}
		golden.Check(t, "testdata/"+strings.TrimSuffix(file, ".txt")+".golden", []byte(b.String()))
	}
}

func TestOtherSchemes(t *testing.T) {
	for name, want := range map[string]string{
		"_Z3addii":                          "add(int, int)",
		"_ZN2ns3BoxIiE3setERKi":             "ns::Box<int>::set(int const&)",
		"_ZNSt6vectorIiSaIiEE9push_backEOi": "std::vector<int, std::allocator<int> >::push_back(int&&)",
		"_ZN12_GLOBAL__N_11fEv":             "(anonymous namespace)::f()",
		"_Z3addii.cold":                     "add(int, int) [clone .cold]",
		"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE": "core::fmt::Formatter::write_str",
		"_RNvC6_123foo3bar":           "123foo::bar",
		"_RINvNtC3std3mem8align_ofjE": "std::mem::align_of::<usize>",
		"__imp__Z3addii":              "__declspec(dllimport) add(int, int)",
	} {
		if got, ok := Name(name); !ok || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, want)
		}
	}
}

// TestNotDecorated has plain names, and decorated ones that are damaged.
func TestNotDecorated(t *testing.T) {
	for _, name := range []string{
		"", "?", "??", "?@", "main", "_main", "_main@8", "@fast@8", "__imp_main", ".text", ".H", "_R", "_Z", "_Ready", "?f", "?f@@",
		"?x@@3", "?x@@3H", "?x@@3Z", "?f@@YAXXZ!", "?f@@YAXH", "?f@@YA", "?f@@Y", "?f@@YAX0@Z", "?f@1@YAXXZ", "??0@QEAA@XZ", "??B@3HA",
		"??__Zf@@YAXXZ", "??_Af@@YAXXZ", "?x@?$A@$1x@@2HA", "?x@?$A@$0@2HA", "?x@?$A@H", "?x@@3PEAY?0HEA", "?x@@3PEAYA@HEA",
		"??_C@_0", "??_C@_0A@AAAA@@", "??_C@_14AAAA@a@", "??_C@_01AAAA@?$A", "??_C@_01AAAA@?!@", "??_R0H", "??_R1?0A@A@A@Foo@@8",
		"??_9Foo@@$BA@BA", "??_BFoo@@4HA", "??__E?x@@YAXXZ@@YAXXZ", "??@", "??@0123", "?f@Foo@@$6A@A@EAAXXZ", "?f@?$?0H@@YAXXZ",
		strings.Repeat("?", maxName+1),
	} {
		if got, ok := Name(name); ok || got != name {
			t.Errorf("%.40q becomes %q, %v", name, got, ok)
		}
	}
}

// TestHostileNames has names that ask for much nesting or much text.
func TestHostileNames(t *testing.T) {
	nested := func(open, inner, end string) string {
		n := (maxName - 100) / (len(open) + len(end))
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	doubling := "?f@@YAXP6AXPEAHPEAI@Z" // each parameter has the one before many times
	for i := 0; i < 9; i++ {
		doubling += "P6AX" + strings.Repeat(fmt.Sprint(i), 500) + "@Z"
	}
	for _, name := range []string{
		doubling + "@Z",
		"?f@@YAX" + nested("PEA", "H", "") + "@Z",
		"?f@@YAX" + nested("P6AX", "H", "@Z") + "@Z",
		"?f@@YAX" + nested("V?$A@", "H", "@@") + "@Z",
		nested("?f@?1?", "?g@@YAXXZ", "@YAXXZ"),
		"?x@?$A@$" + nested("2UP@@", "", "@") + "@2HA",
		"?x@?$A@$" + nested("C", "1?y@@3HA", "00@") + "@2HA",
		"?f@@YAX" + nested("V?$A@U12345678901234567890@@V1@@@", "", "") + "@Z",
		"?x@@3PEAYBAAAAAAAAAAAAAAA@" + nested("0", "", "") + "HEA",
		"_Z1f" + nested("P", "i", ""),
		"_Z1f" + nested("N1aI", "", ""),
		"_Z1fI" + nested("S_IS0_E", "", "") + "E",
		"_RINvC1a1b" + nested("TB3_", "", ""),
	} {
		if len(name) > maxName {
			t.Errorf("%.40q is %d bytes long", name, len(name))
		}
		if readable, _ := Name(name); len(readable) > maxText+maxName {
			t.Errorf("%.40q becomes %d bytes", name, len(readable))
		}
	}
}

func FuzzName(f *testing.F) {
	for _, file := range []string{"names.txt", "beyond.txt"} {
		for _, name := range listed(f, file) {
			f.Add(name)
		}
	}
	f.Add("_ZN2ns3BoxIiE3setERKi")
	f.Add("_RINvNtC3std3mem8align_ofjE")
	f.Fuzz(func(t *testing.T, name string) {
		readable, ok := Name(name)
		if !ok && readable != name {
			t.Errorf("%q is not read but becomes %q", name, readable)
		}
		if len(readable) > maxText+maxName {
			t.Errorf("%q becomes %d bytes", name, len(readable))
		}
		if again, same := Name(name); again != readable || same != ok {
			t.Errorf("%q becomes %q and then %q", name, readable, again)
		}
	})
}
