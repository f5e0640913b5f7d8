package robust

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNoNetwork looks at all that is compiled into the commands: nothing can
// open a connection or load code, and only the collector, on Linux, can start a
// program.
func TestNoNetwork(t *testing.T) {
	const module = "github.com/spgo-tools/spgo/"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", module+"cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(strings.TrimSpace(line), ": ")
		packages++
		if name == "net" || strings.HasPrefix(name, "net/") && name != "net/url" && name != "net/netip" || name == "plugin" {
			t.Errorf("%s is in the commands", name)
		}
		if strings.Contains(" "+imports+" ", " os/exec ") && strings.HasPrefix(name, module) && name != module+"internal/collect" {
			t.Errorf("%s can start programs", name)
		}
	}
	if packages < 50 {
		t.Errorf("only %d packages were looked at", packages)
	}
}
