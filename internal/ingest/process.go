package ingest

import (
	"strings"

	"github.com/spgo-tools/spgo/internal/sample"
)

// process is one life of a process between two execs.
type process struct {
	names []string // the names that it had
	exe   string   // path of the executable; empty where it is not known
}

// commLength is the length that Linux cuts the name of a process to.
const commLength = 15

// rename adds a name.
func (p *process) rename(name string) {
	for _, n := range p.names {
		if n == name {
			return
		}
	}
	p.names = append(p.names, name)
}

// name is what summaries call the process.
func (p *process) name() string {
	switch {
	case p.exe != "":
		return sample.BaseName(p.exe)
	case len(p.names) > 0:
		return p.names[len(p.names)-1]
	}
	return "unknown"
}

// runs notes a file whose code is mapped. The first one is the executable, but
// under Wine that is a loader, and the executable the first .exe.
func (p *process) runs(path string) {
	switch {
	case path == vdsoName:
	case p.exe == "", strings.HasSuffix(strings.ToLower(path), ".exe") && !isPEName(p.exe):
		p.exe = path
	}
}

// matches says whether any of the filters names the process: by its
// executable, or by a name that may be cut.
func (p *process) matches(filters []string) bool {
	if MatchName(filters, p.exe) {
		return true
	}
	for _, f := range filters {
		base := sample.BaseName(f)
		exact := base == f && len(f) <= commLength
		for _, n := range p.names {
			if !strings.EqualFold(n, cutComm(base)) {
				continue
			}
			// A name that comes from the executable tells less than its path.
			if exact || p.exe == "" || !strings.EqualFold(n, cutComm(sample.BaseName(p.exe))) {
				return true
			}
		}
	}
	return false
}

// cutComm is what Linux makes of the name of an executable.
func cutComm(name string) string { return name[:min(len(name), commLength)] }
