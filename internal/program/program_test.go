package program

import "testing"

func TestNeverReturns(t *testing.T) {
	for name, want := range map[string]bool{
		"exit": true, "exit@GLIBC_2.2.5": true, "__imp_ExitProcess": true, "__imp_exit": true,
		"_ZSt20__throw_length_errorPKc": true, "_ZNSt3__120__throw_length_errorB8ne190000EPKc": true,
		"_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_": false,
		"?terminate@@YAXXZ": true, "?exit@@YAXXZ": false,
		"atexit": false, "exit_group": false, "": false, "@": false, "__imp_": false,
	} {
		if got := NeverReturns(name); got != want {
			t.Errorf("NeverReturns(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestSourceString(t *testing.T) {
	for s, want := range map[Source]string{PDB: "pdb", Symtab: "symtab", COFF: "coff", Pclntab: "pclntab",
		Dynsym: "dynsym", PLT: "plt", Pdata: "pdata", EHFrame: "eh-frame", 0: "unknown", 99: "unknown"} {
		if got := s.String(); got != want {
			t.Errorf("Source(%d) = %q, want %q", s, got, want)
		}
	}
}
