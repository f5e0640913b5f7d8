package ingest

import (
	"testing"

	"github.com/spgo-tools/spgo/pkg/etl"
)

func TestDOSPath(t *testing.T) {
	m := newVolumeMap([]stamped[etl.Volume]{
		{event: etl.Volume{NTPath: `\Device\HarddiskVolume1`, DOSPath: `C:`}},
		{event: etl.Volume{NTPath: `\Device\HarddiskVolume3\`, DOSPath: `D:\`}},
		{event: etl.Volume{NTPath: `\SystemRoot\`, DOSPath: `C:\Windows\`}},
	})
	for path, want := range map[string]string{
		`\Device\HarddiskVolume1\a.exe`:           `C:\a.exe`,
		`\device\harddiskvolume1\a.exe`:           `C:\a.exe`,
		`\Device\HarddiskVolume1`:                 `C:`,
		`\Device\HarddiskVolume10\a.exe`:          `\Device\HarddiskVolume10\a.exe`,
		`\Device\HarddiskVolume3\b\a.exe`:         `D:\b\a.exe`,
		`\Device\HarddiskVolume30\a.exe`:          `\Device\HarddiskVolume30\a.exe`,
		`\SystemRoot\system32\ntoskrnl.exe`:       `C:\Windows\system32\ntoskrnl.exe`,
		`\??\C:\a.exe`:                            `C:\a.exe`,
		`\Device\Mup\;Lanman\;Z:0\server\s\a.exe`: `\\server\s\a.exe`,
		``: ``,
	} {
		if got := m.dosPath(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}
