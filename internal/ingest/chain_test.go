package ingest

import (
	"testing"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

func TestCallChains(t *testing.T) {
	pageFaults := cycles()
	pageFaults.Type, pageFaults.Config, pageFaults.Name = 1, 2, "page-faults"
	for _, sc := range []scenario{
		{name: "user part", script: twoBinaries + `
			2 sample 10 1010 chain USER 1010 1051 1091`,
			want: `ip app+10
			chain app 10 51 91
			samples: used:1
			frames: used:3`},
		{name: "kernel and user parts", script: twoBinaries + `
			2 sample 10 ffffffff81000010 kernel chain KERNEL ffffffff81000010 ffffffff81000051 USER 1010 1051`,
			want: `ip [kernel.kallsyms]+10
			chain [kernel.kallsyms] 10 51
			chain app 10 51
			samples: used:1
			frames: used:4`},
		{name: "kernel left out", options: Options{NoKernel: true}, script: twoBinaries + `
			2 sample 10 ffffffff81000010 kernel chain KERNEL ffffffff81000010 ffffffff81000051 USER 1010 1051`,
			want: `chain app 10 51
			samples: used:1
			frames: used:2 kernel:2`},
		{name: "without markers the sample tells the mode", script: twoBinaries + `
			2 sample 10 1010 chain 1010 1051
			2 sample 10 ffffffff81000010 kernel chain ffffffff81000010 ffffffff81000051
			2 sample 10 1010 nomode chain ffffffff81000010 ffffffff81000051 1051`,
			want: `ip app+10
			chain app 10 51
			ip [kernel.kallsyms]+10
			chain [kernel.kallsyms] 10 51
			ip app+10
			chain [kernel.kallsyms] 10 51
			samples: used:3
			frames: used:6 single_frame:1`},
		{name: "cut at other binaries", script: twoBinaries + `
			2 sample 10 8010 chain USER 8010 8051 1051 1061 1071 8061 8071`,
			want: `ip lib+10
			chain lib 10 51
			chain app 51 61 71
			chain lib 61 71
			samples: used:1
			frames: used:7`},
		{name: "single frames", script: twoBinaries + `
			2 sample 10 8010 chain USER 8010 1051 8051`,
			want: `ip lib+10
			samples: used:1
			frames: single_frame:3`},
		{name: "cut at unknown frames", script: twoBinaries + `
			2 sample 10 1010 chain USER 1010 1051 5001 1061 1071 0 1081 1091 20011`,
			want: `ip app+10
			chain app 10 51
			chain app 61 71
			chain app 81 91
			samples: used:1
			frames: used:6 jit:1 no_address:1 unmapped:1`},
		{name: "return address behind the end of its map", script: twoBinaries + `
			2 sample 10 1010 chain USER 1010 2000
			2 sample 10 1010 chain USER 2000 1051`,
			want: `ip app+10
			chain app 10 1000
			ip app+10
			samples: used:2
			frames: used:2 single_frame:1 unmapped:1`},
		{name: "first frame of each part is no return address", script: twoBinaries + `
			2 sample 10 1010 chain KERNEL ffffffff81000000 ffffffff81000051 USER 1000 1051`,
			want: `ip app+10
			chain [kernel.kallsyms] 0 51
			chain app 0 51
			samples: used:1
			frames: used:4`},
		{name: "user part that comes later", script: twoBinaries + `
			2 sample 10 1010 chain KERNEL ffffffff81000010 ffffffff81000051 DEFERRED 1051
			2 sample 10 1010 chain DEFERRED 77`,
			want: `ip app+10
			chain [kernel.kallsyms] 10 51
			ip app+10
			samples: used:2
			frames: used:2`},
		{name: "guests and hypervisors", script: twoBinaries + `
			2 sample 10 1010 chain HV 1010 GUEST 1010 1020 USER 1010 1051`,
			want: `ip app+10
			chain app 10 51
			samples: used:1
			frames: used:2 guest:2 hypervisor:1`},
		{name: "markers alone are no call stack", script: twoBinaries + `
			2 sample 10 5010 chain USER
			2 sample 10 5010 chain DEFERRED 77`,
			want: `samples: unmapped:2`},
		{name: "chain without a sample in a binary", script: twoBinaries + `
			2 sample 10 5010 chain USER 5010 1051 1061`,
			want: `chain app 51 61
			samples: used:1
			frames: used:2 unmapped:1`},
		{name: "chain and branches", script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 chain USER 1010 1051`,
			want: `ip app+10
			lbr app 50>10
			chain app 10 51
			samples: used:1
			branches: used:1
			frames: used:2`},
		{name: "event that stands for no cost", recording: recording{attrs: []*perfdata.Attr{pageFaults}}, script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 chain USER 1010 1051
			2 sample 10 1010 chain USER 1010 5001`,
			want: `lbr app 50>10
			samples: used:1 unknown_event:1
			branches: used:1
			frames: unknown_event:3 unmapped:1`},
		{name: "weights", options: Options{WeighByPeriod: true}, script: twoBinaries + `
			2 sample 10 1010 period=7 chain USER 1010 1051`,
			want: `ip app+10 x7
			chain app 10 51 x7
			samples: used:1
			frames: used:2`},
	} {
		sc.run(t)
	}
}

// TestKinds checks which accounts a sample with everything counts in.
func TestKinds(t *testing.T) {
	clock := cycles()
	clock.Type, clock.Name = 1, "cpu-clock"
	const script = twoBinaries + `
		2 sample 10 1010 lbr 1050>1010 chain USER 1010 1051
		2 sample 10 5010 lbr 1050>1010 chain USER 5010 1051
		2 sample 11 5010 lbr chain`
	for _, tc := range []struct {
		attr    *perfdata.Attr
		options Options
		want    [sample.KindCount]string // LBR, PMC, Stack, Timer
	}{
		{cycles(), Options{}, [...]string{"used:2", "used:1 unknown_process:1 unmapped:1", "used:1 unmapped:1", ""}},
		{clock, Options{}, [...]string{"used:2", "", "used:1 unmapped:1", "used:1 unknown_process:1 unmapped:1"}},
		{cycles(), Options{PIDs: []uint32{12}}, [...]string{"process_filter:2", "process_filter:3", "process_filter:2", ""}},
	} {
		_, facts, _ := outcome(t, recording{attrs: []*perfdata.Attr{tc.attr}}.write(t, script), tc.options)
		for k, want := range tc.want {
			if got := account(&facts.Stats.Kinds[k]); got != want {
				t.Errorf("%s %v: samples of kind %d: %s, want %s", tc.attr.Name, tc.options.PIDs, k, got, want)
			}
		}
	}
}
