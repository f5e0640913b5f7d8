package ntfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
)

// imageFile writes an image to a file.
func imageFile(t *testing.T, img []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(path, img, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFinder finds a binary by its name and by its identity in an image, beside
// a folder of this machine.
func TestFinder(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	b := newBuilder()
	system := b.folder(b.folder(b.root(), "Windows"), "System32")
	b.add(system, "Some.dll", b.plain([]byte("no image")))
	b.add(system, "Program.exe", b.plain(data))
	name := "ntfs:" + imageFile(t, mbrDisk(512, small("a.txt"), b.build()))

	files := &FS{}
	defer files.Close()
	want := name + "!/windows/System32/Program.exe"
	windows := runtime.GOOS == "windows"
	for _, dirs := range [][]string{{name + "!/windows"}, {t.TempDir(), name + "!2:"}, {want}} {
		f := &image.Finder{Dirs: dirs, FS: files}
		found, err := f.Find(image.Want{Name: "Program.exe", Windows: windows})
		if err != nil {
			t.Fatal(err)
		}
		found.File.Close()
		if !strings.EqualFold(filepath.Base(found.Path), "Program.exe") || !strings.HasPrefix(found.Path, name) {
			t.Errorf("found %s", found.Path)
		}
		if err := errors.Join(f.Problems()...); err != nil {
			t.Error(err)
		}
	}
	// The image of the test is there still when files on this machine are read.
	f := &image.Finder{Dirs: []string{filepath.Dir(exe), name + "!/Windows"}, FS: files}
	found, err := f.Find(image.Want{Name: filepath.Base(exe), Windows: windows})
	if err != nil || found.Path != filepath.ToSlash(exe) && found.Path != exe {
		t.Errorf("found %s, %v", found.Path, err)
	} else {
		found.File.Close()
	}
}

func TestFS(t *testing.T) {
	b := newBuilder()
	sub := b.folder(b.root(), "Sub")
	b.add(sub, "b.txt", resident(typeData, "", 0, []byte("b")))
	b.add(sub, "A.txt", resident(typeData, "", 0, []byte("a")))
	path := imageFile(t, gptDisk(512, fat(), b.build(), small("other")))
	files := &FS{}
	list, err := files.ReadDir("ntfs:" + path + "!/sub")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]image.DirEntry{{Name: "A.txt"}, {Name: "b.txt"}}, list); diff != "" {
		t.Errorf("listing (-want +got):\n%s", diff)
	}
	for _, name := range []string{"ntfs:" + path + "!/SUB", "ntfs:" + path + `!2:\sub\`} {
		real, err := files.RealPath(name)
		resolved, _ := filepath.EvalSymlinks(path)
		if want := "ntfs:" + resolved + "!2:/Sub"; real != want || err != nil {
			t.Errorf("%s is %s, %v", name, real, err)
		}
	}
	for _, name := range []string{"ntfs:" + path + "!/nothing", "ntfs:" + path + "2!/sub", path + "2"} {
		if _, err := files.ReadDir(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadDir of %s: %v", name, err)
		}
		if _, _, err := files.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open of %s: %v", name, err)
		}
		if _, err := files.RealPath(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("RealPath of %s: %v", name, err)
		}
	}
	if err := files.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	path := imageFile(t, small("a.txt"))
	files := &FS{}
	defer files.Close()
	f, size, err := files.Open("ntfs:" + path + "!/a.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(f, size); err != nil || string(got) != "a.txt" {
		t.Errorf("%q, %v", got, err)
	}
	for name, kind := range map[string]error{
		"ntfs:":                             fs.ErrNotExist,
		"ntfs:" + path + "!/b.txt":          fs.ErrNotExist,
		"ntfs:" + path + "!/":               fs.ErrInvalid,
		"ntfs:" + path + "!2:/a.txt":        fs.ErrNotExist,
		"ntfs:" + path + "!0:/a.txt":        fs.ErrNotExist,
		"ntfs:" + t.TempDir() + "!/a.txt":   binfmt.ErrUnsupported,
		"ntfs:" + path + ".missing!/a.txt":  fs.ErrNotExist,
		"ntfs:" + os.DevNull + "!/dev/null": binfmt.ErrUnsupported,
	} {
		if _, _, err := files.Open(name); err == nil {
			t.Errorf("%s was opened", name)
		} else if !errors.Is(err, kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
