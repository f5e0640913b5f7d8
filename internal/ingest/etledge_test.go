package ingest

import "testing"

// TestETLScenarios shows what comes of single records.
func TestETLScenarios(t *testing.T) {
	for _, sc := range []etlScenario{
		{name: "sources by name and number", script: machineLines + `
			0 interval 30 16384 BranchInstructionRetired
			0 interval 31 1000 InstructionRetired
			0 interval 32 1000 LLCReference
			1 timer 104 400010
			2 pmc 104 400020 30
			3 pmc 104 400030 31
			4 pmc 104 400040 32
			5 pmc 104 400050 19  # TotalCycles everywhere
			6 pmc 104 400060 99
			7 cache 104:400070 204:400080
			8 nmi 204 400090
			9 timer 104 4000a0 count=3`,
			want: `ip app.exe+10 op=41
				ip app.exe+20 op=03
				ip app.exe+30 op=02
				ip app.exe+50
				ip app.exe+70 op=41
				ip tool.exe+80 op=41
				ip tool.exe+90 op=41
				ip app.exe+a0 op=41 x3
				samples: used:8 unknown_event:2`},
		{name: "events and weights of the user", script: machineLines + `
			0 interval 30 16384 BranchInstructionRetired
			0 interval 32 1000 LLCReference
			1 pmc 104 400020 30
			2 pmc 104 400040 32
			3 interval 32 500 LLCReference
			4 pmc 104 400050 32
			5 timer 104 400010`,
			options: Options{WeighByPeriod: true, Events: eventMap(t, []string{"LLCReference=1"}, []string{"LLCReference", "Timer"})},
			want: `ip app.exe+40 x1000
				ip app.exe+50 x500
				ip app.exe+10 op=41
				samples: used:3 event_filter:1`},
		{name: "idle", script: machineLines + `
			1 timer 0 fffff80000000100
			2 timer 0 fffff80000000200 dpc
			2 stack 1 0 0 fffff80000000100 fffff80000000300
			3 stack 2 0 0 fffff80000000200 fffff80000000300`,
			want: `ip ntoskrnl.exe+200 op=41
				chain ntoskrnl.exe 200 300
				samples: used:1 idle:1
				frames: used:2 idle:2`},
		{name: "stacks of other events do not count", script: machineLines + `
			1 timer 104 400010
			2 stack 1 104 100 400010 400020
			3 stack 2 104 100 400010 400020
			4 stack 1 204 200 400010 400020
			5 lbr 3 104 100 0 400010>400020`,
			want: `ip app.exe+10 op=41
				chain app.exe 10 20
				samples: used:1
				frames: used:2`},
		{name: "parts of stacks", script: machineLines + `
			1 timer 104 fffff80000000010
			2 stack 1 104 100 fffff80000000010 fffff80000000020
			3 stack 1 104 100 400010 400020 410030 410040 400050
			4 timer 104 fffff80000000010
			5 stack 4 104 100 fffff80000000010 fffff80000000020 401000 400ff0   # both sides in one
			6 stack 1 104 100 400010 401000   # the end of an image is a return address`,
			want: `ip ntoskrnl.exe+10 op=41
				chain ntoskrnl.exe 10 20
				chain app.exe 10 20
				chain lib.dll 30 40
				ip ntoskrnl.exe+10 op=41
				chain ntoskrnl.exe 10 20
				chain app.exe 10 1000
				samples: used:2
				frames: used:10 single_frame:2 unmapped:1`},
		{name: "a stack makes its sample used", script: machineLines + `
			1 timer 104 900000
			2 timer 104 900000
			3 stack 1 104 100 900000 400020 400030`,
			want: `chain app.exe 20 30
				samples: used:1 unmapped:1
				frames: used:2 unmapped:1`},
		{name: "keys stand for the next definition", script: machineLines + `
			1 timer 104 400010
			2 key 1 104 100 user ab
			3 define ab 400010 400020
			4 timer 104 400030
			5 key 4 104 100 user ab
			5 define ab 400030 400040
			6 define ab 400050 400060
			7 timer 104 400070
			8 key 7 104 100 kernel ab`,
			want: `ip app.exe+10 op=41
				chain app.exe 10 20
				ip app.exe+30 op=41
				chain app.exe 30 40
				ip app.exe+70 op=41
				samples: used:3
				frames: used:4`},
		{name: "branches", script: machineLines + `
			0 interval 30 16384 BranchInstructionRetired
			1 pmc 104 400010 30
			2 lbr 1 104 100 0 400010>400020 400030>400040 0>0 400050>400060 400070>410010 410020>410030
			3 pmc 104 400010 30
			4 lbr 3 104 100 4 400010>400020 400030>400040
			5 pmc 104 400010 30
			6 lbr 5 104 100 200 400010>400020 400030>400040 410030>400060`,
			want: `ip app.exe+10 op=03
				lbr app.exe 10>20 30>40
				lbr app.exe 50>60
				lbr lib.dll 0>10
				lbr app.exe 70>0
				lbr lib.dll 20>30
				ip app.exe+10 op=03
				lbr app.exe 10>20
				lbr app.exe 30>40
				ip app.exe+10 op=03
				chain app.exe 20 11 31
				samples: used:3
				branches: used:9 single_frame:1 zero_entry:1`},
		{name: "flags in the upper bits of addresses", script: machineLines + `
			1 pmc 104 400010 6
			2 lbr 1 104 100 0 8000000000400010>400020 4000000000400030>c000000000400040 7ffff80000000010>fffff80000000020`,
			want: `ip app.exe+10 op=03
				lbr app.exe 10>20 30>40
				lbr ntoskrnl.exe 10>20
				samples: used:1
				branches: used:3`},
		{name: "the time line knows better than a branch record", script: machineLines + `
			1 pmc 104 400010 6
			2 lbr 1 104 200 0 400010>400020`,
			want: `ip app.exe+10 op=03
				lbr app.exe 10>20
				samples: used:1
				branches: used:1`},
		{name: "unknown threads", script: machineLines + `
			1 timer 999 400010   # its stack knows
			2 stack 1 999 200 400010 400020
			3 pmc 999 400030 6   # its branches know
			4 lbr 3 999 100 0 400010>400020
			5 timer 999 400040   # nothing knows
			6 timer 999 fffff80000000040
			7 timer 104 400050
			8 thread end 104 100
			9 timer 104 400060   # on its way out
			10 pmc 999 400070 6  # stacks are trusted more than branches
			11 lbr 10 999 100 0 400010>400020
			12 stack 10 999 200 400070 400020`,
			want: `chain tool.exe 10 20
				lbr app.exe 10>20
				ip app.exe+50 op=41
				lbr app.exe 10>20
				chain tool.exe 70 20
				ip tool.exe+10 op=41
				ip app.exe+30 op=03
				ip ntoskrnl.exe+40 op=41
				ip app.exe+60 op=41
				ip tool.exe+70 op=03
				samples: used:6 unknown_process:1
				branches: used:2
				frames: used:4`},
		{name: "threads of processes that nothing tells of", script: machineLines + `
			0 thread there 500 500
			1 timer 500 400010
			2 timer 500 fffff80000000010`,
			want: `ip ntoskrnl.exe+10 op=41
				samples: used:1 unknown_process:1`},
		{name: "a sample before its image", script: machineLines + `
			1 process start 300 new.exe
			2 thread start 304 300
			3 image start 300 600000+1000 \Device\HarddiskVolume3\app\first.dll
			4 timer 304 610010
			5 image start 300 620000+1000 \Device\HarddiskVolume3\app\third.dll
			6 image start 300 610000+1000 \Device\HarddiskVolume3\app\second.dll
			7 timer 304 620010
			8 timer 304 630010`,
			want: `ip second.dll+10 op=41
				ip third.dll+10 op=41
				samples: used:2 unmapped:1`},
		{name: "process and thread ids are used again", script: machineLines + `
			1 process start 300 one.exe key=1
			1 thread start 304 300
			1 image start 300 600000+1000 \Device\HarddiskVolume3\app\one.exe
			2 timer 304 600010
			3 thread end 304 300
			3 process end 300 one.exe key=1
			4 process start 300 two.exe key=2
			4 thread start 304 300
			4 timer 304 600010
			5 image start 300 600000+2000 \Device\HarddiskVolume3\app\two.exe
			6 timer 304 600010
			7 thread end 304 300
			8 thread start 304 100
			9 timer 304 600010
			9 timer 304 400010`,
			want: `ip one.exe+10 op=41
				ip two.exe+10 op=41
				ip two.exe+10 op=41
				ip app.exe+10 op=41
				samples: used:4 unmapped:1`},
		{name: "an image makes room for another one", script: machineLines + `
			1 timer 104 410010
			2 image end 100 410000+1000 \Device\HarddiskVolume3\app\lib.dll
			2 image start 100 410000+2000 \Device\HarddiskVolume3\app\next.dll
			3 timer 104 411010
			4 timer 204 700010
			5 image end 200 700000+1000 \Device\HarddiskVolume3\app\before.dll`,
			want: `ip lib.dll+10 op=41
				ip next.dll+1010 op=41
				ip before.dll+10 op=41
				samples: used:3`},
		{name: "what is there at the end was there before", script: `
			1 timer 104 400010
			2 process start 300 late.exe
			2 thread start 304 300
			3 timer 304 400010
			4 timer 104 fffff80000000010
			9 process still 300 late.exe
			9 process still 100 app.exe
			9 thread still 304 300
			9 thread still 104 100
			9 image still 300 400000+1000 \Device\HarddiskVolume3\app\late.exe
			9 image still 100 400000+1000 \Device\HarddiskVolume3\app\app.exe
			9 image still 0 fffff80000000000+10000 \SystemRoot\system32\ntoskrnl.exe`,
			want: `ip app.exe+10 op=41
				ip late.exe+10 op=41
				ip ntoskrnl.exe+10 op=41
				samples: used:3`},
		{name: "no kernel", script: machineLines + `
			1 timer 104 fffff80000000010
			2 timer 104 fffff80000900010
			3 timer 104 400010
			4 stack 1 104 100 fffff80000000010 fffff80000000020
			5 stack 1 104 100 400010 400020`,
			options: Options{NoKernel: true},
			want: `ip app.exe+10 op=41
				chain app.exe 10 20
				samples: used:2 kernel:1
				frames: used:2 kernel:2`},
		{name: "kernel code outside of images", script: machineLines + `
			1 timer 104 fffff80000900010`,
			want: `samples: kernel_unmapped:1`},
		{name: "process by name", script: machineLines + processSamples, options: Options{Processes: []string{"TOOL"}}, want: toolOnly},
		{name: "process by name with extension", script: machineLines + processSamples, options: Options{Processes: []string{"tool.exe"}}, want: toolOnly},
		{name: "process by path", script: machineLines + processSamples, options: Options{Processes: []string{`app\tool.exe`}}, want: toolOnly},
		{name: "process by id", script: machineLines + processSamples, options: Options{PIDs: []uint32{200}}, want: toolOnly},
		{name: "binary", script: machineLines + processSamples, options: Options{Binaries: []string{"tool.exe"}},
			want: `ip tool.exe+10 op=41
				chain tool.exe 10 20
				lbr tool.exe 10>20
				samples: used:2 binary_filter:1 idle:1
				branches: used:1 binary_filter:1
				frames: used:2 binary_filter:2`},
		{name: "time", script: machineLines + `
			50 timer 104 400010
			100 timer 104 400020    # a second from the start
			150 timer 104 400030
			151 stack 50 104 100 400010 400040
			152 stack 150 104 100 400030 400040
			200 timer 104 400050`,
			options: Options{Time: &TimeRange{From: 1, To: 2}},
			want: `ip app.exe+20 op=41
				ip app.exe+30 op=41
				chain app.exe 30 40
				samples: used:2 time_filter:2
				frames: used:2 time_filter:2`},
		{name: "32 bit with 3 GB for programs", script: `32
			0 cpu MACHINE bffeffff
			0 process there 100 app.exe
			0 thread there 104 100
			0 image there 0 c0400000+10000 \WINDOWS\system32\ntkrnlpa.exe
			0 image there 100 90000000+1000 \Device\HarddiskVolume1\app\app.exe
			1 timer 104 90000010
			2 timer 104 c0400010`,
			want: `ip app.exe+10 op=41
				ip ntkrnlpa.exe+10 op=41
				samples: used:2`},
	} {
		sc.run(t)
	}
}

// processSamples are samples of two processes.
const processSamples = `
	0 interval 30 1000 BranchInstructionRetired
	1 timer 204 400010
	2 stack 1 204 200 400010 400020
	3 timer 0 fffff80000000010
	4 timer 104 400010
	5 stack 4 104 100 400010 400020
	6 pmc 204 fffff80000000010 30
	7 lbr 6 204 200 0 400010>400020 fffff80000000010>fffff80000000020
`

const toolOnly = `
	ip tool.exe+10 op=41
	chain tool.exe 10 20
	ip ntoskrnl.exe+10 op=03
	lbr tool.exe 10>20
	lbr ntoskrnl.exe 10>20
	samples: used:2 idle:1 process_filter:1
	branches: used:2
	frames: used:2 process_filter:2`

func eventMap(t *testing.T, settings, only []string) *EventMap {
	t.Helper()
	m, err := NewEventMap(settings, only)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
