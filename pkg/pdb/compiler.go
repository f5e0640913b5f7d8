package pdb

// Compiler is what made a module (S_COMPILE3).
type Compiler struct {
	// Name is the text by which the compiler calls itself, such as "Microsoft
	// (R) Optimizing Compiler".
	Name string
	// Language is a CV_SourceLanguage: 0 C, 1 C++, 3 assembler, 7 linker,
	// 0x15 Rust.
	Language uint8
	// LTCG says that the linker generated the code of the module.
	LTCG bool
}

// ModuleCompiler returns what made module i; false if the module does not say.
func (f *File) ModuleCompiler(i int) (Compiler, bool, error) {
	r, err := f.ModuleSymbols(i)
	if err != nil {
		return Compiler{}, false, err
	}
	for r.Next() {
		rec := r.Record()
		if rec.isProc() {
			break // it stands in front of all code
		}
		if rec.Kind != SymCompile3 {
			continue
		}
		const ltcg = 1 << 10
		c := rec.cursor("compiler")
		flags := c.U32()
		c.Skip(2 + 8*2) // machine, versions of the front end and the back end
		out := Compiler{Name: c.CString(), Language: uint8(flags), LTCG: flags&ltcg != 0}
		return out, c.Err() == nil, r.s.locate(c.Err())
	}
	return Compiler{}, false, r.Err()
}
