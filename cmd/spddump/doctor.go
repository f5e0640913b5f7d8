package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf16"

	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/doctor"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/ntfs"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/spd"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// examine reads all files, of whatever kind, and says whether they belong
// together and what a profile is worth.
func examine(c *cli.Context) (cli.Result, error) {
	p := &patient{Context: c}
	for _, name := range c.Operands {
		if err := p.take(name); err != nil {
			p.fail(report.SPDError(err, name))
		}
		if c.Context.Err() != nil {
			return nil, c.Context.Err()
		}
	}
	for _, in := range p.spts {
		p.readSPT(in)
	}
	p.readTraces()
	p.correlate()
	if c.Context.Err() != nil {
		return nil, c.Context.Err()
	}
	var r *doctor.Report
	if err := c.Do(func() { r = doctor.Examine(&p.Case) }); err != nil {
		return nil, err
	}
	result := &report.Doctor{Report: r}
	leading := r.Leading()
	if leading == nil {
		return result, nil
	}
	if !c.JSON {
		short := *leading // the text has all findings with cause and next step
		short.Cause, short.Next = "", ""
		leading = &short
	}
	return result, leading
}

// patient collects what the files hold.
type patient struct {
	*cli.Context
	doctor.Case
	spts    []sptFile
	counted []sptFile // those that Case.SPTs are of
	traces  []string
}

type sptFile struct {
	name string
	file *cli.File
}

func (p *patient) fail(err error) {
	switch joined := err.(type) {
	case nil:
	case interface{ Unwrap() []error }:
		for _, e := range joined.Unwrap() {
			p.fail(e)
		}
	default:
		e := *diag.Of(err)
		if e.Code == diag.UnknownFormat {
			e.Want = "an SPD, SPT, image, PDB, object, library, ETL or perf.data"
			e.Because("The file is of none of the kinds that are compared, or its beginning is damaged.")
		}
		p.Failed = append(p.Failed, &e)
	}
}

// take reads a file that can carry an SPD, and notes SPTs and recordings, which
// are read when the SPDs are known.
func (p *patient) take(name string) error {
	if _, ok := ntfs.Parse(name); ok {
		p.traces = append(p.traces, name)
		return nil
	}
	fi, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case fi.IsDir(): // a recording of perf can be a folder
		p.traces = append(p.traces, name)
		return nil
	case !fi.Mode().IsRegular():
		return diag.New(diag.CannotRead, "is no file").In(name).Because("Several things are read from each file.").Do("Save it to a file and name that.")
	}
	f, err := p.Open(name)
	if err != nil {
		return err
	}
	var head [logHead]byte
	n, _ := f.ReadAt(head[:], 0)
	switch kindOf(head[:n]) {
	case kindSPT:
		p.spts = append(p.spts, sptFile{name, f})
		return nil
	case kindLog:
		p.traces = append(p.traces, name)
		return nil
	case kindELF:
		return p.takeImage(name, f)
	case kindPE:
		return errors.Join(p.takeImage(name, f), p.takeSPDs(name, f, false))
	case kindPDB:
		return errors.Join(p.takePDB(name, f), p.takeSPDs(name, f, false))
	}
	err = p.takeSPDs(name, f, true)
	if errors.Is(err, binfmt.ErrMagic) {
		p.traces = append(p.traces, name)
		return nil
	}
	return err
}

// fileKind is what the first bytes of a file tell.
type fileKind int

const (
	kindOther fileKind = iota
	kindSPT
	kindELF
	kindPE
	kindPDB
	kindLog
)

// logHead is enough of an Event Trace Log to tell it by: the header of its
// first buffer and the beginning of the first record. Without the latter it
// can look like an object file.
const logHead = 104

func kindOf(head []byte) fileKind {
	for _, k := range []struct {
		start string
		kind  fileKind
	}{{":TPS", kindSPT}, {"\x7fELF", kindELF}, {"MZ", kindPE}, {"Microsoft C/C++ ", kindPDB}} {
		if len(head) >= len(k.start) && string(head[:len(k.start)]) == k.start {
			return k.kind
		}
	}
	if _, err := etl.NewReader(bytes.NewReader(head), int64(len(head)), nil); len(head) == logHead && !errors.Is(err, binfmt.ErrMagic) {
		return kindLog
	}
	return kindOther
}

func (p *patient) takeImage(name string, f *cli.File) error {
	img, err := image.NewFile(f, f.Size)
	if err != nil {
		return err
	}
	id, source := img.ID()
	in := &doctor.Image{File: name, ID: id, Source: source, Kind: img.Kind, Arch: img.Arch, Code: img.Code()}
	if img.ELF != nil {
		in.BuildID = img.ELF.BuildID
	}
	if img.PE != nil && img.PE.CodeView != nil {
		in.PDB = img.PE.CodeView.PDB
	}
	p.Images = append(p.Images, in)
	return nil
}

func (p *patient) takePDB(name string, f *cli.File) error {
	file, err := pdb.NewFile(f, f.Size)
	if err != nil {
		return err
	}
	id, err := file.Identity()
	if err != nil {
		return err
	}
	in := &doctor.PDB{File: name, Identity: id}
	if id.HasDBI {
		dbi, err := file.DBI()
		if err != nil {
			return err
		}
		in.Machine = dbi.Machine
	}
	p.PDBs = append(p.PDBs, in)
	return nil
}

// takeSPDs reads the SPDs in a file; that there is none is an error only where
// the file has nothing else to tell.
func (p *patient) takeSPDs(name string, f *cli.File, wanted bool) error {
	found, damage := carrier.Find(f, f.Size)
	if len(found) == 0 && damage == nil && wanted {
		return diag.New(diag.NoSPD, "no SPD is inside").In(name)
	}
	errs := []error{damage}
	for _, in := range found {
		content, err := readFound(in)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.SPDs = append(p.SPDs, &doctor.SPD{File: name, Where: in.Where, PathLength: pathLength(name), Content: content})
	}
	return errors.Join(errs...)
}

func readFound(in carrier.Found) (*spd.File, error) {
	if in.Err != nil {
		return nil, in.Err
	}
	r, err := spd.NewReader(in.Open(), in.Size)
	if err != nil {
		return nil, err
	}
	return r.Read()
}

// pathLength is the length of the full path in the units that Windows counts.
func pathLength(name string) int {
	full, err := filepath.Abs(name)
	if err != nil {
		full = name
	}
	return len(utf16.Encode([]rune(full)))
}

// open opens the SPT.
func (in *sptFile) open() (*spt.Reader, error) {
	r, err := spt.NewReader(in.file, in.file.Size, &spt.Options{Tolerate: true})
	return r, binfmt.InFile(err, in.name)
}

// readSPT counts the samples of an SPT.
func (p *patient) readSPT(in sptFile) {
	r, err := in.open()
	if err != nil {
		p.fail(err)
		return
	}
	var s *doctor.Samples
	if p.Do(func() { s, err = doctor.ReadSPT(in.name, r) }) != nil {
		return
	}
	p.fail(inFile(err, in.name))
	p.SPTs = append(p.SPTs, s)
	p.counted = append(p.counted, in)
}

// correlate finds out how the samples of the SPTs suit the subject.
func (p *patient) correlate() {
	subject := p.Subject()
	if subject == nil {
		return
	}
	for i, in := range p.counted {
		r, err := in.open()
		if err == nil && p.Do(func() { err = p.SPTs[i].Correlate(p.Context.Context.Context, r, subject) }) != nil {
			return
		}
		p.fail(inFile(err, in.name))
	}
}

// inFile names the file in each of the errors that were joined.
func inFile(err error, name string) error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, inFile(e, name))
		}
		return errors.Join(all...)
	}
	return binfmt.InFile(err, name)
}

// named has a warning of a recording ask for files in the way of this command,
// where sptaggregate has --image-path.
func named(w *diag.Error) *diag.Error {
	e := *w
	switch e.Code {
	case diag.FileOffsets, diag.NoIdentity, diag.StaleImage:
		e.Do("Name the recorded build of the program as well; with sptaggregate, give its folder with --image-path.")
	}
	return &e
}

// readTraces counts the samples of the recordings. The images and PDBs that
// were named are where binaries without identity are looked for.
func (p *patient) readTraces() {
	if len(p.traces) == 0 {
		return
	}
	o := &ingest.Options{Workers: runtime.GOMAXPROCS(0)}
	for _, i := range p.Images {
		o.ImagePath = append(o.ImagePath, i.File)
	}
	for _, f := range p.PDBs {
		o.ImagePath = append(o.ImagePath, f.File)
	}
	tally := doctor.NewTally()
	ingest.ReadAll(p.Context.Context.Context, p.traces, p.In, o, tally, tally.NewSink, func(facts []*ingest.Facts, err error) {
		p.fail(err)
		programs := tally.Take()
		var names []string
		for _, f := range facts {
			names = append(names, f.File)
			for _, w := range f.Warnings {
				p.Warn(named(w))
			}
			if f.Damage != nil {
				p.fail(f.Damage)
			}
		}
		if len(facts) > 0 && (err == nil || len(programs) > 0) {
			p.Traces = append(p.Traces, &doctor.Samples{File: strings.Join(names, ", "), Format: facts[0].Format, Arch: facts[0].Arch, Programs: programs})
		}
	})
}
