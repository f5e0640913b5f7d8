// Package arch holds the rules of which package may import which.
package arch

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/spgo-tools/spgo/"

// allowed lists, for each package or group of packages (ending in /), what it
// may import of this module. The order is that of the pipeline: formats are
// leaves, steps do not know later steps, commands are wiring.
var allowed = []struct{ from, to string }{
	{"pkg/binfmt", ""},
	{"pkg/", "pkg/binfmt"},
	{"pkg/pdb/msftest", "pkg/binfmt pkg/pdb"},
	{"internal/diag", "pkg/binfmt"},
	{"internal/addrspace", ""},
	{"internal/walks", ""},
	{"internal/flow", ""},
	{"internal/arch", ""},
	{"internal/robust", ""},
	{"internal/demangle", ""},
	{"internal/carrier", "pkg/"},
	{"internal/corpus", ""},
	{"internal/golden", ""},
	{"internal/armwalk", "pkg/perfdata"},
	{"internal/rerun", "pkg/image pkg/perfdata"},
	{"internal/sample", "pkg/binfmt"},
	{"internal/program", ""},
	{"internal/disasm", ""},
	{"internal/debuginfo", "pkg/ internal/program"},
	{"internal/funcs", "pkg/ internal/program internal/debuginfo"},
	{"internal/cfg", "internal/disasm internal/program"},
	{"internal/build", "pkg/ internal/cfg internal/disasm internal/program"},
	{"internal/export", "pkg/ internal/debuginfo internal/disasm"},
	{"internal/ntfs", "pkg/binfmt pkg/image"},
	{"internal/debias", ""},
	{"internal/ingest", "pkg/ internal/sample internal/diag internal/addrspace internal/ntfs internal/debias internal/disasm"},
	{"internal/correlate", "pkg/binfmt pkg/spt pkg/spd internal/flow"},
	{"internal/aggregate", "pkg/binfmt pkg/spt internal/sample internal/diag internal/walks"},
	{"internal/batch", "internal/aggregate internal/ingest internal/sample internal/diag"},
	{"internal/collect", "pkg/image pkg/perfdata internal/diag"},
	{"internal/traceexport", "pkg/binfmt pkg/spt internal/debuginfo"},
	{"internal/report", "pkg/ internal/sample internal/diag internal/ingest internal/aggregate internal/compare internal/carrier internal/demangle internal/collect internal/correlate internal/profile internal/doctor internal/build internal/cfg internal/funcs internal/program internal/traceexport internal/export internal/debuginfo"},
	{"internal/compare", "pkg/binfmt pkg/spd"},
	{"internal/doctor", "pkg/ internal/diag internal/sample internal/compare internal/correlate"},
	{"internal/profile", "pkg/binfmt pkg/spd internal/correlate internal/flow"},
	{"internal/filelock", ""},
	{"internal/stage", ""},
	{"internal/cli", "internal/diag internal/filelock internal/stage"},
	{"internal/spdgen", "pkg/"},
	{"cmd/", "pkg/ internal/"},
	{"scripts/", "pkg/"},
	{"examples/", ""},
	{"examples", ""},
	{"scripts/spdworld", "pkg/ internal/spdgen"},
}

type packageInfo struct {
	ImportPath string
	Imports    []string // of the package itself; its tests may import more
}

func TestImportDirection(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p packageInfo
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		from := strings.TrimPrefix(p.ImportPath, module)
		rule, ok := ruleOf(from)
		if !ok {
			t.Errorf("package %s has no rule: add it to the table, with what it may import", from)
			continue
		}
		seen++
		for _, imported := range p.Imports {
			if to, ours := strings.CutPrefix(imported, module); ours && !permits(rule, to) {
				t.Errorf("%s must not import %s (allowed: %s)", from, to, rule)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d packages were looked at", seen)
	}
}

func ruleOf(from string) (string, bool) {
	best, rule := -1, ""
	for _, r := range allowed {
		match := from == r.from || strings.HasSuffix(r.from, "/") && strings.HasPrefix(from, r.from)
		if match && len(r.from) > best {
			best, rule = len(r.from), r.to
		}
	}
	return rule, best >= 0
}

func permits(rule, to string) bool {
	for _, item := range strings.Fields(rule) {
		if to == item || strings.HasSuffix(item, "/") && strings.HasPrefix(to, item) {
			return true
		}
	}
	return false
}
