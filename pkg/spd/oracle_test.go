package spd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// The reference decoder is a Python program that was written from the same
// published files. What it reads is compared with the model field by field.

// oracleScript prints what the reference decoder makes of a file, whether it
// writes it back unchanged, and the checks that fail.
const oracleScript = `
import sys, json
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import spdlib
data = open(sys.argv[2], 'rb').read()
spd = spdlib.parse(data)
print(json.dumps({
    'same': spdlib.emit(spd) == data,
    'failing': sorted(k[0] for k in spdlib.validate(spd) if k[1] == 'FAIL'),
    'spd': json.loads(spdlib.to_json(spd)),
}))
`

type oracleResult struct {
	Same    bool      `json:"same"`
	Failing []string  `json:"failing"`
	SPD     oracleSPD `json:"spd"`
}

type oracleSPD struct {
	Version uint32         `json:"version"`
	Flags   uint32         `json:"flags"`
	Age     uint32         `json:"pdb_age"`
	GUID    string         `json:"pdb_guid"`
	Binary  string         `json:"binary"`
	Modules []oracleModule `json:"modules"`
}

type oracleModule struct {
	Name       string           `json:"name"`
	Flags      uint32           `json:"flags"`
	Generation uint32           `json:"generation"`
	Functions  []oracleFunction `json:"functions"`
}

type oracleFunction struct {
	ID             uint64         `json:"id"`
	Name           string         `json:"name"`
	SymbolFlags    uint32         `json:"sym_flags"`
	Ordinal        uint32         `json:"ordinal"`
	FoldedInto     uint32         `json:"folded_into_rva"`
	Flags          uint32         `json:"flags"`
	Checksum       uint32         `json:"cfg_checksum"`
	RVA            uint32         `json:"rva"`
	Length         uint32         `json:"length"`
	Callees        []oracleCallee `json:"callees"`
	MachineCallees []oracleCallee `json:"machine_callees"`
	Blocks         []oracleBlock  `json:"blocks"`
}

type oracleCallee struct {
	ID    uint64   `json:"id"`
	Kind  uint32   `json:"kind"`
	Count uint64   `json:"count"`
	Sites []uint32 `json:"sites"`
}

type oracleBlock struct {
	ID           uint32          `json:"id"`
	Flags        uint32          `json:"flags"`
	Count        uint64          `json:"count"`
	Instructions uint32          `json:"n_insn"`
	Ranges       [][3]uint32     `json:"ranges"`
	Indirect     []oracleSite    `json:"indirect"`
	Inlinees     []oracleInlinee `json:"inlinees"`
	Edges        []oracleEdge    `json:"succ"`
}

type oracleSite struct {
	Offset  uint32       `json:"offset"`
	Length  uint8        `json:"insn_len"`
	Ordinal uint16       `json:"ordinal"`
	Kind    uint16       `json:"kind"`
	Total   uint64       `json:"total"`
	Targets [3][2]uint64 `json:"targets"`
}

type oracleInlinee struct {
	ID     uint64        `json:"id"`
	Blocks []oracleBlock `json:"blocks"`
}

type oracleEdge struct {
	Target uint32 `json:"target"`
	Count  uint64 `json:"count"`
	Flags  uint32 `json:"flags"`
}

// oracleView is the model in the shape of the reference decoder.
func oracleView(f *File) oracleSPD {
	h := f.Header
	return oracleSPD{Version: Version, Flags: h.Flags, Age: h.Age, GUID: strings.ToLower(strings.Trim(h.GUID.String(), "{}")),
		Binary: h.Binary, Modules: each(f.Modules, func(m Module, _ int) oracleModule {
			return oracleModule{Name: m.Name, Flags: m.Flags, Generation: m.Generation, Functions: each(m.Functions, oracleFunctionView)}
		})}
}

// each maps a list to a list that is not nil, as JSON reads an empty one.
func each[T, U any](list []T, f func(T, int) U) []U {
	out := make([]U, len(list))
	for k := range list {
		out[k] = f(list[k], k)
	}
	return out
}

func oracleFunctionView(f Function, _ int) oracleFunction {
	return oracleFunction{ID: uint64(f.ID), Name: f.Name, SymbolFlags: f.SymbolFlags, Ordinal: f.Ordinal, FoldedInto: f.FoldedInto,
		Flags: f.Flags, Checksum: uint32(f.Checksum), RVA: f.RVA, Length: f.Length,
		Callees: each(f.Callees, func(c Callee, _ int) oracleCallee {
			return oracleCallee{uint64(c.ID), c.Kind, c.Count, each(c.Sites, func(s uint32, _ int) uint32 { return s })}
		}),
		MachineCallees: each(f.MachineCallees, func(c MachineCallee, _ int) oracleCallee {
			return oracleCallee{uint64(c.ID), c.Kind, c.Count, []uint32{}}
		}),
		Blocks: each(f.Blocks, func(b Block, k int) oracleBlock {
			return oracleBlock{ID: uint32(k + 1), Flags: uint32(b.Aux)<<16 | uint32(b.Flags), Count: b.Count, Instructions: b.Instructions,
				Ranges: each(b.Ranges, oracleRange), Inlinees: each(b.Inlinees, oracleInlineeView),
				Indirect: each(b.Indirect, func(s IndirectSite, _ int) oracleSite {
					site := oracleSiteView(s.CallSite, 0)
					site.Total = s.Hits
					for t, x := range s.Targets {
						site.Targets[t] = [2]uint64{uint64(x.ID), x.Hits}
					}
					return site
				}),
				Edges: each(b.Edges, func(e Edge, _ int) oracleEdge { return oracleEdge{e.To, e.Count, e.Flags} }),
			}
		}),
	}
}

func oracleRange(r Range, _ int) [3]uint32 { return [3]uint32{r.Start, r.Length, uint32(one(r.Cold))} }

func oracleSiteView(s CallSite, _ int) oracleSite {
	return oracleSite{Offset: s.Offset, Length: s.Length, Ordinal: s.Ordinal, Kind: s.Kind}
}

func oracleInlineeView(f Inlinee, _ int) oracleInlinee {
	return oracleInlinee{ID: uint64(f.ID), Blocks: each(f.Blocks, func(b InlinedBlock, _ int) oracleBlock {
		return oracleBlock{ID: b.ID, Flags: uint32(b.Aux)<<16 | uint32(b.Flags), Instructions: b.Instructions,
			Ranges: each(b.Ranges, oracleRange), Indirect: each(b.Indirect, oracleSiteView), Inlinees: each(b.Inlinees, oracleInlineeView)}
	})}
}

// compareWithOracle demands that the reference decoder reads what the model
// says. The first function that differs is shown.
func compareWithOracle(t *testing.T, oracle oracleSPD, f *File) {
	t.Helper()
	model := oracleView(f)
	if reflect.DeepEqual(oracle, model) {
		return
	}
	for m := range min(len(model.Modules), len(oracle.Modules)) {
		a, b := oracle.Modules[m].Functions, model.Modules[m].Functions
		for k := range min(len(a), len(b)) {
			if !reflect.DeepEqual(a[k], b[k]) {
				t.Errorf("function %d: the reference has\n%+v\nthe model\n%+v", k, a[k], b[k])
				return
			}
		}
		oracle.Modules[m].Functions, model.Modules[m].Functions = a[:0], b[:0]
	}
	t.Errorf("the reference has\n%+v\nthe model\n%+v", oracle, model)
}

func askOracle(t *testing.T, file string) oracleResult {
	t.Helper()
	cmd := exec.Command(corpus.Tool(t, "python3"), "-c", oracleScript, corpus.Path(t, "oracle"), file)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var r oracleResult
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReferenceDecoderReadsMadeFiles(t *testing.T) {
	for name, f := range map[string]*File{"fresh": freshFile(), "profiled": profiledFile()} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "made.spd")
			if err := os.WriteFile(file, encode(t, f), 0o644); err != nil {
				t.Fatal(err)
			}
			r := askOracle(t, file)
			if !r.Same {
				t.Error("the reference decoder writes other bytes")
			}
			if len(r.Failing) > 0 {
				t.Errorf("checks of the reference decoder fail: %q", r.Failing)
			}
			compareWithOracle(t, r.SPD, f)
		})
	}
}

func TestReferenceDecoderAgreesOnRecordedFiles(t *testing.T) {
	for _, row := range corpus.Files(t, "spd") {
		name := filepath.Base(row.File)
		if os.Getenv("SPGO_LONG") == "" && !strings.HasPrefix(name, "map-") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f, err := ReadFile(row.File)
			if err != nil {
				t.Fatal(err)
			}
			compareWithOracle(t, askOracle(t, row.File).SPD, f)
		})
	}
}

// TestNumbersEqualReferenceDump compares the summaries of the recorded files
// with those that the reference dump program prints.
func TestNumbersEqualReferenceDump(t *testing.T) {
	for _, row := range corpus.Files(t, "spd") {
		t.Run(filepath.Base(row.File), func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(corpus.Tool(t, "python3"), "-B", corpus.Path(t, "oracle", "spddump.py"), "--summary", row.File).Output()
			if err != nil {
				t.Fatal(err)
			}
			f, err := ReadFile(row.File)
			if err != nil {
				t.Fatal(err)
			}
			s := f.Summary()
			stats := f.ComputeStatistics()
			if stats != f.Header.Statistics {
				t.Errorf("computed %+v, the file states %+v", stats, f.Header.Statistics)
			}
			hot := 0
			for _, fn := range f.Ranking() {
				hot += one(stats.HotThreshold > 0 && fn.Weight >= stats.HotThreshold)
			}
			want := strings.Join(strings.Fields(string(out)), " ")
			for _, got := range []string{
				fmt.Sprintf("threshold %d dynamic instructions %d static instructions %d recomputed", stats.HotThreshold, stats.DynamicInstructions, stats.StaticInstructions),
				fmt.Sprintf("generation %d functions %d hash buckets %d", f.Modules[0].Generation, s.Functions, f.Modules[0].HashBuckets),
				fmt.Sprintf("functions %d (own code %d, folded %d, with counts %d, weight >= threshold %d)", s.Functions, s.CodeFunctions, s.FoldedFunctions, s.ProfiledFunctions, hot),
				fmt.Sprintf("blocks %d, covered %d; with code %d, covered %d", s.Blocks, s.CoveredBlocks, s.CodeBlocks, s.CoveredCodeBlocks),
				fmt.Sprintf("block coverage %.2f%% (%d/%d)", 100*s.BlockCoverage(), s.CoveredBlocks, s.Blocks),
				fmt.Sprintf("of blocks with code %.2f%% (%d/%d)", 100*s.CodeBlockCoverage(), s.CoveredCodeBlocks, s.CodeBlocks),
				fmt.Sprintf("edges %d (dead %d) callees %d call sites %d machine callees %d", s.Edges, s.DeadEdges, s.Callees, s.CallSites, s.MachineCallees),
				fmt.Sprintf("inlined instances %d indirect call sites %d (with hits %d) code bytes %d", s.Inlinees, s.IndirectSites, s.HitIndirectSites, s.CodeBytes),
			} {
				if !regexp.MustCompile(regexp.QuoteMeta(got) + `(\D|$)`).MatchString(want) {
					t.Errorf("the reference does not print %q but\n%s", got, out)
				}
			}
		})
	}
}
