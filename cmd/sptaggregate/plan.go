package main

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/ntfs"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// plan is what the command line asks for.
type plan struct {
	inputs   []string
	output   string
	options  *ingest.Options
	lbrDepth int
	maxLost  string
}

func newPlan(c *cli.Context) (*plan, error) {
	p := &plan{lbrDepth: c.Int("lbr-depth"), maxLost: c.String("max-lost")}
	if p.lbrDepth < 1 || p.lbrDepth > spt.MaxEntries {
		return nil, diag.New(diag.BadValue, "--lbr-depth takes 1 to %d", spt.MaxEntries)
	}
	if p.maxLost != "" {
		if v, err := strconv.ParseFloat(strings.TrimSuffix(p.maxLost, "%"), 64); err != nil || !(v >= 0 && v <= 100) {
			return nil, diag.New(diag.BadValue, "--max-lost takes a percentage from 0 to 100, not %q", p.maxLost)
		}
	}
	var err error
	if p.options, err = ingestOptions(c); err != nil {
		return nil, err
	}
	return p, p.files(c)
}

func ingestOptions(c *cli.Context) (*ingest.Options, error) {
	o := &ingest.Options{
		Processes: cli.Names(c.StringSlice("process")),
		Binaries:  cli.Names(c.StringSlice("binary")),
		NoKernel:  c.Bool("nokernel"),
		ImagePath: fileList(c.StringSlice("image-path")),
		Workers:   c.Int("jobs"),
	}
	if o.Workers < 1 {
		return nil, diag.New(diag.BadValue, "-j takes a number of workers from 1 on")
	}
	for _, s := range cli.Names(c.StringSlice("pid")) {
		pid, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return nil, diag.New(diag.BadValue, "--pid takes process ids, not %q", s)
		}
		o.PIDs = append(o.PIDs, uint32(pid))
	}
	for _, s := range c.StringSlice("path-map") {
		m, ok := ingest.ParsePathMap(s)
		if !ok {
			return nil, diag.New(diag.BadValue, "--path-map takes FROM=TO, not %q", s)
		}
		o.PathMap = append(o.PathMap, m)
	}
	if s := c.String("time"); s != "" {
		r, ok := ingest.ParseTimeRange(s)
		if !ok {
			return nil, diag.New(diag.BadValue, "--time takes FROM,TO in seconds from the start, not %q", s)
		}
		o.Time = r
	}
	switch w := strings.ToLower(c.String("weight")); w {
	case "sample":
	case "period":
		o.WeighByPeriod = true
	default:
		return nil, diag.New(diag.BadValue, "--weight takes sample or period, not %q", w)
	}
	kinds, ok := ingest.ParseSPEKinds(cli.Names(c.StringSlice("spe")))
	if !ok {
		return nil, diag.New(diag.BadValue, "--spe takes instructions, branches, l1d-miss, llc-miss, tlb-miss and remote, not %q", c.StringSlice("spe"))
	}
	if o.SPEPeriod = c.Uint64("spe-period"); o.SPEPeriod == 0 {
		return nil, diag.New(diag.BadValue, "--spe-period takes a number from 1 on")
	}
	o.SPEKinds = kinds
	switch v := strings.ToLower(c.String("debias")); v {
	case "auto", "on":
	case "off":
		o.KeepBias = true
	default:
		return nil, diag.New(diag.BadValue, "--debias takes auto or off, not %q", v)
	}
	switch v := strings.ToLower(c.String("boundaries")); v {
	case "keep":
	case "drop":
		o.InsideOnly = true
	default:
		return nil, diag.New(diag.BadValue, "--boundaries takes keep or drop, not %q", v)
	}
	events, err := ingest.NewEventMap(c.StringSlice("event"), cli.Names(c.StringSlice("events")))
	if err != nil {
		return nil, diag.New(diag.BadValue, "--event: %v", err)
	}
	o.Events = events
	disks := &ntfs.FS{}
	defer disks.Close()
	for _, dir := range o.ImagePath {
		if _, err := disks.RealPath(dir); err != nil {
			return nil, diag.New(diag.CannotOpen, "--image-path: %v", err)
		}
	}
	return o, nil
}

// fileList splits comma lists of files of this machine and in disk images.
func fileList(values []string) []string {
	var files []string
	for _, v := range values {
		if strings.Contains(v, ntfs.Scheme) {
			files = append(files, ntfs.SplitList(v)...)
		} else {
			files = append(files, cli.Files([]string{v})...)
		}
	}
	return files
}

// files finds inputs and output among options and operands and makes sure that
// no trace can be destroyed.
func (p *plan) files(c *cli.Context) error {
	listed := fileList(c.StringSlice("etl"))
	operands := c.Operands
	p.output = c.String("output")
	named := p.output != "" || len(listed) > 0
	if p.output == "" {
		if len(operands) == 0 {
			return diag.New(diag.BadOperands, "no output: name it last or with -o")
		}
		p.output, operands = operands[len(operands)-1], operands[:len(operands)-1]
	}
	p.inputs = append(listed, operands...)
	if len(p.inputs) == 0 {
		return diag.New(diag.BadOperands, "no input: only %s is named, which would be the output", p.output).
			Do("Name the traces before the output, or the output with -o.")
	}
	if _, ok := ntfs.Parse(p.output); ok {
		return diag.New(diag.BadOperands, "no output: %s is in a disk image, which is only read", p.output)
	}
	stdin := 0
	for i, in := range p.inputs {
		if in == "-" {
			stdin++
			continue
		}
		if inner, ok := ntfs.Parse(in); ok {
			p.inputs[i] = inner.String()
		}
		fi, err := os.Stat(ntfs.HostFile(in))
		if err != nil {
			return diag.New(diag.CannotOpen, "%v", reason(err)).In(in)
		}
		if out, err := os.Stat(p.output); err == nil && os.SameFile(fi, out) {
			return diag.New(diag.WouldReplace, "the output is also an input").In(p.output)
		}
	}
	if stdin > 1 {
		return diag.New(diag.BadOperands, "standard input is named %d times", stdin)
	}
	return checkOutput(p.output, named)
}

// reason is the cause of a path error without the path.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// checkOutput refuses to replace anything but an SPT that was named as the
// output beyond doubt. Devices and pipes are written as they are.
func checkOutput(name string, named bool) error {
	if name == "-" {
		return nil
	}
	fi, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return diag.New(diag.CannotWrite, "%v", reason(err)).In(name)
	case fi.IsDir():
		return diag.New(diag.WouldReplace, "the output is a folder").In(name)
	case !fi.Mode().IsRegular():
		return nil
	}
	if !named {
		return diag.New(diag.WouldReplace, "the file exists and is taken as the output because it is named last").In(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return diag.New(diag.CannotOpen, "%v", reason(err)).In(name)
	}
	defer f.Close()
	var head [4]byte
	if n, _ := f.ReadAt(head[:], 0); n < len(head) || binary.LittleEndian.Uint32(head[:]) != spt.Signature {
		return diag.New(diag.WouldReplace, "the file exists and is no SPT").In(name)
	}
	return nil
}
