package main

import (
	"encoding/hex"
	"sort"
	"strconv"

	"github.com/google/pprof/profile"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/debuginfo"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/funcs"
	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/internal/report"
	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/image"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// A target is what is known of the binary whose records are exported.
type target struct {
	path  string
	image *image.File // nil if none was given; so are the next two
	info  *debuginfo.Info
	code  []place // of functions, by address
	base  uint64

	debug    string  // the PDB or debug file that is used
	unusable []error // why others that were found are not
}

// A place is a piece of a function's code.
type place struct {
	program.Range
	name string
}

// openTarget reads --image, --pdb and --base. The image has to be the build
// that was sampled.
func openTarget(c *cli.Context, binary spt.ProgramID) (*target, error) {
	t := &target{path: c.String("image")}
	if t.path != "" {
		if err := t.openImage(c.String("pdb"), binary); err != nil {
			t.close()
			return nil, err
		}
	}
	if s := c.String("base"); s != "" {
		base, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.close()
			return nil, diag.New(diag.BadValue, "--base takes an address such as 0x400000, not %q", s)
		}
		t.base = base
	}
	return t, nil
}

func (t *target) openImage(debugPath string, binary spt.ProgramID) (err error) {
	if t.image, err = image.Open(t.path); err != nil {
		return err
	}
	if sample.FromProgram(binary.Name, binary.GUID, binary.Age).FileOffsets {
		return diag.New(diag.OtherImage, "the samples of %s are file offsets, which are nowhere in the memory of an image", binary.Name).In(t.path).
			Because("sptaggregate did not find the binary, so that it could not translate them.").
			Do("Aggregate the recording again with --image-path %s, or export without --image.", t.path)
	}
	t.base = t.image.Base
	id, source := t.image.ID()
	if source != image.IDNone && (id.GUID != binary.GUID || id.Age != binary.Age) {
		return diag.New(diag.OtherImage, "the image is %v, the samples are of %v age %d", id, binary.GUID, binary.Age).In(t.path)
	}
	var functions []program.Function
	t.debug, t.unusable, err = debuginfo.With(t.image, t.path, debugPath, func(debug string) (err error) {
		if functions, _, err = funcs.Find(t.image, funcs.Options{Debug: debug}); err == nil {
			t.info, err = debuginfo.Open(t.image, t.path, debug)
		}
		return err
	})
	if err != nil {
		return binfmt.InFile(err, t.path)
	}
	for _, f := range functions {
		for _, r := range f.Ranges {
			t.code = append(t.code, place{r, f.Name})
		}
	}
	sort.Slice(t.code, func(i, j int) bool { return t.code[i].Start < t.code[j].Start })
	return nil
}

func (t *target) close() {
	if t.info != nil {
		t.info.Close()
	}
	if t.image != nil {
		t.image.Close()
	}
}

// warn reports which debug information could not be used, once it was.
func (t *target) warn(c *cli.Context) {
	for _, err := range t.unusable {
		c.Warn(report.UnusedDebugFile(err))
	}
	if t.info != nil {
		for _, e := range report.SplitWarnings(t.info.Stats(), t.path) {
			c.Warn(e)
		}
	}
}

// frames tells what is at an address: by debug information, else by the
// function alone. It is nil without an image.
func (t *target) frames() func(rva uint32) []debuginfo.Frame {
	if t.image == nil {
		return nil
	}
	return func(rva uint32) []debuginfo.Frame {
		if stack := t.info.Stack(rva); len(stack) > 0 && stack[len(stack)-1].Function != "" {
			return stack
		}
		i := sort.Search(len(t.code), func(i int) bool { return t.code[i].End > rva })
		if i < len(t.code) && t.code[i].Contains(rva) && t.code[i].name != "" {
			return []debuginfo.Frame{{Function: t.code[i].name}}
		}
		return nil
	}
}

// textBase is the RVA of the page of the first code.
func (t *target) textBase() uint32 {
	if t.image == nil {
		return 0
	}
	first := uint64(1<<32 - 1)
	for _, s := range t.image.Sections {
		if s.Exec {
			first = min(first, s.RVA)
		}
	}
	return uint32(first) &^ 0xfff
}

// mapping describes the binary in a pprof profile.
func (t *target) mapping(binary spt.ProgramID) profile.Mapping {
	m := profile.Mapping{File: binary.Name, BuildID: binary.GUID.String()}
	if t.image != nil {
		m.File = t.path
		if t.image.ELF != nil && len(t.image.ELF.BuildID) > 0 {
			m.BuildID = hex.EncodeToString(t.image.ELF.BuildID)
		}
	}
	return m
}
