package ingest

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

const (
	idA = "a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4"
	idB = "b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func guid(id string) binfmt.GUID { return image.GUIDFromBuildID(unhex(id)) }

// identities lists the registered binaries as "NAME GUID-or-none how", with a
// mark on those whose addresses are file offsets.
func identities(reg *registry) string {
	var list []string
	for _, b := range reg.binaries {
		id := "none"
		if !b.GUID.IsZero() {
			id = fmt.Sprintf("%x", b.GUID[:4])
		}
		s := fmt.Sprintf("%s %s %s", b.Name, id, b.Identity)
		if b.FileOffsets {
			s += " offsets"
		}
		list = append(list, s)
	}
	return strings.Join(list, "; ")
}

// TestBuildIDs checks where identities come from, without files on disk.
func TestBuildIDs(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		table        []perfdata.BuildID
		want         string
	}{
		{"in the map", `1 map 10 1000+1000 0 /t/app id=` + idA, nil, "app a1a2a3a4 mmap2 build-id offsets"},
		{"in the table", `1 map 10 1000+1000 0 /t/app`,
			[]perfdata.BuildID{{ID: unhex(idB), Name: "/t/app"}}, "app b1b2b3b4 build-id table offsets"},
		{"the map's counts more", `1 map 10 1000+1000 0 /t/app id=` + idA,
			[]perfdata.BuildID{{ID: unhex(idB), Name: "/t/app"}}, "app a1a2a3a4 mmap2 build-id offsets"},
		{"of another path", `1 map 10 1000+1000 0 /t/app`,
			[]perfdata.BuildID{{ID: unhex(idB), Name: "/u/app"}}, "app none none offsets"},
		{"short", `1 map 10 1000+1000 0 /t/app id=a1a2a3a4a5a6a7a8`, nil, "app a1a2a3a4 mmap2 build-id offsets"},
		{"two builds of one path", `
			1 map 10 1000+1000 0 /t/app id=` + idA + `
			2 map 11 1000+1000 0 /t/app id=` + idB, nil, "app a1a2a3a4 mmap2 build-id offsets; app b1b2b3b4 mmap2 build-id offsets"},
		{"padded and not", `
			1 map 10 1000+1000 0 /t/app id=a1a2a3a4a5a6a7a8
			2 map 11 1000+1000 0 /t/app id=a1a2a3a4a5a6a7a8000000000000000000000000`, nil, "app a1a2a3a4 mmap2 build-id offsets"},
		{"file that replaced a deleted one", `
			1 map 10 1000+1000 0 /t/app~(deleted)
			2 map 11 1000+1000 0 /t/app`,
			[]perfdata.BuildID{{ID: unhex(idB), Name: "/t/app"}}, "app none none offsets; app b1b2b3b4 build-id table offsets"},
		{"deleted file by its exact name", `1 map 10 1000+1000 0 /t/app~(deleted)`,
			[]perfdata.BuildID{{ID: unhex(idB), Name: "/t/app (deleted)"}}, "app b1b2b3b4 build-id table offsets"},
		{"kernel, module and vdso", `
			0 map -1 ffffffff81000000+1000 ffffffff81000000 [kernel.kallsyms]_text kernel
			0 map -1 ffffffffc0100000+1000 0 [nf_nat] kernel
			1 map 10 1000+1000 0 [vdso]`,
			[]perfdata.BuildID{{ID: unhex(idA), Name: "[kernel.kallsyms]", Mode: perfdata.ModeKernel}, {ID: unhex(idB), Name: "[nf_nat]", Mode: perfdata.ModeKernel},
				{ID: unhex("c1c2c3c4c5c6c7c8"), Name: "[vdso]"}},
			"[kernel.kallsyms] a1a2a3a4 build-id table; [nf_nat] b1b2b3b4 build-id table; [vdso] c1c2c3c4 build-id table"},
		{"kernel's in the map", `0 map -1 ffffffff81000000+1000 ffffffff81000000 [kernel.kallsyms]_text kernel id=` + idA, nil,
			"[kernel.kallsyms] a1a2a3a4 mmap2 build-id"},
		{"kernel by another symbol", `0 map -1 ffffffff81000000+1000 ffffffff81000000 [kernel.kallsyms]_stext kernel id=` + idA, nil,
			"[kernel.kallsyms] a1a2a3a4 mmap2 build-id offsets"},
	} {
		path := recording{features: perfdata.Features{BuildIDs: tc.table}}.write(t, tc.script)
		_, _, reg := outcome(t, path, Options{})
		if got := identities(reg); got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// TestELF checks how files on disk are found and trusted, and that addresses
// go through their program headers. The recorded program is built at /t/app
// of the traced machine.
func TestELF(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dir := writeFiles(t, map[string][]byte{
		"a/app": shifted(unhex(idA)), "b/app": shifted(unhex(idB)), "plain/app": shifted(nil), "text/app": []byte("#!/bin/sh\n"),
		"small/app": elfImage{}.bytes(),
	})
	in := func(folder string) Options { return Options{ImagePath: []string{filepath.Join(dir, folder)}} }
	at := func(folder string) Options { return Options{PathMap: []PathMap{{"/t", filepath.Join(dir, folder)}}} }
	local := func(folder string) string { return filepath.Join(dir, folder, "app") }
	const asRVA, asOffset = "ip app+1810", "ip app+810"
	for _, tc := range []struct {
		name, file, flags, host string
		options                 Options
		want, ip, codes         string
	}{
		{"image path", "/t/app", "id=" + idA, "", in("a"), "app a1a2a3a4 mmap2 build-id", asRVA, ""},
		{"image path with several", "/t/app", "id=" + idB, "", in("."), "app b1b2b3b4 mmap2 build-id", asRVA, ""},
		{"other build in the image path", "/t/app", "id=" + idA, "", in("b"), "app a1a2a3a4 mmap2 build-id offsets", asOffset, "SPT1002 SPT1010"},
		{"under another name", "/t/tool", "id=" + idA, "", in("a"), "tool a1a2a3a4 mmap2 build-id", "ip tool+1810", ""},
		{"file under another name", "/t/tool", "id=" + idA, "", in("a/app"), "tool a1a2a3a4 mmap2 build-id", "ip tool+1810", ""},
		{"no file in the image path", "/t/tool", "id=" + idA, "", in("b"), "tool a1a2a3a4 mmap2 build-id offsets", "ip tool+810", "SPT1002"},
		{"under another name, recording without build id", "/t/tool", "", "", in("a"), "tool none none offsets", "ip tool+810", "SPT1001 SPT1002"},
		{"file without build id", "/t/app", "id=" + idA, "", in("plain"), "app a1a2a3a4 mmap2 build-id offsets", asOffset, "SPT1002 SPT1010"},
		{"recording without build id", "/t/app", "", "", in("a"), "app a1a2a3a4 file build-id", asRVA, ""},
		{"neither has one", "/t/app", "", "", in("plain"), "app none none", asRVA, "SPT1001"},
		{"no program", "/t/app", "id=" + idA, "", in("text"), "app a1a2a3a4 mmap2 build-id offsets", asOffset, "SPT1002 SPT1010"},
		{"segments do not hold what is mapped", "/t/app", "", "", in("small"), "app none none offsets", asOffset, "SPT1001 SPT1002 SPT1010"},
		{"path map", "/t/app", "id=" + idA, "", at("a"), "app a1a2a3a4 mmap2 build-id", asRVA, ""},
		{"path map of another machine", "/t/app", "", "elsewhere", at("b"), "app b1b2b3b4 file build-id", asRVA, ""},
		{"path map to another build", "/t/app", "id=" + idA, "", at("b"), "app a1a2a3a4 mmap2 build-id offsets", asOffset, "SPT1002 SPT1010"},
		{"own path", local("a"), "", host, Options{}, "app a1a2a3a4 file build-id", asRVA, ""},
		{"own path, host not recorded", local("a"), "", "", Options{}, "app a1a2a3a4 file build-id", asRVA, ""},
		{"own path on another machine", local("a"), "", "elsewhere", Options{}, "app none none offsets", asOffset, "SPT1001 SPT1002"},
		{"own path on another machine, same build", local("a"), "id=" + idA, "elsewhere", Options{}, "app a1a2a3a4 mmap2 build-id", asRVA, ""},
		{"own path, rebuilt", local("b"), "id=" + idA, host, Options{}, "app a1a2a3a4 mmap2 build-id offsets", asOffset, "SPT1002 SPT1010"},
		{"own path, deleted", local("a") + "~(deleted)", "", host, Options{}, "app none none offsets", asOffset, "SPT1001 SPT1002"},
		{"own path, deleted, same build", local("a") + "~(deleted)", "id=" + idA, host, Options{}, "app a1a2a3a4 mmap2 build-id", asRVA, ""},
		{"other id with the same beginning", "/t/app", "id=" + idA[:16] + "000000000000000000000000", "", in("."), "app a1a2a3a4 mmap2 build-id offsets", asOffset, "SPT1002 SPT1010"},
	} {
		path := recording{features: perfdata.Features{Hostname: tc.host}}.write(t, fmt.Sprintf(`
			1 map 10 7000+1000 0 %s %s
			2 sample 10 7810`, tc.file, tc.flags))
		got, facts, reg := outcome(t, path, tc.options)
		if ids := identities(reg); ids != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.name, ids, tc.want)
		}
		if want := tc.ip + "\nsamples: used:1\n"; got != want {
			t.Errorf("%s: got %s, want %s", tc.name, got, want)
		}
		if c := codes(facts); c != tc.codes {
			t.Errorf("%s: warnings %q, want %q", tc.name, c, tc.codes)
		}
	}
}

// TestSegments checks addresses in maps of more than one segment.
func TestSegments(t *testing.T) {
	dir := writeFiles(t, map[string][]byte{"app": shifted(unhex(idA))})
	options := Options{ImagePath: []string{dir}}
	for _, sc := range []scenario{
		{name: "whole file in one map", script: `
			1 map 10 700000+3000 0 /t/app id=` + idA + `
			2 sample 10 700810
			2 sample 10 7019ff
			2 sample 10 701a00 # between the segments
			2 sample 10 702000
			2 sample 10 702fff`,
			want: `ip app+1810
			ip app+29ff
			ip app+4000
			ip app+4fff
			samples: used:4 unmapped:1`},
		{name: "branches between segments of one map", script: `
			1 map 10 700000+3000 0 /t/app id=` + idA + `
			2 sample 10 700810 lbr 700820>702010 702020>700830`,
			want: `ip app+1810
			lbr app 1820>4010 4020>1830
			samples: used:1
			branches: used:2`},
		{name: "segments in maps of their own", script: `
			1 map 10 700000+2000 0 /t/app id=` + idA + `
			1 map 10 900000+1000 2000 /t/app id=` + idA + `
			2 sample 10 700810
			2 sample 10 900010`,
			want: `ip app+1810
			ip app+4010
			samples: used:2`},
		{name: "map that starts inside a segment", script: `
			1 map 10 700000+1000 1000 /t/app id=` + idA + `
			2 sample 10 700010`,
			want: `ip app+2010
			samples: used:1`},
		{name: "page before the segment", script: `
			1 map 10 700000+1000 0 /t/app id=` + idA + `
			2 sample 10 700010`,
			want: `ip app+1010
			samples: used:1`},
		{name: "text on huge pages across segments", script: `
			1 map 10 700000+3000 0 /t/app id=` + idA + `
			2 map 10 700000+3000 700000 //anon
			3 sample 10 700810
			3 sample 10 702010`,
			want: `ip app+1810
			ip app+4010
			samples: used:2`},
	} {
		sc.options = options
		sc.run(t)
	}
}

// TestKernelSymbols checks that vmlinux tells how far the symbol of the
// kernel's map is from _text.
func TestKernelSymbols(t *testing.T) {
	vmlinux := elfImage{buildID: unhex(idA), symbols: map[string]uint64{"_text": 0xffffffff80000000, "_stext": 0xffffffff80010000}}
	dir := writeFiles(t, map[string][]byte{"boot/vmlinux": vmlinux.bytes()})
	const script = `
		0 map -1 ffffffff9a010000+1000000 ffffffff9a010000 [kernel.kallsyms]_stext kernel id=` + idA + `
		1 sample 10 ffffffff9a010020 kernel`
	scenario{name: "vmlinux", script: script, options: Options{ImagePath: []string{dir}}, want: `ip [kernel.kallsyms]+10020
		samples: used:1`}.run(t)
	scenario{name: "no vmlinux", script: script, want: `ip [kernel.kallsyms]+20
		samples: used:1`}.run(t)
	scenario{name: "other vmlinux", script: strings.ReplaceAll(script, idA, idB), options: Options{ImagePath: []string{dir}}, want: `ip [kernel.kallsyms]+20
		samples: used:1`}.run(t)
}

// TestPEIdentity checks that a PE of the image path is confirmed by its size.
func TestPEIdentity(t *testing.T) {
	exe := peImage{sizeOfImage: 0x50000, guid: guid(idA), age: 3, codeAt: 0x600, codeSize: 0x2000}
	other := exe
	other.sizeOfImage, other.guid = 0x60000, guid(idB)
	dir := writeFiles(t, map[string][]byte{"right/App.EXE": exe.bytes(), "wrong/app.exe": other.bytes(), "elf/app.exe": shifted(unhex(idA))})
	const attached = `
		1 map 10 140001000+2000 600 /t/app.exe
		2 sample 10 140001010`
	const started = `
		1 map 10 140000000+50000 140000000 //anon prot=7
		1 map 10 140000000+1000 0 /t/app.exe prot=7
		1 map 10 140001000+2000 140001000 //anon
		2 sample 10 140001010`
	for _, tc := range []struct {
		name, script, folder string
		want, ip, codes      string
		age                  uint32
	}{
		{"found", started, "right", "app.exe a1a2a3a4 image RSDS", "1010", "", 3},
		{"found by size among several", started, ".", "app.exe a1a2a3a4 image RSDS", "1010", "", 3},
		{"other size", started, "wrong", "app.exe none none", "1010", "SPT1001 SPT1010", 0},
		{"no PE", started, "elf", "app.exe none none", "1010", "SPT1001 SPT1010", 0},
		{"sections tell addresses of offsets", attached, "right", "app.exe a1a2a3a4 image RSDS", "1010", "", 3},
		{"no file", attached, "elf", "app.exe none none offsets", "610", "SPT1001 SPT1002 SPT1010", 0},
	} {
		got, facts, reg := outcome(t, recording{}.write(t, tc.script), Options{ImagePath: []string{filepath.Join(dir, tc.folder)}})
		if ids := identities(reg); ids != tc.want || reg.binaries[0].Age != tc.age {
			t.Errorf("%s:\ngot  %s age %d\nwant %s age %d", tc.name, ids, reg.binaries[0].Age, tc.want, tc.age)
		}
		if want := "ip app.exe+" + tc.ip + "\nsamples: used:1\n"; got != want {
			t.Errorf("%s: got %s, want %s", tc.name, got, want)
		}
		if c := codes(facts); c != tc.codes {
			t.Errorf("%s: warnings %q, want %q", tc.name, c, tc.codes)
		}
	}
}

// TestIdentityWarnings checks that what binaries lack is told once for all,
// those with the most samples first, and only of binaries with samples.
func TestIdentityWarnings(t *testing.T) {
	var script strings.Builder
	for i := range 8 {
		fmt.Fprintf(&script, "1 map 10 %x+1000 0 /t/lib%d\n", 0x1000*(i+1), i)
		for range i {
			fmt.Fprintf(&script, "2 sample 10 %x\n", 0x1000*(i+1))
		}
	}
	_, facts, _ := outcome(t, recording{}.write(t, script.String()), Options{})
	var got []string
	for _, w := range facts.Warnings {
		got = append(got, fmt.Sprintf("%s x%d", w.Message, w.Count))
	}
	const list = "/t/lib7 (7 samples), /t/lib6 (6 samples), /t/lib5 (5 samples), /t/lib4 (4 samples), /t/lib3 (3 samples) and 2 more x28"
	want := "no identity: " + list + "\nnot found, so that addresses stay file offsets: " + list
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

// TestHits checks the samples by binary that lists of candidates show.
func TestHits(t *testing.T) {
	path := recording{}.write(t, twoBinaries+`
		2 sample 10 1010
		2 sample 10 8010
		2 sample 10 8020
		2 sample 11 8020`)
	_, facts, reg := outcome(t, path, Options{Binaries: []string{"app"}})
	for name, want := range map[string]uint64{"app": 1, "lib": 2, "[kernel.kallsyms]": 0} {
		if i, _ := reg.find(t, name); facts.Stats.Hits[i] != want {
			t.Errorf("%s has %d samples, want %d", name, facts.Stats.Hits[i], want)
		}
	}
	if got := sample.BaseName(facts.File); got != "perf.data" || facts.Format != "perf.data" {
		t.Errorf("file %s, format %s", got, facts.Format)
	}
}

// TestFilesAreClosed checks that the files of a trace do not stay open: a
// machine can have thousands of binaries.
func TestFilesAreClosed(t *testing.T) {
	const openFiles = "/proc/self/fd"
	before, err := os.ReadDir(openFiles)
	if err != nil {
		t.Skip("no list of open files here")
	}
	files := map[string][]byte{}
	var script strings.Builder
	const count = 50
	for i := range count {
		name := fmt.Sprintf("lib%d", i)
		files[name] = shifted(unhex(idA))
		fmt.Fprintf(&script, "1 map 10 %x+1000 0 /t/%s id=%s\n2 sample 10 %x\n", 0x1000*(i+1), name, idA, 0x1000*(i+1)+0x810)
	}
	got, _, _ := outcome(t, recording{}.write(t, script.String()), Options{ImagePath: []string{writeFiles(t, files)}})
	if n := strings.Count(got, "+1810"); n != count {
		t.Errorf("%d addresses were translated, want %d", n, count)
	}
	after, err := os.ReadDir(openFiles)
	if err != nil {
		t.Fatal(err)
	}
	if len(after) > len(before)+5 {
		t.Errorf("%d files are open, %d were before", len(after), len(before))
	}
}
