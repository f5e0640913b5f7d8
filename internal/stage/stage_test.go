package stage

import "testing"

func TestOf(t *testing.T) {
	for _, x := range []struct{ head, what string }{
		{":TPS\x01\x00", "a sample profile trace (SPT)"},
		{"H_Q_....", "a sample profile database (SPD)"},
		{"PERFILE2h", "a Linux recording (perf.data)"},
		{"2ELIFREP", "a Linux recording (perf.data)"},
		{"\x7fELF\x02", "an ELF file"},
		{"MZ\x90", "a PE image"},
		{"Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00", "a PDB"},
		{":TP", ""}, {"", ""}, {"PERFILE3", ""},
	} {
		got, ok := Of([]byte(x.head))
		if got.What != x.what || ok != (x.what != "") || ok && got.Use == "" {
			t.Errorf("%q: %+v, want %q", x.head, got, x.what)
		}
	}
}
