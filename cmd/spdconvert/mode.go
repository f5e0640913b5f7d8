package main

import (
	"errors"
	"fmt"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// surveyAll counts the samples of all SPTs before they are read.
func surveyAll(c *cli.Context, p *plan) error {
	var failed []error
	for _, in := range p.inputs {
		failed = append(failed, in.read(c, true, func(r *spt.Reader) (err error) {
			in.stats, err = correlate.Survey(r, in.uses)
			return err
		}))
	}
	return errors.Join(failed...)
}

// normalScale is the weight of a sample of an SPT of mean size.
const normalScale = 1 << 20

// normalized gives every naming of an SPT the same say: its samples weigh what
// makes their sum the mean of all.
func normalized(inputs []*input, o correlate.Options) []uint64 {
	mode, event := kind(inputs, o)
	var total, namings float64
	sizes := make([]float64, len(inputs))
	for i, in := range inputs {
		sizes[i] = float64(samples(in.stats.Chosen, mode, event))
		if sizes[i] > 0 {
			total += sizes[i] * float64(in.weight)
			namings += float64(in.weight)
		}
	}
	weights := make([]uint64, len(inputs))
	for i, in := range inputs {
		if sizes[i] > 0 {
			weights[i] = max(1, uint64(float64(in.weight)*total/namings/sizes[i]*normalScale+0.5))
		}
	}
	return weights
}

// kind is what the mode and event are going to be.
func kind(inputs []*input, o correlate.Options) (correlate.Mode, spt.Opcode) {
	present := map[spt.Opcode]bool{}
	var stats []correlate.InputStats
	for _, in := range inputs {
		stats = append(stats, in.stats)
		for _, n := range in.stats.Chosen {
			present[n.Op] = present[n.Op] || n.Hits > 0
		}
	}
	if o.Mode == correlate.LBR || o.Mode == correlate.Auto && correlate.KindsOf(stats).Mode() == correlate.LBR {
		return correlate.LBR, 0
	}
	if o.IPEvent != 0 {
		return correlate.IP, o.IPEvent
	}
	for _, op := range []spt.Opcode{spt.OpRetireInstr, spt.OpUnhaltCycle, spt.OpETWInstr} {
		if present[op] {
			return correlate.IP, op
		}
	}
	return correlate.IP, spt.OpETWCallStack
}

// explainMode presents why the samples do not suit the mode.
func explainMode(p *plan, err error) error {
	var wrong *correlate.WrongModeError
	var mixed *correlate.MixedKindsError
	switch {
	case errors.As(err, &mixed):
		e := diag.New(diag.MixedKinds, "%s", listKinds(p, mixed))
		return e
	case errors.As(err, &wrong):
		e := diag.New(diag.WrongMode, "%v", wrong)
		switch has := wrong.HasMode(); {
		case wrong.IPEvent != 0 && has == correlate.IP:
			e.Because("The recording has other events than the one that was asked for.").Do("Leave --ip-event out.")
		case has == correlate.Auto:
			e.Because("The SPT was made from a recording without usable events, or filters left none.").
				Do("Look at sptdump /summary of the SPTs; record branch stacks, instructions, cycles or the timer.")
		case has == correlate.LBR:
			e.Because("The recording has branch stacks and no addresses that count.").Do("spdconvert /mode:LBR %s %s", p.file, p.inputs[0].name)
		default:
			e.Because("The recording has no branch stacks.").Do("spdconvert /mode:IP %s %s", p.file, p.inputs[0].name)
		}
		return e
	}
	return err
}

func listKinds(p *plan, mixed *correlate.MixedKindsError) string {
	text := ""
	for _, k := range []struct {
		what   string
		inputs []int
	}{{"with branch stacks (LBR)", mixed.LBR}, {"with addresses alone (IP)", mixed.IP}} {
		if text != "" {
			text += "; "
		}
		text += k.what + ":"
		for n, i := range k.inputs {
			if n == 5 {
				text += fmt.Sprintf(" and %d more", len(k.inputs)-n)
				break
			}
			text += " " + p.inputs[i].name
		}
	}
	return text
}
