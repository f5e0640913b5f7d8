package main

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/batch"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/internal/ntfs"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// plan is what the command line asks for.
type plan struct {
	inputs    []ingest.Input
	output    string
	options   *ingest.Options
	lbrDepth  int
	maxLost   string
	share     batch.Share // Count is 0: all inputs
	maxMemory int64       // in bytes; 0: no limit
	resume    bool
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
	if s := c.String("shard"); s != "" {
		var ok bool
		if p.share, ok = batch.ParseShare(s, os.Getenv(jobIndex)); !ok {
			if count, auto := strings.CutPrefix(strings.ToLower(s), "auto/"); auto {
				return nil, diag.New(diag.BadValue, "--shard=auto/N takes the share of %s, from 0 to N-1; N is %q and the variable %q", jobIndex, count, os.Getenv(jobIndex)).
					Because("This is no pod of an indexed job, or the job has another number of them.").Do("Give the share as I/N, with I from 1 to N.")
			}
			return nil, diag.New(diag.BadValue, "--shard takes I/N with I from 1 to N, or auto/N, not %q", s)
		}
	}
	if s := c.String("max-memory"); s != "" {
		var ok bool
		if p.maxMemory, ok = parseSize(s); !ok || p.maxMemory < leastMemory {
			return nil, diag.New(diag.BadValue, "--max-memory takes a size from %dM on, such as 512M or 2G, not %q", leastMemory>>20, s)
		}
		p.options.MaxMemory = p.maxMemory / 4 // the sums need some too
	}
	p.resume = c.Bool("resume")
	if err := p.files(c); err != nil {
		return nil, err
	}
	if p.resume && p.output == "-" {
		return nil, diag.New(diag.BadValue, "--resume needs an output with a name, not standard output")
	}
	return p, nil
}

// jobIndex is the variable that tells a pod of an indexed Kubernetes job which
// one it is.
const jobIndex = "JOB_COMPLETION_INDEX"

// leastMemory is what reading takes in any case, and some for the sums.
const leastMemory = 64 << 20

// parseSize reads a number of bytes, or with a letter of binary multiples.
func parseSize(s string) (int64, bool) {
	digits := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	shift := 0
	if n := len(digits); n > 0 {
		if i := strings.IndexByte("KMGT", digits[n-1]); i >= 0 {
			shift, digits = 10*(i+1), digits[:n-1]
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n << shift, err == nil && n > 0 && n <= math.MaxInt64>>shift
}

func ingestOptions(c *cli.Context) (*ingest.Options, error) {
	o := &ingest.Options{
		Processes: cli.Names(c.StringSlice("process")),
		Binaries:  cli.Names(c.StringSlice("binary")),
		NoKernel:  c.Bool("nokernel"),
		ImagePath: fileList(c.StringSlice("image-path")),
	}
	var err error
	if o.Workers, err = c.Jobs(); err != nil {
		return nil, err
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
	case "auto":
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
	for _, file := range c.StringSlice("list") {
		listed = append(listed, listMark+file)
	}
	operands := c.Operands
	p.output = c.String("output")
	named := p.output != "" || len(listed) > 0
	if p.output == "" {
		if len(operands) == 0 {
			return diag.New(diag.BadOperands, "no output: name it last or with -o")
		}
		p.output, operands = operands[len(operands)-1], operands[:len(operands)-1]
	}
	if len(listed)+len(operands) == 0 {
		return diag.New(diag.BadOperands, "no input: only %s is named, which would be the output", p.output).
			Do("Name the traces before the output, or the output with -o.")
	}
	if _, ok := ntfs.Parse(p.output); ok {
		return diag.New(diag.BadOperands, "no output: %s is in a disk image, which is only read", p.output)
	}
	names, err := expandLists(append(listed, operands...))
	if err != nil {
		return err
	}
	files, err := cli.WeightedFiles(names)
	if err != nil {
		return err
	}
	c.WarnRepeated(names, files)
	for _, f := range files {
		p.inputs = append(p.inputs, ingest.Input{Name: f.Name, Weight: f.Weight})
	}
	out, err := os.Stat(p.output)
	if err != nil {
		out = nil
	}
	for i, in := range p.inputs {
		if in.Name == "-" {
			if in.Weight > 1 {
				return diag.New(diag.BadOperands, "standard input is named %d times", in.Weight)
			}
			continue
		}
		if inner, ok := ntfs.Parse(in.Name); ok {
			p.inputs[i].Name = inner.String()
		}
		fi, err := os.Stat(ntfs.HostFile(in.Name))
		if err != nil {
			return diag.New(diag.CannotOpen, "%v", reason(err)).In(in.Name)
		}
		if out != nil && os.SameFile(fi, out) {
			return diag.New(diag.WouldReplace, "the output is also an input").In(p.output)
		}
	}
	return checkOutput(p.output, named)
}

// listMark begins the name of a list of inputs.
const listMark = "@"

// expandLists puts the inputs that a list names in its place. A file whose name
// begins with the mark is an input.
func expandLists(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		list, ok := strings.CutPrefix(name, listMark)
		if _, err := os.Stat(name); !ok || err == nil {
			all = append(all, name)
			continue
		}
		inputs, err := cli.ReadList(list, "input")
		if err != nil {
			return nil, err
		}
		all = append(all, inputs...)
	}
	return all, nil
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
	if !spt.IsSPT(f) {
		return diag.New(diag.WouldReplace, "the file exists and is no SPT").In(name)
	}
	return nil
}
