package ingest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// loadBase is where the sample programs are linked to and loaded.
const loadBase = 0x400000

// instructions are the addresses of a program's instructions that ran.
func instructions(t *testing.T, path string) map[uint64]bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[uint64]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		cols := strings.Split(line, "\t")
		addr, err := strconv.ParseUint(cols[0], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		ran[addr] = cols[2] != "0"
	}
	return ran
}

// TestPrograms compares the RVAs of programs whose every executed instruction
// is known, and of their raw samples, address by address.
func TestPrograms(t *testing.T) {
	for _, program := range []string{"minivm", "wordstat", "shapes"} {
		ran := instructions(t, corpus.Path(t, "programs", program+".truth.tsv"))
		for _, kind := range []string{".data", ".insn.data", ".ip.data"} {
			path := corpus.Path(t, "programs", program+kind)
			r := readAll(path, nil, Options{Workers: 2, KeepBias: true, InsideOnly: true, ImagePath: []string{filepath.Dir(path)}})
			if r.err != nil {
				t.Fatal(r.err)
			}
			checkTotals(t, r.facts)
			index, b := r.find(t, program+".elf")
			if b.FileOffsets || b.Identity != sample.IdentityMMAP2 || b.GUID.IsZero() {
				t.Errorf("%s%s: binary %+v", program, kind, b)
			}
			hits, entries := 0, 0
			check := func(rva uint32, n uint64) {
				if !ran[loadBase+uint64(rva)] {
					t.Errorf("%s%s: %#x is no instruction that ran", program, kind, rva)
				}
				hits += int(n)
			}
			ips := map[uint64]uint64{}
			for hit, n := range r.ips {
				if hit.binary == index {
					check(hit.rva, n)
					ips[loadBase+uint64(hit.rva)] += n
				}
			}
			arcs := map[[2]uint64]uint64{}
			for a, n := range r.arcs {
				if a.binary == index {
					check(a.from, n)
					check(a.to, n)
					entries += int(n)
					arcs[[2]uint64{loadBase + uint64(a.from), loadBase + uint64(a.to)}] += n
				}
			}
			wantIPs, wantArcs := insideProgram(t, path, ran)
			same(t, program+kind+" addresses", wantIPs, ips)
			same(t, program+kind+" branches", wantArcs, arcs)
			if isIP := kind == ".ip.data"; hits < 1000 || (entries == 0) != isIP {
				t.Errorf("%s%s: %d hits, %d branches", program, kind, hits, entries)
			}
		}
	}
}

// insideProgram counts the raw samples and branches between the lowest and the
// highest instruction of a program, by address.
func insideProgram(t *testing.T, path string, ran map[uint64]bool) (ips map[uint64]uint64, arcs map[[2]uint64]uint64) {
	t.Helper()
	low, high := ^uint64(0), uint64(0)
	for a := range ran {
		low, high = min(low, a&^0xfff), max(high, a|0xfff)
	}
	inside := func(a uint64) bool { return low <= a && a <= high }
	f, err := perfdata.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ips, arcs = map[uint64]uint64{}, map[[2]uint64]uint64{}
	decoder := f.NewDecoder(perfdata.SampleIP | perfdata.SampleBranchStack)
	rs := f.Records()
	defer rs.Close()
	var s perfdata.Sample
	for rs.Next() {
		if r := rs.Record(); r.Type != perfdata.TypeSample || decoder.Decode(r, &s) != perfdata.DefectNone {
			continue
		}
		if inside(s.IP) {
			ips[s.IP]++
		}
		for _, b := range s.Branches {
			if inside(b.From) && inside(b.To) {
				arcs[[2]uint64{b.From, b.To}]++
			}
		}
	}
	return ips, arcs
}

// TestWinePrograms reads recordings of Windows programs under Wine. The code of
// minivm.exe is anonymous memory to perf; over 99 % of the samples must be its
// all the same. wordstat.exe ends before Wine is done with itself.
func TestWinePrograms(t *testing.T) {
	for _, tc := range []struct {
		program string
		guid    string // as llvm-pdbutil prints that of the PDB
		hits    uint64
		user    uint64 // samples outside the kernel, those of the loader included
	}{
		{"minivm.exe", "{008B8BD7-179D-C6AB-4C4C-44205044422E}", 1228, 1237},
		{"wordstat.exe", "", 12, 79},
	} {
		path := corpus.Path(t, "programs", "pe", tc.program+".data")
		r := readAll(path, nil, Options{Workers: 2, KeepBias: true, InsideOnly: true, ImagePath: []string{filepath.Dir(path)}, Processes: []string{tc.program}})
		if r.err != nil {
			t.Fatal(r.err)
		}
		checkTotals(t, r.facts)
		index, b := r.find(t, tc.program)
		if b.Identity != sample.IdentityPE || b.Age != 1 || tc.guid != "" && b.GUID.String() != tc.guid {
			t.Errorf("%s: %v age %d by %s", tc.program, b.GUID, b.Age, b.Identity)
		}
		var hits uint64
		for hit, n := range r.ips {
			if hit.binary == index {
				hits += n
			}
		}
		window, user := insideWindow(t, path)
		if hits != window || hits != tc.hits {
			t.Errorf("%s: %d hits of %d raw samples in its window, want %d", tc.program, hits, window, tc.hits)
		}
		if user != tc.user {
			t.Errorf("%s: %d raw user samples, want %d", tc.program, user, tc.user)
		}
		if r.facts.Stats.Processes[tc.program] == 0 {
			t.Errorf("processes %v", r.facts.Stats.Processes)
		}
	}
}

// insideWindow counts the raw user samples of a recording and those inside the
// window that the first map of an .exe file opens: its size is that of the
// reservation before it.
func insideWindow(t *testing.T, path string) (n, user uint64) {
	t.Helper()
	f, err := perfdata.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	decoder := f.NewDecoder(perfdata.SampleIP)
	rs := f.Records()
	defer rs.Close()
	var ips []uint64
	var low, high, reserved uint64
	for rs.Next() {
		var m perfdata.Mmap
		var s perfdata.Sample
		switch r := rs.Record(); r.Type {
		case perfdata.TypeMmap2:
			if _, err := f.Decode(r, &m); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(m.Name, ".exe") && m.PgOff == 0 && low == 0 {
				low, high = m.Addr, m.Addr+reserved
			}
			reserved = m.Len
		case perfdata.TypeSample:
			if decoder.Decode(r, &s) == perfdata.DefectNone && s.Mode() == perfdata.ModeUser {
				ips = append(ips, s.IP)
			}
		}
	}
	for _, ip := range ips {
		if low <= ip && ip < high {
			n++
		}
	}
	return n, uint64(len(ips))
}

// TestGUIDOfPDB compares the identity of a program under Wine with what a peer
// reads from the program's PDB.
func TestGUIDOfPDB(t *testing.T) {
	tool := corpus.Tool(t, "llvm-pdbutil-19", "llvm-pdbutil")
	for _, program := range []string{"minivm", "wordstat"} {
		pdb := corpus.Path(t, "programs", "pe", program+".pdb")
		out, err := exec.Command(tool, "dump", "-summary", pdb).Output()
		if err != nil {
			t.Fatal(err)
		}
		_, guid, _ := strings.Cut(string(out), "GUID: ")
		guid, _, _ = strings.Cut(guid, "\n")
		r := readAll(corpus.Path(t, "programs", "pe", program+".exe.data"), nil, Options{ImagePath: []string{filepath.Dir(pdb)}})
		if r.err != nil {
			t.Fatal(r.err)
		}
		if _, b := r.find(t, program+".exe"); b.GUID.String() != guid || guid == "" {
			t.Errorf("%s: %v, the PDB has %q", program, b.GUID, guid)
		}
	}
}
