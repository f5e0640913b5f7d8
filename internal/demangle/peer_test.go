package demangle

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/pdb"
)

// undname asks llvm-undname; an empty answer means that it does not read the
// name.
func undname(t *testing.T, names []string) []string {
	t.Helper()
	cmd := exec.Command(corpus.Tool(t, "llvm-undname-19", "llvm-undname"))
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	// It repeats each name, then the readable form unless it fails, then an
	// empty line; failures make the exit code.
	out, err := cmd.Output()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	answers := make([]string, len(names))
	for i, name := range names {
		for len(lines) > 0 && lines[0] == "" {
			lines = lines[1:]
		}
		if len(lines) < 2 || lines[0] != name {
			t.Fatalf("no answer for %s", name)
		}
		answers[i] = lines[1]
		lines = lines[2:]
	}
	return answers
}

// explained are the differences that are meant; beyond.txt has them one by
// one.
var anonymousHash = regexp.MustCompile(`\b0x[0-9A-Fa-f]{8}\b`)

func explained(name, ours, theirs string) bool {
	return anonymousHash.ReplaceAllString(theirs, anonymous) == ours ||
		strings.Contains(name, "@@Yw") && strings.ReplaceAll(ours, "__regcall ", "") == theirs
}

// compare compares all names with llvm-undname and returns how many it read
// and how many are equal. A difference must be one of those that are meant.
func compare(t *testing.T, names []string) (read, equal int) {
	t.Helper()
	for i, theirs := range undname(t, names) {
		if theirs == "" {
			continue
		}
		read++
		ours, ok := Name(names[i])
		switch {
		case ok && ours == theirs:
			equal++
		case explained(names[i], ours, theirs):
			t.Logf("meant: %s\n ours   %s\n theirs %s", names[i], ours, theirs)
		default:
			t.Errorf("%s\n ours   %s\n theirs %s", names[i], ours, theirs)
		}
	}
	t.Logf("%d names, %d read by llvm-undname, %d equal", len(names), read, equal)
	return read, equal
}

func TestPeerListed(t *testing.T) {
	names := listed(t, "names.txt")
	if _, equal := compare(t, names); equal != len(names) {
		t.Errorf("%d of %d names are equal", equal, len(names))
	}
	names = listed(t, "beyond.txt")
	for i, theirs := range undname(t, names) {
		if ours, _ := Name(names[i]); ours == theirs {
			t.Errorf("%s does not differ: it belongs to names.txt", names[i])
		}
	}
}

// symbolsOf lists the Microsoft symbols of object files and libraries.
func symbolsOf(t *testing.T, files ...string) []string {
	t.Helper()
	out, err := exec.Command(corpus.Tool(t, "llvm-nm-19", "llvm-nm"), append([]string{"--format=just-symbols"}, files...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range strings.Fields(string(out)) {
		line = strings.TrimPrefix(line, "__imp_")
		if strings.HasPrefix(line, "?") || strings.HasPrefix(line, ".?A") {
			names = append(names, line)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestPeerClang compiles the sources of testdata for three machines.
func TestPeerClang(t *testing.T) {
	clang := corpus.Tool(t, "clang-19", "clang")
	sources, err := filepath.Glob("testdata/*.cpp")
	if err != nil || len(sources) == 0 {
		t.Fatal("no sources", err)
	}
	var objects []string
	for _, machine := range []string{"x86_64", "i686", "aarch64"} {
		for _, source := range sources {
			object := filepath.Join(t.TempDir(), filepath.Base(source)+machine+".obj")
			cmd := exec.Command(clang, "--target="+machine+"-pc-windows-msvc", "-std=c++20", "-w", "-fcxx-exceptions", "-fexceptions", "-c", source, "-o", object)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s for %s: %v\n%s", source, machine, err, bytes.TrimSpace(out))
			}
			objects = append(objects, object)
		}
	}
	read, equal := compare(t, symbolsOf(t, objects...))
	if read < 800 || equal*100 < read*99 {
		t.Errorf("%d of %d equal, want 99 %% of 800 or more", equal, read)
	}
}

// TestPeerLibraries reads the names in the import libraries of MinGW, which are
// those that Microsoft's compilers gave to the functions of their DLLs.
func TestPeerLibraries(t *testing.T) {
	var libraries []string
	for _, dir := range []string{"/usr/x86_64-w64-mingw32/lib", "/usr/i686-w64-mingw32/lib"} {
		found, err := filepath.Glob(dir + "/libmsv*.a")
		if err != nil {
			t.Fatal(err)
		}
		libraries = append(libraries, found...)
	}
	if len(libraries) == 0 {
		corpus.Unavailable(t, "import libraries missing")
	}
	if read, equal := compare(t, symbolsOf(t, libraries...)); read == 0 || equal != read {
		t.Errorf("%d of %d equal", equal, read)
	}
}

// TestProgramNames reads the public names of programs in C, of which none is
// decorated.
func TestProgramNames(t *testing.T) {
	names := 0
	for _, program := range []string{"minivm", "wordstat"} {
		f, err := pdb.Open(corpus.Path(t, "programs", "pe", program+".pdb"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for public, err := range f.Publics() {
			if err != nil {
				t.Fatal(err)
			}
			names++
			if readable, ok := Name(public.Name); ok {
				t.Errorf("%s becomes %s", public.Name, readable)
			}
		}
	}
	if names < 20 {
		t.Errorf("%d names, want more", names)
	}
}
