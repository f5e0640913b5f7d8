package image

import (
	"bytes"
	"debug/elf"
	"debug/pe"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

func run(t testing.TB, tool string, args ...string) string {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	// readelf exits with 1 when one of many files is no ELF file.
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && len(out) > 0) {
		t.Fatalf("%s: %v", tool, err)
	}
	return string(out)
}

func programs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "programs"), "*.elf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	return files
}

// systemFiles are installed programs and libraries, whatever the machine has.
func systemFiles(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"/usr/bin/*", "/usr/lib/*-linux-gnu*/*.so*", "/usr/lib64/*.so*"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, name := range list {
			if fi, err := os.Stat(name); err == nil && fi.Mode().IsRegular() && n < 150 {
				files = append(files, name)
				n++
			}
		}
	}
	return files
}

// Build id and load base of every file as readelf has them.
func TestAgainstReadelf(t *testing.T) {
	readelf := corpus.Tool(t, "readelf")
	files := append(programs(t), systemFiles(t)...)
	if exe, err := os.Executable(); err == nil {
		files = append(files, exe)
	}
	text := run(t, readelf, append([]string{"-nlW"}, files...)...)
	buildID := regexp.MustCompile(`Build ID: ([0-9a-f]+)`)
	load := regexp.MustCompile(`(?m)^  LOAD +0x\w+ (0x\w+) `)
	count, withID := 0, 0
	for _, part := range strings.Split(text, "\nFile: ")[1:] {
		name, part, _ := strings.Cut(part, "\n")
		if !strings.Contains(part, "Program Headers:") {
			continue
		}
		f, err := Open(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		count++
		want := ""
		if m := buildID.FindStringSubmatch(part); m != nil {
			want = m[1]
			withID++
		}
		if got := hex.EncodeToString(f.ELF.BuildID); got != want {
			t.Errorf("%s: build id %s, readelf has %s", name, got, want)
		}
		base := ^uint64(0)
		for _, m := range load.FindAllStringSubmatch(part, -1) {
			va, err := strconv.ParseUint(m[1], 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			base = min(base, va&^0xfff)
		}
		if f.Base != base || f.ELF.Kernel {
			t.Errorf("%s: base %#x, readelf has %#x", name, f.Base, base)
		}
		if f.Warnings != nil {
			t.Errorf("%s: warnings %v", name, f.Warnings)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if count < 3 || withID < 3 {
		t.Errorf("%d files compared, %d with build id", count, withID)
	}
	t.Logf("%d files, %d with build id", count, withID)
}

// The Go linker's id, in the program that runs this test.
func TestAgainstGoBuildID(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	want := strings.TrimSpace(run(t, corpus.Tool(t, "go"), "tool", "buildid", exe))
	f, err := Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.ELF == nil {
		t.Skipf("a %v host", f.Kind) // the id of a PE is in its code
	}
	if want == "" || f.ELF.GoBuildID != want {
		t.Errorf("Go build id %q, want %q", f.ELF.GoBuildID, want)
	}
}

// Symbols and sections of the programs as debug/elf has them, and the two
// directions of address conversion over every byte of code.
func TestAgainstDebugELF(t *testing.T) {
	for _, name := range programs(t) {
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		peer, err := elf.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		syms, err := peer.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		want := []Symbol{{}}
		for _, s := range syms {
			want = append(want, Symbol{s.Name, s.Value, s.Size, elf.ST_TYPE(s.Info), elf.ST_BIND(s.Info), s.Section})
		}
		var got []Symbol
		for s, err := range f.ELF.Symbols() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: symbols differ:\n%s", name, diff)
		}
		var wantSections []Section
		for _, s := range peer.Sections {
			if s.Flags&elf.SHF_ALLOC != 0 {
				wantSections = append(wantSections, Section{Name: s.Name, RVA: s.Addr - f.Base, Size: s.Size, Offset: s.Offset, FileSize: s.FileSize,
					Exec: s.Flags&elf.SHF_EXECINSTR != 0})
				if s.Type == elf.SHT_NOBITS {
					wantSections[len(wantSections)-1].FileSize = 0
				}
			}
		}
		if diff := cmp.Diff(wantSections, f.Sections); diff != "" {
			t.Errorf("%s: sections differ:\n%s", name, diff)
		}
		for _, s := range f.Sections {
			if !s.Exec {
				continue
			}
			for i := uint64(0); i < s.Size; i++ {
				if rva, ok := f.RVA(s.Offset + i); rva != s.RVA+i || !ok {
					t.Fatalf("%s: %s: RVA(%#x) = %#x, %v", name, s.Name, s.Offset+i, rva, ok)
				}
				if off, n, ok := f.FileOffset(s.RVA + i); off != s.Offset+i || n < s.Size-i || !ok {
					t.Fatalf("%s: %s: FileOffset(%#x) = %#x, %d, %v", name, s.Name, s.RVA+i, off, n, ok)
				}
			}
			code := make([]byte, s.Size)
			wantCode, err := peer.Section(s.Name).Data()
			if err != nil {
				t.Fatal(err)
			}
			if n, err := f.ReadAtRVA(code, s.RVA); n != len(code) || err != nil || !bytes.Equal(code, wantCode) {
				t.Errorf("%s: %s: ReadAtRVA = %d, %v", name, s.Name, n, err)
			}
		}
		peer.Close()
		f.Close()
	}
}

// Every instruction that was executed lies in code of the image.
func TestProgramTruthLiesInCode(t *testing.T) {
	for _, name := range programs(t) {
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(strings.TrimSuffix(name, ".elf") + ".truth.tsv")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")[1:]
		for _, line := range lines {
			address, err := strconv.ParseUint(strings.Split(line, "\t")[0], 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			off, _, ok := f.FileOffset(address - f.Base)
			va, okBack := f.ELF.FileOffsetToVA(off)
			if !ok || !okBack || va != address {
				t.Errorf("%s: address %#x: offset %#x, back %#x", name, address, off, va)
			}
			inCode := false
			for _, s := range f.Sections {
				inCode = inCode || s.Exec && address-f.Base >= s.RVA && address-f.Base-s.RVA < s.Size
			}
			if !inCode {
				t.Errorf("%s: address %#x is not in code", name, address)
			}
		}
		if len(lines) < 50 {
			t.Errorf("%s: only %d instructions", name, len(lines))
		}
		f.Close()
	}
}

func peFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "programs", "pe"), "*.exe"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	return files
}

// The RSDS record names the PDB that llvm-pdbutil describes, and the headers
// are those that llvm-readobj and debug/pe read.
func TestPEAgainstPeers(t *testing.T) {
	readobj := corpus.Tool(t, "llvm-readobj-19", "llvm-readobj")
	pdbutil := corpus.Tool(t, "llvm-pdbutil-19", "llvm-pdbutil")
	for _, name := range peFiles(t) {
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if f.Warnings != nil {
			t.Errorf("%s: %v", name, f.Warnings)
		}
		pdb := strings.TrimSuffix(name, ".exe") + ".pdb"
		if filepath.Base(f.PE.CodeView.PDB) != filepath.Base(pdb) {
			t.Errorf("%s names %s", name, f.PE.CodeView.PDB)
		}
		summary := run(t, pdbutil, "dump", "-summary", pdb)
		id, _ := f.ID()
		for _, want := range []string{fmt.Sprintf("  GUID: %v\n", id.GUID), fmt.Sprintf("  Age: %d\n", id.Age)} {
			if !strings.Contains(summary, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, summary)
			}
		}
		text := run(t, readobj, "--file-headers", "--coff-debug-directory", name)
		p := f.PE
		wants := []string{
			fmt.Sprintf("(%#X)\n  PointerToSymbolTable", p.TimeDateStamp), fmt.Sprintf("SizeOfImage: %d\n", p.SizeOfImage),
			fmt.Sprintf("SizeOfHeaders: %d\n", p.SizeOfHeaders), fmt.Sprintf("ImageBase: 0x%X\n", p.ImageBase),
			fmt.Sprintf("CheckSum: 0x%X\n", p.CheckSum), fmt.Sprintf("(0x%X)\n  SectionCount: %d\n", p.Machine, len(p.Sections)),
			fmt.Sprintf("SectionAlignment: %d\n", p.SectionAlign),
		}
		for _, e := range p.Debug {
			wants = append(wants, fmt.Sprintf("SizeOfData: 0x%X\n    AddressOfRawData: 0x%X\n    PointerToRawData: 0x%X\n", e.SizeOfData, e.AddressOfRawData, e.PointerToRawData))
		}
		for _, want := range wants {
			if !strings.Contains(text, strings.Replace(want, "0X", "0x", 1)) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
		peer, err := pe.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range peer.Sections {
			want := PESection{s.Name, s.VirtualSize, s.VirtualAddress, s.Size, s.Offset, s.Characteristics}
			if p.Sections[i] != want {
				t.Errorf("%s: section %+v, debug/pe has %+v", name, p.Sections[i], want)
			}
			if s.Characteristics&pe.IMAGE_SCN_MEM_EXECUTE == 0 {
				continue
			}
			code, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, s.VirtualSize)
			if n, err := f.ReadAtRVA(got, uint64(s.VirtualAddress)); n != len(got) || err != nil || !bytes.Equal(got, code[:n]) {
				t.Errorf("%s: %s: ReadAtRVA = %d, %v", name, s.Name, n, err)
			}
		}
		peer.Close()
		f.Close()
	}
}

// Files of other machines, made by clang and lld: byte orders, classes, a
// kernel module's format, PE of 32 bits and of Arm.
func TestAgainstLinkers(t *testing.T) {
	clang, lld := corpus.Tool(t, "clang-19", "clang"), corpus.Tool(t, "ld.lld-19", "ld.lld")
	link := corpus.Tool(t, "lld-link-19", "lld-link")
	dir := t.TempDir()
	src := filepath.Join(dir, "a.c")
	if err := os.WriteFile(src, []byte("int data[4] = {1, 2};\nint start(int i) { return data[i & 3] + 1; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		target, id string
		arch       Arch
		bits       int
		big        bool
	}{
		{"x86_64-linux-gnu", "sha1", ArchAMD64, 64, false},
		{"i386-linux-gnu", "uuid", ArchX86, 32, false},
		{"aarch64-linux-gnu", "0xe92f46d2108b8df2", ArchARM64, 64, false},
		{"powerpc64-linux-gnu", "md5", ArchPPC64, 64, true},
		{"riscv64-linux-gnu", "fast", ArchRISCV, 64, false},
		{"mips-linux-gnu", "sha1", "machine 0x8", 32, true},
	} {
		t.Run(tc.target, func(t *testing.T) {
			obj, out := filepath.Join(dir, tc.target+".o"), filepath.Join(dir, tc.target)
			run(t, clang, "--target="+tc.target, "-O1", "-c", "-o", obj, src)
			run(t, lld, "--build-id="+tc.id, "-e", "start", "-o", out, obj)
			f, err := Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			peer, err := elf.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			note, err := peer.Section(".note.gnu.build-id").Data()
			if err != nil {
				t.Fatal(err)
			}
			if f.Arch != tc.arch || f.ELF.Bits != tc.bits || f.ELF.BigEndian != tc.big || !bytes.Equal(f.ELF.BuildID, note[16:]) {
				t.Errorf("%v, %d bits, big %v, build id %x, want %x", f.Arch, f.ELF.Bits, f.ELF.BigEndian, f.ELF.BuildID, note[16:])
			}
			sym, ok, err := f.ELF.Symbol("start")
			text := peer.Section(".text")
			if !ok || err != nil || sym.Type != elf.STT_FUNC {
				t.Fatalf("start: %+v, %v, %v", sym, ok, err)
			}
			if tc.arch == ArchPPC64 {
				return // the symbol is a function descriptor
			}
			off, _, ok := f.FileOffset(sym.Value - f.Base)
			if want := sym.Value - text.Addr + text.Offset; !ok || off != want {
				t.Errorf("start is at offset %#x, want %#x", off, want)
			}
			if rva, ok := f.RVA(off); !ok || rva != sym.Value-f.Base {
				t.Errorf("RVA(%#x) = %#x", off, rva)
			}
			o, err := Open(obj)
			if err != nil || !o.ELF.Relocatable() {
				t.Fatalf("object: %v", err)
			}
			o.Close()
		})
	}
	for target, arch := range map[string]Arch{"x86_64": ArchAMD64, "i686": ArchX86, "aarch64": ArchARM64} {
		t.Run(target+"-windows", func(t *testing.T) {
			obj, out := filepath.Join(dir, target+".obj"), filepath.Join(dir, target+".dll")
			run(t, clang, "--target="+target+"-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-c", "-o", obj, src)
			run(t, link, "/dll", "/noentry", "/debug", "/export:start", "/brepro", "/out:"+out, obj)
			f, err := Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			peer, err := pe.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			if id, source := f.ID(); f.Arch != arch || source != IDRSDS || id.GUID == (binfmt.GUID{}) || id.Age != 1 {
				t.Errorf("%v, %v by %v", f.Arch, id, source)
			}
			const repro = 16
			if n := len(f.PE.Debug); n != 2 || f.PE.Debug[1].Type != repro || f.PE.TimeDateStamp != peer.TimeDateStamp {
				t.Errorf("debug directory %+v", f.PE.Debug)
			}
			text := peer.Section(".text")
			if rva, ok := f.RVA(uint64(text.Offset)); !ok || rva != uint64(text.VirtualAddress) {
				t.Errorf("RVA of .text = %#x, %v", rva, ok)
			}
		})
	}
}
