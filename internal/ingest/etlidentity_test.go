package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

// logIdentities lists the registered binaries as "PATH GUID age N how".
func logIdentities(reg *registry) string {
	var list []string
	for _, b := range reg.binaries {
		id := "none"
		if !b.GUID.IsZero() {
			id = fmt.Sprint(int(b.GUID[14])<<8 | int(b.GUID[15]))
		}
		list = append(list, fmt.Sprintf("%s %s age %d %s", b.Path, id, b.Age, b.Identity))
	}
	return strings.Join(list, "\n")
}

// smallPDB is a PDB of an image with two sections, which ends at the given RVA.
func smallPDB(guid binfmt.GUID, infoAge, age, end uint32) []byte {
	return msftest.PDB{GUID: guid, Age: infoAge, DBIAge: age, Machine: 0x8664, Sections: []msftest.Section{
		{Name: ".text", VirtualSize: 0x400, VirtualAddress: 0x1000}, {Name: ".data", VirtualSize: end - 0x2000, VirtualAddress: 0x2000}}}.Bytes()
}

// TestETLIdentities checks where the identities of images come from.
func TestETLIdentities(t *testing.T) {
	const process = `
		0 process there 100 app.exe
		0 thread there 104 100
		1 timer 104 400010
		`
	const stamp = "stamp=1592614637" // of peImage
	other := peImage{sizeOfImage: 0x3000, guid: rsds(7), age: 2, codeAt: 0x600, codeSize: 0x1000}.bytes()
	app := peImage{sizeOfImage: 0x2000, guid: rsds(8), age: 3, codeAt: 0x600, codeSize: 0x1000}.bytes()
	for _, tc := range []struct {
		name, script string
		files        map[string][]byte
		want         string
		codes        string
	}{
		{"before the image event", process + `
			2 id 100 400000 ` + stamp + `
			2 id 100 400000 rsds=5 age=6
			2 image still 100 400000+2000 C:\app\app.exe`, nil, `C:\app\app.exe 5 age 6 trace RSDS`, "SPT1015"},
		{"after the image event", process + `
			2 image still 100 400000+2000 C:\app\app.exe
			2 id 100 400000 rsds=5 age=6`, nil, `C:\app\app.exe 5 age 6 trace RSDS`, "SPT1015"},
		{"at the unload alone", process + `
			1 image start 100 400000+2000 C:\app\app.exe
			2 id 100 400000 rsds=5 age=6
			2 image end 100 400000+2000 C:\app\app.exe`, nil, `C:\app\app.exe 5 age 6 trace RSDS`, "SPT1015"},
		{"never that of the intermediate code", process + `
			2 id 100 400000 rsds=9 age=1 managed
			2 id 100 400000 rsds=5 age=6
			2 id 100 400000 rsds=9 age=1 managed
			2 image still 100 400000+2000 C:\app\app.exe`, nil, `C:\app\app.exe 5 age 6 trace RSDS`, "SPT1015"},
		{"of another time or process", process + `
			1 id 100 400000 rsds=5 age=6
			2 id 200 400000 rsds=6 age=6
			2 image still 100 400000+2000 C:\app\app.exe`, nil, `C:\app\app.exe none age 0 none`, "SPT1001 SPT1015"},
		{"kernel images by base alone", `
			0 image there 4 fffff80000000000+1000 \SystemRoot\x.sys
			0 id 0 fffff80000000000 rsds=5 age=6
			1 timer 4 fffff80000000010`, nil, `\SystemRoot\x.sys 5 age 6 trace RSDS`, "SPT1015"},
		{"two images at one address within a tick", process + `
			2 id 100 400000 rsds=5 age=6
			2 image end 100 400000+2000 C:\app\app.exe
			2 id 100 400000 rsds=7 age=8
			2 image start 100 400000+2000 C:\app\new.exe`, nil, "C:\\app\\app.exe 5 age 6 trace RSDS\nC:\\app\\new.exe 7 age 8 trace RSDS", "SPT1015"},
		{"file with the stamp of the trace", process + `
			2 image still 100 400000+2000 C:\app\app.exe ` + stamp,
			map[string][]byte{"a/app.exe": other, "b/APP.EXE": app}, `C:\app\app.exe 8 age 3 image by stamp`, "SPT1015"},
		{"stamp of the identity record", process + `
			2 id 100 400000 ` + stamp + `
			2 image still 100 400000+2000 C:\app\app.exe`,
			map[string][]byte{"app.exe": app}, `C:\app\app.exe 8 age 3 image by stamp`, "SPT1015"},
		{"file of another build", process + `
			2 image still 100 400000+2000 C:\app\app.exe ` + stamp,
			map[string][]byte{"app.exe": other}, `C:\app\app.exe none age 0 none`, "SPT1001 SPT1010 SPT1015"},
		{"file without a stamp to compare", process + `
			2 image still 100 400000+2000 C:\app\app.exe`,
			map[string][]byte{"app.exe": app}, `C:\app\app.exe none age 0 none`, "SPT1001 SPT1015"},
		{"PDB with the size of the image", process + `
			2 image still 100 400000+4000 C:\app\app.exe stamp=7`,
			map[string][]byte{"a/app.pdb": smallPDB(rsds(3), 9, 2, 0x2800), "b/App.pdb": smallPDB(rsds(4), 9, 5, 0x3800)},
			`C:\app\app.exe 4 age 5 PDB by size`, "SPT1015"},
		{"PDBs that do not tell", process + `
			2 image still 100 400000+4000 C:\app\app.exe`,
			map[string][]byte{"a/app.pdb": smallPDB(rsds(3), 9, 2, 0x3800), "b/app.pdb": smallPDB(rsds(4), 9, 5, 0x3800), "c/app.pdb": []byte("junk")},
			`C:\app\app.exe none age 0 none`, "SPT1001 SPT1010 SPT1015"},
		{"PDB twice", process + `
			2 image still 100 400000+4000 C:\app\app.exe`,
			map[string][]byte{"a/app.pdb": smallPDB(rsds(3), 9, 2, 0x3800), "b/app.pdb": smallPDB(rsds(3), 9, 2, 0x3800)},
			`C:\app\app.exe 3 age 2 PDB by size`, "SPT1015"},
		{"paths with drive letters", `
			0 process there 100 app.exe
			0 thread there 104 100
			0 volume \Device\HarddiskVolume3\ C:\
			0 volume \Device\HarddiskVolume31\ D:\
			0 volume \SystemRoot\ C:\Windows\
			0 image there 100 400000+1000 \Device\HarddiskVolume3\app\app.exe
			0 image there 100 410000+1000 \DEVICE\HarddiskVolume31\app\lib.dll
			0 image there 100 420000+1000 \Device\HarddiskVolume4\app\x.dll
			0 image there 100 430000+1000 \??\E:\y.dll
			0 image there 0 fffff80000000000+1000 \SystemRoot\System32\drivers\z.sys
			1 timer 104 400010`, nil, "C:\\app\\app.exe none age 0 none\nD:\\app\\lib.dll none age 0 none\n" +
			"\\Device\\HarddiskVolume4\\app\\x.dll none age 0 none\nE:\\y.dll none age 0 none\nC:\\Windows\\System32\\drivers\\z.sys none age 0 none", "SPT1001 SPT1015"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), tc.script, nil)
			o := Options{}
			if tc.files != nil {
				o.ImagePath = []string{writeFiles(t, tc.files)}
			}
			_, facts, reg := logOutcome(t, o, path)
			if diff := cmp.Diff(tc.want, logIdentities(reg)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := codes(facts[0]); got != tc.codes {
				t.Errorf("warnings %s, want %s", got, tc.codes)
			}
		})
	}
}

// TestETLUnmerged checks that the warning about missing identities says what
// helps.
func TestETLUnmerged(t *testing.T) {
	path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), machineLines+"1 timer 104 400010\n2 timer 204 400010\n3 timer 104 fffff80000000010", nil)
	_, facts, _ := logOutcome(t, Options{}, path)
	var text []string
	for _, w := range facts[0].Warnings {
		if w.Code == diag.NoIdentity {
			text = append(text, fmt.Sprintf("%d %s %s %s", w.Count, w.Message, w.Cause, w.Next))
		}
	}
	if len(text) != 1 {
		t.Fatalf("%d warnings: %s", len(text), text)
	}
	for _, part := range []string{"3 no identity: ", "app.exe (1 samples)", "tool.exe (1 samples)", "ntoskrnl.exe (1 samples)", "unmerged", "xperf -merge", "--image-path"} {
		if !strings.Contains(text[0], part) {
			t.Errorf("%q is not in %s", part, text[0])
		}
	}
}

// TestETLRealImages identifies the images of an unmerged trace by real
// programs, and by their PDBs alone.
func TestETLRealImages(t *testing.T) {
	dir := corpus.Path(t, "programs", "pe")
	f, err := image.Open(filepath.Join(dir, "wordstat.exe"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, _ := f.ID()
	script := fmt.Sprintf(`
		0 process there 100 wordstat.exe
		0 thread there 104 100
		0 image there 100 400000+%x \Device\HarddiskVolume3\app\wordstat.exe stamp=%d
		1 timer 104 400010`, f.PE.SizeOfImage, f.PE.TimeDateStamp)
	path := writeScript(t, filepath.Join(t.TempDir(), "run.etl"), script, nil)
	pdb, err := os.ReadFile(filepath.Join(dir, "wordstat.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	for folder, how := range map[string]string{dir: "image by stamp", writeFiles(t, map[string][]byte{"wordstat.pdb": pdb}): "PDB by size"} {
		_, _, reg := logOutcome(t, Options{ImagePath: []string{folder}}, path)
		if _, b := reg.find(t, "wordstat.exe"); b.GUID != id.GUID || b.Age != id.Age || b.Identity != how {
			t.Errorf("%+v, want %v by %s", b, id, how)
		}
	}
}
