package debuginfo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/image"
)

// peerFrame is a frame as llvm-symbolizer gives it.
type peerFrame struct {
	FunctionName  string
	StartLine     uint32
	FileName      string
	Line          uint32
	Discriminator uint32
}

// symbolize asks llvm-symbolizer for link-time addresses.
func symbolize(t testing.TB, file string, addresses []uint64) [][]peerFrame {
	t.Helper()
	tool := corpus.Tool(t, "llvm-symbolizer-19", "llvm-symbolizer")
	var in strings.Builder
	for _, a := range addresses {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(tool, "--inlines", "--no-demangle", "--output-style=JSON", "-e", file)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var list [][]peerFrame
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var row struct{ Symbol []peerFrame }
		if err := dec.Decode(&row); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, row.Symbol)
	}
	if len(list) != len(addresses) {
		t.Fatalf("%d answers for %d addresses", len(list), len(addresses))
	}
	return list
}

// truthAddresses are all instructions of a program that valgrind saw.
func truthAddresses(t testing.TB, program string) []uint64 {
	data, err := os.ReadFile(corpus.Path(t, "programs", program+".truth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []uint64
	for _, line := range strings.Split(string(data), "\n")[1:] {
		if line == "" {
			continue
		}
		v, err := strconv.ParseUint(strings.SplitN(line, "\t", 2)[0], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func openInfo(t testing.TB, file, debug string) (*image.File, *Info) {
	t.Helper()
	img, err := image.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	info, err := Open(img, debug)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { info.Close() })
	return img, info
}

// compareStacks compares all frames of addresses where the peer knows a line;
// it returns how many were compared. Elsewhere the peer falls back to symbols.
func compareStacks(t *testing.T, img *image.File, info *Info, file string, addresses []uint64) int {
	t.Helper()
	n, bad := 0, 0
	for i, want := range symbolize(t, file, addresses) {
		if len(want) == 0 || want[0].FileName == "" {
			continue
		}
		n++
		got := info.Stack(uint32(addresses[i] - img.Base))
		if w, g := peerText(want), stackText(got); w != g {
			if bad++; bad <= 5 {
				t.Errorf("%#x:\nwant %s\ngot  %s", addresses[i], w, g)
			}
		}
	}
	if bad > 5 {
		t.Errorf("%d of %d addresses differ", bad, n)
	}
	return n
}

func peerText(frames []peerFrame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s (%d) %s:%d.%d; ", f.FunctionName, f.StartLine, filepath.Clean(f.FileName), f.Line, f.Discriminator)
	}
	return b.String()
}

func stackText(frames []Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s (%d) %s:%d.%d; ", f.Function, f.StartLine, filepath.Clean(f.File), f.Line, f.Discriminator)
	}
	return b.String()
}

func TestProgramsAgainstSymbolizer(t *testing.T) {
	for _, name := range []string{"minivm", "shapes", "wordstat"} {
		t.Run(name, func(t *testing.T) {
			file := corpus.Path(t, "programs", name+".elf")
			img, info := openInfo(t, file, "")
			addresses := truthAddresses(t, name)
			n := compareStacks(t, img, info, file, addresses)
			t.Logf("%d of %d addresses have lines", n, len(addresses))
			if n < 100 {
				t.Errorf("only %d addresses with lines", n)
			}
			if len(info.Problems()) > 0 {
				t.Errorf("problems: %v", info.Problems())
			}
		})
	}
}
