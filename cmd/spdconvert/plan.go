package main

import (
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/profile"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// plan is what the command line asks an import for.
type plan struct {
	file      string // the SPD to read
	output    string // the SPD to write
	made      string // the image that the SPD was made of, as there was none to read
	inputs    []*input
	retire    int
	write     bool
	options   correlate.Options
	normalize bool
	tolerate  bool
	identity  identityRules
	gates     gates
}

func newPlan(c *cli.Context) (*plan, error) {
	if len(c.Operands) == 0 {
		return nil, diag.New(diag.BadOperands, "no SPD is named")
	}
	p := &plan{file: c.Operands[0], output: c.String("output"), write: !c.Bool("summary"), tolerate: c.Bool("tolerate"),
		identity: identityRules{ignoreAge: c.Bool("ignore-age"), ignoreIdentity: c.Bool("ignore-identity"), imagePath: cli.Files(c.StringSlice("image-path"))}}
	if p.output == "" {
		p.output = p.file
	}
	if p.file == "-" && p.output == "-" && !c.IsSet("output") && p.write {
		return nil, diag.New(diag.BadOperands, "an SPD from standard input needs -o FILE")
	}
	if fi, err := os.Stat(p.file); err == nil && p.write && p.output == p.file && !fi.Mode().IsRegular() && !fi.IsDir() {
		return nil, diag.New(diag.BadOperands, "an SPD from a pipe or device needs -o FILE").In(p.file)
	}
	var err error
	if p.inputs, err = inputs(c, c.Operands[1:], c.String("sptlist")); err != nil {
		return nil, err
	}
	if err := countStreams(p); err != nil {
		return nil, err
	}
	if p.retire, err = retirement(c); err != nil {
		return nil, err
	}
	if len(p.inputs) == 0 && !c.IsSet("retire") {
		p.retire = 0
	}
	if p.options, err = correlation(c); err != nil {
		return nil, err
	}
	switch kind := strings.ToLower(c.String("normalize")); kind {
	case "":
	case "samples":
		p.normalize = true
	default:
		return nil, diag.New(diag.BadValue, "--normalize takes samples, not %q", kind)
	}
	if p.gates, err = newGates(c); err != nil {
		return nil, err
	}
	for _, dir := range p.identity.imagePath {
		if _, err := os.Stat(dir); err != nil {
			return nil, err
		}
	}
	if len(p.inputs) == 0 {
		return p, needSamples(c)
	}
	return p, nil
}

// needSamples refuses options that would be ignored because only the SPD is
// named. Gates are among them: none may pass unchecked.
func needSamples(c *cli.Context) error {
	for _, name := range []string{"min-samples", "max-dropped", "min-density", "ip-event", "normalize", "ignore-age", "ignore-identity", "image-path", "tolerate"} {
		if c.IsSet(name) {
			return diag.New(diag.BadOperands, "--%s needs SPTs, but only the SPD is named", name)
		}
	}
	for _, name := range []string{"output", "provenance"} {
		if c.IsSet(name) && !c.IsSet("retire") {
			return diag.New(diag.BadOperands, "--%s needs SPTs or /retire: nothing is to be written", name)
		}
	}
	return nil
}

// countStreams makes sure that standard input is read once.
func countStreams(p *plan) error {
	streams := 0
	if p.file == "-" {
		streams++
	}
	for _, in := range p.inputs {
		if in.name == "-" {
			streams++
		}
	}
	if streams > 1 {
		return diag.New(diag.BadOperands, "standard input is named %d times", streams)
	}
	return nil
}

// retirement reads /retire.
func retirement(c *cli.Context) (int, error) {
	if !c.IsSet("retire") {
		return profile.DefaultRetire, nil
	}
	n := c.Int("retire")
	if n < 0 || n > profile.MaxRetire {
		return 0, diag.New(diag.BadValue, "/retire takes a number from 0 to %d, not %d", profile.MaxRetire, n)
	}
	return n, nil
}

// correlation reads the options of how samples become counts.
func correlation(c *cli.Context) (o correlate.Options, err error) {
	switch mode := strings.ToUpper(c.String("mode")); mode {
	case "AUTO":
	case "IP":
		o.Mode = correlate.IP
	case "LBR":
		o.Mode = correlate.LBR
	default:
		return o, diag.New(diag.BadValue, "/mode takes IP, LBR or AUTO, not %q", c.String("mode"))
	}
	if o.Jobs, err = c.Jobs(); err != nil {
		return o, err
	}
	if s := c.String("ip-event"); s != "" {
		if o.IPEvent, err = ipEvent(s); err != nil {
			return o, err
		}
		if o.Mode == correlate.LBR {
			return o, diag.New(diag.BadOperands, "--ip-event has no meaning with /mode:LBR")
		}
	}
	return o, nil
}

// ipEvent reads the opcode of an event by its number or name.
func ipEvent(s string) (spt.Opcode, error) {
	counted := []spt.Opcode{spt.OpRetireInstr, spt.OpUnhaltCycle, spt.OpETWInstr, spt.OpRetireBrInstr}
	n, err := strconv.ParseUint(s, 0, 8)
	for _, op := range counted {
		if err == nil && spt.Opcode(n) == op || strings.EqualFold(s, op.String()) {
			return op, nil
		}
	}
	return 0, diag.New(diag.BadValue, "--ip-event takes 0x01, 0x02, 0x03 or 0x41, not %q", s).
		Because("Cache misses are no executions, and branch stacks no addresses.")
}

// percentage reads a percentage from 0 to 100.
func percentage(option, s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(s), "%"), 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return 0, diag.New(diag.BadValue, "--%s takes a percentage from 0 to 100, not %q", option, s)
	}
	return v, nil
}

// number reads a number that is not negative.
func number(option, s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return 0, diag.New(diag.BadValue, "--%s takes a number from 0 on, not %q", option, s)
	}
	return v, nil
}
