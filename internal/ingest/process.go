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

// matches says whether any of the filters names the process: by its
// executable, or by a name that may be cut.
func (p *process) matches(filters []string) bool {
	if MatchName(filters, p.exe) {
		return true
	}
	for _, f := range filters {
		cut := sample.BaseName(f)
		cut = cut[:min(len(cut), commLength)]
		for _, n := range p.names {
			if strings.EqualFold(n, cut) || strings.EqualFold(n, f) {
				return true
			}
		}
	}
	return false
}
