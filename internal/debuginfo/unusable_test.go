package debuginfo

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// used returns the statistics of an image after all of its code was asked for.
func used(t *testing.T, path string) Stats {
	t.Helper()
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	info, err := Open(img, path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer info.Close()
	for _, code := range info.code {
		for rva := code.Start; rva < code.End; rva++ {
			info.Stack(rva)
		}
	}
	return info.Stats()
}

// TestUnusableSplit damages split debug information.
func TestUnusableSplit(t *testing.T) {
	source, cc, dwp := corpus.Path(t, "programs", "shapes.cpp"), corpus.Tool(t, "g++"), corpus.Tool(t, "llvm-dwp-19", "llvm-dwp")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) []byte {
		b, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	put := func(name string, data []byte) {
		if err := os.WriteFile(in(name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := func(level string) (dwo, packed []byte) {
		tool(t, dir, cc, level, "-g", "-gsplit-dwarf", "-c", source, "-o", "shapes.o")
		tool(t, dir, cc, "shapes.o", "-o", "app")
		tool(t, dir, dwp, "-e", "app", "-o", "packed")
		return read("shapes.dwo"), read("packed")
	}
	otherDWO, otherPackage := build("-O1")
	dwo, packed := build("-O2")
	app := read("app")
	other := new(*MismatchError)
	is := func(kind error) func(error) bool { return func(err error) bool { return errors.Is(err, kind) } }
	ofOther := func(err error) bool { return errors.As(err, other) }
	for name, x := range map[string]struct {
		data []byte
		is   func(error) bool
	}{
		"cut": {dwo[:len(dwo)/2], is(binfmt.ErrTruncated)}, "empty": {nil, is(binfmt.ErrTruncated)}, "of another kind": {[]byte("no ELF file at all, but long enough for one, were it one: 64 bytes"), is(binfmt.ErrCorrupt)},
		"without units": {app, is(binfmt.ErrCorrupt)}, "of another build": {otherDWO, ofOther},
	} {
		put("shapes.dwo", x.data)
		s := used(t, in("app"))
		if len(s.Unusable) != 1 || !x.is(s.Unusable[0]) || s.Split != 1 || len(s.Missing)+len(s.BadPackages) != 0 {
			t.Errorf(".dwo %s: %+v", name, s)
		}
	}
	if err := os.Remove(in("shapes.dwo")); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		data []byte
		is   func(error) bool
	}{
		"cut": {packed[:len(packed)/2], is(binfmt.ErrTruncated)}, "empty": {nil, is(binfmt.ErrTruncated)},
		"without index": {app, is(binfmt.ErrTruncated)}, "of another build": {otherPackage, ofOther},
	} {
		put("app.dwp", x.data)
		s := used(t, in("app"))
		if len(s.BadPackages) != 1 || !x.is(s.BadPackages[0]) || len(s.Unusable) != 0 {
			t.Errorf(".dwp %s: %+v", name, s)
		}
	}
	// A good file further on is taken.
	put("shapes.dwo", dwo)
	if s := used(t, in("app")); len(s.Unusable)+len(s.Missing) != 0 || len(s.BadPackages) != 1 {
		t.Errorf("with the right .dwo beside: %+v", s)
	}
}

// TestBuildIDFolder finds a debug file where systems install them.
func TestBuildIDFolder(t *testing.T) {
	objcopy := corpus.Tool(t, "objcopy")
	dir := t.TempDir()
	tool(t, dir, corpus.Tool(t, "g++"), "-O2", "-g", "-Wl,--build-id=sha1", corpus.Path(t, "programs", "shapes.cpp"), "-o", "whole")
	tool(t, dir, objcopy, "--strip-all", "whole", "stripped")
	path := filepath.Join(dir, "stripped")
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	defer func(was string) { systemDebug = was }(systemDebug)
	systemDebug = filepath.Join(dir, "debug")
	if got, unusable := Locate(img, path); got != "" || unusable != nil {
		t.Errorf("without a debug file: %q, %v", got, unusable)
	}
	id := hex.EncodeToString(img.ELF.BuildID)
	want := filepath.Join(systemDebug, ".build-id", id[:2], id[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(want), 0o755); err != nil {
		t.Fatal(err)
	}
	tool(t, dir, objcopy, "--only-keep-debug", "whole", want)
	if got, unusable := Locate(img, path); got != want || unusable != nil {
		t.Errorf("found %q, %v, want %q", got, unusable, want)
	}
	if err := os.Truncate(want, 5000); err != nil {
		t.Fatal(err)
	}
	if got, unusable := Locate(img, path); got != "" || len(unusable) != 1 || !errors.Is(unusable[0], binfmt.ErrTruncated) {
		t.Errorf("cut: found %q, %v", got, unusable)
	}
}

// TestWith goes on without a debug file that turns out to be of no use.
func TestWith(t *testing.T) {
	dir := t.TempDir()
	objcopy := corpus.Tool(t, "objcopy")
	tool(t, dir, corpus.Tool(t, "g++"), "-g", corpus.Path(t, "programs", "shapes.cpp"), "-o", "app")
	tool(t, dir, objcopy, "--only-keep-debug", "app", "app.debug")
	tool(t, dir, objcopy, "--strip-all", "--add-gnu-debuglink=app.debug", "app")
	path := filepath.Join(dir, "app")
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	refuse := func(debug string) error {
		if debug != "" {
			return binfmt.ErrCorrupt
		}
		return nil
	}
	if got, unusable, err := With(img, path, "", refuse); got != "" || len(unusable) != 1 || err != nil {
		t.Errorf("located: %q, %v, %v", got, unusable, err)
	}
	if got, unusable, err := With(img, path, "mine", refuse); got != "mine" || unusable != nil || !errors.Is(err, binfmt.ErrCorrupt) {
		t.Errorf("named: %q, %v, %v", got, unusable, err)
	}
}
