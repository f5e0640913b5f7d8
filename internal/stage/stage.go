// Package stage tells the files of the toolkit's stages apart by their first
// bytes, to say what a file is that a command was given in place of another.
package stage

import "bytes"

// A Kind is what files of a stage are called, and what to do with one.
type Kind struct {
	What string // with article
	Use  string // a sentence; FILE stands for the file's name
}

// Head is how many bytes Of looks at.
const Head = 32

const aggregate = "sptaggregate FILE -o run.spt makes an SPT of it."

var kinds = []struct {
	signature string
	Kind
}{
	{":TPS", Kind{"a sample profile trace (SPT)", "sptdump FILE shows it, spdconvert app.spd FILE imports it."}},
	{"H_Q_", Kind{"a sample profile database (SPD)", "spddump FILE shows it, spdconvert FILE run.spt imports samples into it."}},
	{"PERFILE2", Kind{"a Linux recording (perf.data)", aggregate}},
	{"2ELIFREP", Kind{"a Linux recording (perf.data)", aggregate}},
	{"\x7fELF", Kind{"an ELF file", "spdconvert /build:FILE app.spd makes an SPD of it, if it is a program or library."}},
	{"MZ", Kind{"a PE image", "spdconvert /build:FILE app.spd makes an SPD of it."}},
	{"Microsoft C/C++ MSF 7.00\r\n\x1aDS", Kind{"a PDB", "spddump FILE shows the SPD inside; /pdb:FILE names it beside an image."}},
}

// Of returns what a file is that begins with head; false for what is not known.
func Of(head []byte) (Kind, bool) {
	for _, k := range kinds {
		if bytes.HasPrefix(head, []byte(k.signature)) {
			return k.Kind, true
		}
	}
	return Kind{}, false
}
