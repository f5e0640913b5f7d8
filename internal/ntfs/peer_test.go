package ntfs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// formatted makes a volume with mkntfs and puts files into its root with
// ntfscp.
func formatted(t *testing.T, files map[string][]byte, options ...string) []byte {
	t.Helper()
	mkntfs, ntfscp := corpus.Tool(t, "mkntfs", "mkfs.ntfs"), corpus.Tool(t, "ntfscp")
	dir := t.TempDir()
	img := filepath.Join(dir, "volume")
	if err := os.WriteFile(img, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(img, 8<<20); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	run(mkntfs, append(options, "-F", "-Q", "-q", "-L", "Lab disk", img)...)
	for name, data := range files {
		src := filepath.Join(dir, "src")
		if err := os.WriteFile(src, data, 0o666); err != nil {
			t.Fatal(err)
		}
		run(ntfscp, img, src, name)
	}
	volume, err := os.ReadFile(img)
	if err != nil {
		t.Fatal(err)
	}
	return volume
}

// TestPeer reads what mkntfs and ntfscp wrote, in all containers and with the
// sizes of clusters and sectors that make a difference; with -C it is
// compressed.
func TestPeer(t *testing.T) {
	etl, err := os.ReadFile(corpus.Path(t, "corpus", "etl", "k64.etl"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"k64.etl": etl, "text.txt": numbers(300_001), "small.txt": []byte("resident"), "empty": nil,
		"zeros.bin": append(make([]byte, 200_000), "end"...), "noise.bin": noise(70_000),
	}
	raw := func(v []byte) []byte { return v }
	for _, c := range []struct {
		name    string
		options []string
		disk    func(volume []byte) []byte
		number  int
	}{
		{"raw", nil, raw, 1},
		{"raw, clusters of 512", []string{"-c", "512"}, raw, 1},
		{"raw, clusters of 65536", []string{"-c", "65536"}, raw, 1},
		{"raw, compressed", []string{"-C"}, raw, 1},
		{"MBR", nil, func(v []byte) []byte { return mbrDisk(512, fat(), v) }, 2},
		{"MBR, logical", nil, func(v []byte) []byte { return extendedDisk(512, fat(), v) }, 5},
		{"GPT", nil, func(v []byte) []byte { return gptDisk(512, fat(), nil, v) }, 3},
		{"GPT, sectors of 4096", []string{"-s", "4096", "-c", "4096"}, func(v []byte) []byte { return gptDisk(4096, fat(), v) }, 2},
		{"VHD, compressed", []string{"-C"}, func(v []byte) []byte { return vhd(mbrDisk(512, v), vhdFixed) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			img := filepath.Join(t.TempDir(), "disk.img")
			if err := os.WriteFile(img, c.disk(formatted(t, files, c.options...)), 0o666); err != nil {
				t.Fatal(err)
			}
			images := &FS{}
			defer images.Close()
			for name, data := range files {
				for _, spec := range []Spec{{img, 0, "/" + name}, {img, c.number, "/" + name}} {
					f, size, err := images.Open(spec.String())
					if err != nil {
						t.Fatal(err)
					}
					got, err := readAll(f, size)
					if err != nil || !bytes.Equal(got, data) {
						t.Errorf("%s: %d of %d bytes, %v", name, len(got), len(data), err)
					}
				}
			}
			v, _, _, err := images.volume("ntfs:" + img + "!/")
			if err != nil {
				t.Fatal(err)
			}
			if v.label != "Lab disk" {
				t.Errorf("label %q", v.label)
			}
		})
	}
}
