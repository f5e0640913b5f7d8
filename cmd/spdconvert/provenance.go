package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// provenance says what an SPD was made of. It is written beside the SPD, never
// into it, and holds no times and no names of machines. A nil one is not
// written.
type provenance struct {
	file string

	Tool      string            `json:"tool"`
	Version   string            `json:"version"`
	Operation string            `json:"operation"`
	Options   provenanceOptions `json:"options"`
	SPD       *provenanceFile   `json:"spd,omitempty"` // what was there before, or the image that it was made of
	Inputs    []provenanceFile  `json:"inputs"`
	Output    provenanceFile    `json:"output"`
}

// provenanceOptions are the options that shape the result.
type provenanceOptions struct {
	Mode           string `json:"mode,omitempty"`
	IPEvent        string `json:"ip_event,omitempty"`
	Retired        int    `json:"retired"`
	Normalize      bool   `json:"normalize"`
	IgnoreAge      bool   `json:"ignore_age"`
	IgnoreIdentity bool   `json:"ignore_identity"`
	Tolerate       bool   `json:"tolerate"`
}

// provenanceFile is a file with its digest.
type provenanceFile struct {
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes,omitempty"`
	Weight  uint64 `json:"weight,omitempty"`
	Samples uint64 `json:"samples,omitempty"`
}

// newProvenance returns what --provenance asks for, or nil.
func newProvenance(c *cli.Context, operation, output string) (*provenance, error) {
	name := c.String("provenance")
	if name == "" {
		return nil, nil
	}
	if name == "-" {
		return nil, diag.New(diag.BadValue, "--provenance takes a file: standard output is that of the result")
	}
	if filepath.Clean(name) == filepath.Clean(output) {
		return nil, diag.New(diag.WouldReplace, "the provenance is the output").In(name).
			Because("The same file is named twice.").Do("Give the provenance a name of its own.")
	}
	if err := cli.Replaceable(name, "provenance of spdconvert", isProvenance); err != nil {
		return nil, err
	}
	return &provenance{file: name, Tool: "spdconvert", Version: cli.Version, Operation: operation, Inputs: []provenanceFile{}}, nil
}

// isProvenance tells a provenance that may be replaced from other files.
func isProvenance(r io.ReaderAt) bool {
	var p provenance
	err := json.NewDecoder(io.NewSectionReader(r, 0, 1<<30)).Decode(&p)
	return err == nil && p.Tool == "spdconvert"
}

// digest computes the digest of a file.
func (in *input) digest(c *cli.Context) (provenanceFile, error) {
	if in.stream != nil {
		return digestOf(in.name, io.NewSectionReader(in.stream, 0, in.stream.Size))
	}
	return digestFile(in.name)
}

func digestFile(name string) (provenanceFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return provenanceFile{}, err
	}
	defer f.Close()
	return digestOf(name, f)
}

func digestOf(name string, r io.Reader) (provenanceFile, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return provenanceFile{File: filepath.ToSlash(name), SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, binfmt.InFile(err, name)
}

// write writes the provenance of an SPD with that digest.
func (p *provenance) write(c *cli.Context, output, digest string) error {
	if p == nil {
		return nil
	}
	p.Output = provenanceFile{File: filepath.ToSlash(output), SHA256: digest}
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	return cli.WriteFile(c.Context.Context, p.file, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}
