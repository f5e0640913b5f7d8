package ingest

import (
	"testing"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// twoBinaries has app at 1000, lib at 8000 and a kernel.
const twoBinaries = `
	0 map -1 ffffffff81000000+1000000 ffffffff81000000 [kernel.kallsyms]_text kernel
	1 map 10 1000+1000 0 /t/app
	1 map 10 8000+1000 0 /t/lib
	1 map 10 20000+1000 20000 //anon
	0 comm 10 app
`

// branches is an event with stacks of these kinds of branches.
func branches(kinds uint64) recording {
	a := cycles()
	a.BranchSampleType = kinds
	return recording{attrs: []*perfdata.Attr{a}}
}

func TestBranchStacks(t *testing.T) {
	for _, sc := range []scenario{
		{name: "order is kept", script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 1030>1040 1020>1024`,
			want: `ip app+10
			lbr app 50>10 30>40 20>24
			samples: used:1
			branches: used:3`},
		{name: "empty stack", script: twoBinaries + `
			2 sample 10 1010 lbr`,
			want: `ip app+10
			samples: used:1`},
		{name: "filler cuts", script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 0>0 1030>1040 1020>1024
			2 sample 10 1010 lbr 1050>1010 1030>1040 0>0 0>0
			2 sample 10 1010 lbr 0>0 1050>1010`,
			want: `ip app+10
			lbr app 50>10
			lbr app 30>40 20>24
			ip app+10
			lbr app 50>10 30>40
			ip app+10
			lbr app 50>10
			samples: used:3
			branches: used:6 zero_entry:4`},
		{name: "half fillers cut", script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 0>1040 1030>1040 1020>0 1060>1070`,
			want: `ip app+10
			lbr app 50>10
			lbr app 30>40
			lbr app 60>70
			samples: used:1
			branches: used:3 no_address:2`},
		{name: "wrong path and not taken cut", script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 1030>1040:w 1020>1024 1026>1028:n 1060>1070`,
			want: `ip app+10
			lbr app 50>10
			lbr app 20>24
			lbr app 60>70
			samples: used:1
			branches: used:3 not_taken:1 wrong_path:1`},
		{name: "branches between binaries cut", options: Options{InsideOnly: true}, script: twoBinaries + `
			2 sample 10 8010 lbr 8050>8010 1030>8040 1020>1024 8030>1018 8020>8024 8022>8026`,
			want: `ip lib+10
			lbr lib 50>10
			lbr app 20>24
			lbr lib 20>24 22>26
			samples: used:1
			branches: used:4 cross_binary:2`},
		{name: "branches between binaries end a piece of each", script: twoBinaries + `
			2 sample 10 8010 lbr 8050>8010 1030>8040 1020>1024 8030>1018 8020>8024 8022>8026`,
			want: `ip lib+10
			lbr lib 50>10 0>40
			lbr app 30>0 20>24 0>18
			lbr lib 30>0 20>24 22>26
			samples: used:1
			branches: used:6`},
		{name: "branches to and from nowhere end a piece", script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 5000>1040 1020>1024 1026>5000 1060>1070 20010>20020 1062>1072`,
			want: `ip app+10
			lbr app 50>10 0>40
			lbr app 20>24
			lbr app 26>0 60>70
			lbr app 62>72
			samples: used:1
			branches: used:6 jit:1`},
		{name: "system calls end a piece", options: Options{NoKernel: true}, script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 ffffffff81000030>1040 ffffffff81000010>ffffffff81000020 1020>ffffffff81000008 1060>1070`,
			want: `ip app+10
			lbr app 50>10 0>40
			lbr app 20>0 60>70
			samples: used:1
			branches: used:4 kernel:1`},
		{name: "two binaries without a branch between", script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 8020>8024 8022>8026 1030>1040`,
			want: `ip app+10
			lbr app 50>10
			lbr lib 20>24 22>26
			lbr app 30>40
			samples: used:1
			branches: used:4`},
		{name: "ends in nowhere cut", options: Options{InsideOnly: true}, script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 5000>1040 1020>1024 1026>5000 1060>1070 20010>20020 1062>1072`,
			want: `ip app+10
			lbr app 50>10
			lbr app 20>24
			lbr app 60>70
			lbr app 62>72
			samples: used:1
			branches: used:4 jit:1 unmapped:2`},
		{name: "system calls", options: Options{InsideOnly: true}, script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 ffffffff81000030>1040 ffffffff81000010>ffffffff81000020 1020>ffffffff81000008 1060>1070`,
			want: `ip app+10
			lbr app 50>10
			lbr [kernel.kallsyms] 10>20
			lbr app 60>70
			samples: used:1
			branches: used:3 cross_binary:2`},
		{name: "system calls, kernel left out", options: Options{NoKernel: true, InsideOnly: true}, script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 ffffffff81000030>1040 ffffffff81000010>ffffffff81000020 1020>ffffffff81000008 1060>1070
			2 sample 10 ffffffff81000010 kernel lbr ffffffff81000010>ffffffff81000020 ffffffffd0000000>ffffffffd0000010`,
			want: `ip app+10
			lbr app 50>10
			lbr app 60>70
			samples: used:1 kernel:1
			branches: used:2 cross_binary:1 kernel:4`},
		{name: "sample outside does not spoil its stack", script: twoBinaries + `
			2 sample 10 5000 lbr 1050>1010 1030>1040
			2 sample 10 ffffffffd0000000 kernel lbr 1050>1010 1030>1040
			2 sample 10 0 lbr 1050>1010`,
			want: `lbr app 50>10 30>40
			lbr app 50>10 30>40
			lbr app 50>10
			samples: used:3
			branches: used:5`},
		{name: "one half of a piece left over", options: Options{InsideOnly: true}, script: twoBinaries + `
			2 sample 10 5000 lbr 5000>1010 1030>5040`,
			want: `samples: unmapped:1
			branches: unmapped:2`},
		{name: "stack of another process", script: twoBinaries + `
			2 sample 11 1010 lbr 1050>1010`,
			want: `samples: unknown_process:1
			branches: unknown_process:1`},
		{name: "only calls are recorded", recording: branches(1<<0 | 1<<4), script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 1030>1040 0>0 1020>1024`,
			want: `ip app+10
			lbr app 50>10
			lbr app 30>40
			lbr app 20>24
			samples: used:1
			branches: used:3 zero_entry:1`},
		{name: "only conditional and indirect jumps", recording: branches(1<<10 | 1<<12), script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 1030>1040`,
			want: `ip app+10
			lbr app 50>10
			lbr app 30>40
			samples: used:1
			branches: used:2`},
		{name: "calls besides any", recording: branches(1<<3 | 1<<4), script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 1030>1040`,
			want: `ip app+10
			lbr app 50>10 30>40
			samples: used:1
			branches: used:2`},
		{name: "modes alone select no kinds", recording: branches(1<<0 | 1<<1), script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 1030>1040`,
			want: `ip app+10
			lbr app 50>10 30>40
			samples: used:1
			branches: used:2`},
		{name: "index and counters", recording: branches(1<<3 | perfdata.BranchHWIndex | perfdata.BranchCounters), script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1010 1030>1040`,
			want: `ip app+10
			lbr app 50>10 30>40
			samples: used:1
			branches: used:2`},
		{name: "one binary of which only one map has a build id", recording: recording{features: perfdata.Features{
			BuildIDs: []perfdata.BuildID{{ID: unhex(idA), Name: "/t/app"}}}}, script: `
			1 map 10 1000+1000 0 /t/app id=` + idA + `
			1 map 10 8000+1000 7000 /t/app
			2 sample 10 1010 lbr 1050>8010 8030>1040 8020>8024 chain USER 1010 8051 1061`,
			want: `ip app+10
			lbr app 50>7010 7030>40 7020>7024
			chain app 10 7051 61
			samples: used:1
			branches: used:3
			frames: used:3`},
		{name: "weights", options: Options{WeighByPeriod: true}, script: twoBinaries + `
			2 sample 10 1010 period=7 lbr 1050>1010 1030>1040
			2 sample 10 1010 period=0 lbr 1050>1010`,
			want: `ip app+10 x7
			lbr app 50>10 30>40 x7
			ip app+10
			lbr app 50>10
			samples: used:2
			branches: used:3`},
	} {
		sc.run(t)
	}
}

// TestLBRCallStacks has branch registers that hold a call stack: call sites,
// innermost first, and never branches.
func TestLBRCallStacks(t *testing.T) {
	callStack := branches(1<<0 | perfdata.BranchCallStack | perfdata.BranchHWIndex)
	for _, sc := range []scenario{
		{name: "call sites", script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1008 1090>1040 10a0>1080`,
			want: `ip app+10
			chain app 10 51 91 a1
			samples: used:1
			branches: used:3`},
		{name: "library in between", script: twoBinaries + `
			2 sample 10 8010 lbr 1050>8008 1090>1040 8020>1080 8030>8018 8040>8028`,
			want: `ip lib+10
			chain app 51 91
			chain lib 21 31 41
			samples: used:1
			branches: used:5`},
		{name: "single frames", script: twoBinaries + `
			2 sample 10 8010 lbr 1050>8008 8020>1040`,
			want: `ip lib+10
			samples: used:1
			branches: single_frame:2`},
		{name: "sample in nowhere", script: twoBinaries + `
			2 sample 10 5010 lbr 1050>5008 1090>1040 0>0 5020>1080`,
			want: `chain app 51 91
			samples: used:1
			branches: used:2 unmapped:1 zero_entry:1`},
		{name: "sample in the kernel starts where the newest call led to", script: twoBinaries + `
			2 sample 10 ffffffff81000010 kernel lbr 1050>1008 1090>1040`,
			want: `ip [kernel.kallsyms]+10
			chain app 8 51 91
			samples: used:1
			branches: used:2`},
		{name: "call that ends its map", script: twoBinaries + `
			2 sample 10 1010 lbr 1fff>1008`,
			want: `ip app+10
			chain app 10 1000
			samples: used:1
			branches: used:1`},
		{name: "the kernel's part of the call chain is used, the other stands in the registers", script: twoBinaries + `
			2 sample 10 ffffffff81000010 kernel lbr 1050>1008 1090>1040 chain KERNEL ffffffff81000010 ffffffff81000050 USER 1010 1051
			2 sample 10 1010 lbr 1050>1008 chain USER 1010 1051
			2 sample 10 1010 lbr chain USER 1010 1051`,
			want: `ip [kernel.kallsyms]+10
			chain [kernel.kallsyms] 10 50
			chain app 8 51 91
			ip app+10
			chain app 10 51
			ip app+10
			chain app 10 51
			samples: used:3
			branches: used:3
			frames: used:4`},
		{name: "left out as a whole", options: Options{Processes: []string{"other"}}, script: twoBinaries + `
			2 sample 10 1010 lbr 1050>1008 chain KERNEL ffffffff81000010 USER 1010 1051`,
			want: `samples: process_filter:1
			branches: process_filter:1
			frames: process_filter:1`},
	} {
		sc.recording = callStack
		sc.run(t)
	}
}

// TestLBRCallStackKind checks that a call stack in branch registers counts as
// one, so that nobody is told to use branches of which there are none.
func TestLBRCallStackKind(t *testing.T) {
	path := branches(perfdata.BranchCallStack).write(t, twoBinaries+`
		2 sample 10 1010 lbr 1050>1008
		2 sample 10 5010 lbr 5050>1008 chain KERNEL ffffffff81000010`)
	_, facts, _ := outcome(t, path, Options{})
	want := [...]string{"", "used:1 unmapped:1", "used:1 single_frame:1", ""}
	for k, w := range want {
		if got := account(&facts.Stats.Kinds[k]); got != w {
			t.Errorf("kind %d: %s, want %s", k, got, w)
		}
	}
}
