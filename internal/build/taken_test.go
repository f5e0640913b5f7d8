package build

import (
	"testing"

	"github.com/spgo-tools/spgo/pkg/spd"
)

func TestTaken(t *testing.T) {
	img, list := open(t, "programs/minivm.elf")
	f, _, err := Build(img, list, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint32{
		"trap_even":               spd.SymbolStatic | spd.SymbolAddressTaken, // of a table in .rodata
		"trap_odd":                spd.SymbolStatic | spd.SymbolAddressTaken,
		"trap_big":                spd.SymbolStatic | spd.SymbolAddressTaken, // by lea
		"main":                    spd.SymbolAddressTaken,                    // by the startup code
		"_dl_relocate_static_pie": 0,
		// Stubs are called directly; that their symbols are static says that
		// all callers are known.
		"strtol@plt": spd.SymbolStatic,
	} {
		if got := find(t, f, name).SymbolFlags &^ spd.SymbolAlways; got != want {
			t.Errorf("%s: flags %#x, want %#x", name, got, want)
		}
	}
}
