package ingest

import (
	"testing"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// TestProcesses has what becomes of address spaces when processes start, run
// other programs and end. Without files on disk an RVA is a file offset.
func TestProcesses(t *testing.T) {
	for _, sc := range []scenario{
		{name: "fork inherits maps", script: `
			1 comm 10 app exec
			2 map 10 1000+1000 0 /t/app
			3 fork 11 10
			4 sample 11 1010`,
			want: `ip app+10
			samples: used:1`},
		{name: "later changes do not leak", script: `
			1 map 10 1000+1000 0 /t/app
			3 fork 11 10
			4 map 10 1000+1000 0 /t/parent
			4 map 11 5000+1000 0 /t/child
			5 sample 10 1010
			5 sample 11 1010
			5 sample 11 5010
			5 sample 10 5010`,
			want: `ip parent+10
			ip app+10
			ip child+10
			samples: used:3 unmapped:1`},
		{name: "fork of a fork", script: `
			1 map 10 1000+1000 0 /t/app
			2 fork 11 10
			3 fork 12 11
			4 map 11 1000+1000 0 /t/other
			5 sample 12 1010
			5 sample 10 1010`,
			want: `ip app+10
			ip app+10
			samples: used:2`},
		{name: "child is known only by its samples", script: `
			1 map 10 1000+1000 0 /t/app
			5 sample 11 1010`,
			want: `samples: unknown_process:1`},
		{name: "made-up fork inherits nothing", script: `
			0 map 10 1000+1000 0 /t/app
			0 fork 11 10 synth
			2 comm 11 other
			5 sample 11 1010`,
			want: `samples: unmapped:1`},
		{name: "thread shares maps", script: `
			1 map 10 1000+1000 0 /t/app
			2 fork 11 10 thread
			3 map 10 3000+1000 0 /t/lib
			5 sample 10 3010 tid=11`,
			want: `ip lib+10
			samples: used:1`},
		{name: "exec clears maps", script: `
			1 comm 10 sh exec
			2 map 10 1000+1000 0 /t/sh
			5 comm 10 app exec
			6 map 10 8000+1000 0 /t/app
			3 sample 10 1010
			7 sample 10 1010
			7 sample 10 8010`,
			want: `ip sh+10
			ip app+10
			samples: used:2 unmapped:1`},
		{name: "new name without exec keeps maps", script: `
			1 map 10 1000+1000 0 /t/app
			2 comm 10 worker
			3 sample 10 1010`,
			want: `ip app+10
			samples: used:1`},
		{name: "vfork and exec", script: `
			1 map 10 1000+1000 0 /t/sh
			2 fork 11 10
			3 comm 11 app exec
			4 map 11 1000+1000 0 /t/app
			5 sample 10 1010
			5 sample 11 1010`,
			want: `ip sh+10
			ip app+10
			samples: used:2`},
		{name: "reused pid", script: `
			1 comm 10 one exec
			2 map 10 1000+1000 0 /t/one
			3 exit 10
			5 fork 10 1
			6 comm 10 two exec
			7 map 10 1000+1000 0 /t/two
			2 sample 10 1010
			4 sample 10 1010
			8 sample 10 1010`,
			want: `ip one+10
			ip one+10
			ip two+10
			samples: used:3`},
		{name: "two lives at other bases overlap in time", script: `
			1 map 10 1000+1000 0 /t/app id=0102030405060708090a
			1 map 11 7000+1000 0 /t/app id=0102030405060708090a
			2 sample 10 1010
			2 sample 11 7010
			3 exit 10
			4 sample 11 7020
			4 sample 11 1020`,
			want: `ip app+10
			ip app+10
			ip app+20
			samples: used:3 unmapped:1`},
		{name: "out of order", script: `
			9 sample 10 1010
			3 sample 10 1010
			6 map 10 1000+1000 0 /t/new
			2 map 10 1000+1000 0 /t/old
			1 comm 10 app exec`,
			want: `ip new+10
			ip old+10
			samples: used:2`},
		{name: "sample just before its map", script: `
			1 comm 10 app exec
			2 map 10 1000+1000 0 /t/app
			5 map 10 3000+1000 0 /t/lib
			4 sample 10 3010
			1 sample 10 1010`,
			want: `ip lib+10
			ip app+10
			samples: used:2`},
		{name: "sample just before its process", script: `
			1 map 10 1000+1000 0 /t/app
			5 fork 11 10
			4 sample 11 1010`,
			want: `ip app+10
			samples: used:1`},
		{name: "records made up by the recorder precede everything", script: `
			5 sample 10 1010
			9 map 10 1000+1000 0 /t/later
			0 map 10 1000+1000 0 /t/app
			18446744073709551615 map 11 1000+1000 0 /t/app
			9 map 11 1000+1000 0 /t/later
			5 sample 11 1010
			10 sample 11 1010
			0 sample 10 1010`,
			want: `ip app+10
			ip app+10
			ip later+10
			ip app+10
			samples: used:4`},
		{name: "pid -1 is nobody", script: `
			0 map -1 0+ffffffffffff1000 ffffffff81000000 [kernel.kallsyms]_text kernel
			1 comm -1 ghost
			5 sample -1 1010
			5 sample -1 ffffffff81000010 kernel
			5 sample 0 ffffffff81000020 kernel`,
			want: `ip [kernel.kallsyms]+10
			ip [kernel.kallsyms]+20
			samples: used:2 unknown_process:1`},
	} {
		sc.run(t)
	}
}

// TestClocks has recordings whose records do not tell when they were made.
func TestClocks(t *testing.T) {
	noTrailer := cycles()
	noTrailer.Flags = 0
	noTime := cycles()
	noTime.SampleType &^= perfdata.SampleTime
	neither := cycles()
	neither.Flags, neither.SampleType = 0, noTime.SampleType
	const execs = `
		0 comm 10 one
		0 map 10 1000+1000 0 /t/one v1
		5 sample 10 1010
		6 comm 10 two exec
		6 map 10 1000+1000 0 /t/two v1
		7 sample 10 1010`
	for _, sc := range []scenario{
		{name: "maps take the time of the sample before", recording: recording{attrs: []*perfdata.Attr{noTrailer}}, script: execs,
			want: `ip one+10
			ip two+10
			samples: used:2`},
		{name: "and of the latest one if samples are out of order", recording: recording{attrs: []*perfdata.Attr{noTrailer}}, script: `
			5 sample 10 1010
			3 sample 10 1010
			6 comm 10 two exec
			6 map 10 1000+1000 0 /t/two v1
			4 sample 10 1010
			7 sample 10 1010`,
			want: `ip two+10
			ip two+10
			ip two+10
			ip two+10
			samples: used:4`},
		{name: "without times all samples see the end", recording: recording{attrs: []*perfdata.Attr{noTime}}, script: execs,
			want: `ip two+10
			ip two+10
			samples: used:2`},
		{name: "without times and trailers too", recording: recording{attrs: []*perfdata.Attr{neither}}, script: execs,
			want: `ip two+10
			ip two+10
			samples: used:2`},
	} {
		sc.run(t)
	}
}

// TestMaps has what maps of one process mean.
func TestMaps(t *testing.T) {
	for _, sc := range []scenario{
		{name: "offset", script: `
			1 map 10 401000+1000 3000 /t/app
			2 sample 10 401010
			2 sample 10 401fff
			2 sample 10 402000
			2 sample 10 400fff`,
			want: `ip app+3010
			ip app+3fff
			samples: used:2 unmapped:2`},
		{name: "replaced", script: `
			1 map 10 1000+1000 0 /t/old
			5 map 10 1000+1000 0 /t/new
			4 sample 10 1010
			6 sample 10 1010`,
			want: `ip old+10
			ip new+10
			samples: used:2`},
		{name: "overlap keeps the outer parts", script: `
			1 map 10 1000+4000 0 /t/old
			2 map 10 2000+1000 0 /t/new
			3 sample 10 1010
			3 sample 10 2010
			3 sample 10 3010`,
			want: `ip old+10
			ip new+10
			ip old+2010
			samples: used:3`},
		{name: "data takes the place of code", script: `
			1 map 10 1000+4000 0 /t/app
			2 map 10 2000+1000 0 /t/app data prot=3
			2 map 10 3000+1000 0 /t/app prot=1
			3 sample 10 1010
			3 sample 10 2010
			3 sample 10 3010
			3 sample 10 4010`,
			want: `ip app+10
			ip app+3010
			samples: used:2 unmapped:2`},
		{name: "old maps have no protection", script: `
			1 map 10 1000+1000 0 /t/app v1 prot=0
			1 map 10 5000+1000 0 /t/app v1 prot=0 data
			3 sample 10 1010
			3 sample 10 5010`,
			want: `ip app+10
			samples: used:1 unmapped:1`},
		{name: "up to the end of the address space", script: `
			1 map 10 fffffffffffff000+ffffffffffffffff 0 /t/app
			3 sample 10 fffffffffffff010`,
			want: `ip app+10
			samples: used:1`},
		{name: "far address", script: `
			1 map 10 1000+200000000 0 /t/app
			3 sample 10 100001000
			3 sample 10 100000fff`,
			want: `ip app+ffffffff
			samples: used:1 rva_over_4gib:1`},
		{name: "empty map", script: `
			1 map 10 1000+0 0 /t/app
			3 sample 10 1000`,
			want: `samples: unmapped:1`},
		{name: "deleted file keeps its name", script: `
			1 map 10 1000+1000 0 /t/app~(deleted)
			3 sample 10 1010`,
			want: `ip app+10
			samples: used:1`},
		{name: "run-time code", script: `
			1 map 10 1000+1000 1000 //anon
			1 map 10 2000+1000 2000 [heap]
			1 map 10 3000+1000 3000 [stack]
			1 map 10 4000+1000 0 /memfd:jit-cache~(deleted)
			1 map 10 5000+1000 0 /dev/zero~(deleted)
			1 map 10 6000+1000 0 /SYSV00000000~(deleted)
			1 map 10 7000+1000 0 [anon:v8]
			1 map 10 8000+1000 0 anon_inode:[perf_event]
			1 map 10 9000+1000 0 /anon_hugepage~(deleted)
			3 sample 10 1010
			3 sample 10 2010
			3 sample 10 3010
			3 sample 10 4010
			3 sample 10 5010
			3 sample 10 6010
			3 sample 10 7010
			3 sample 10 8010
			3 sample 10 9010`,
			want: `samples: jit:9`},
		{name: "program that runs from memory", script: `
			1 map 10 1000+1000 1000 /memfd:tool~(deleted) id=0102030405060708090a0b0c0d0e0f1011121314
			3 sample 10 1010`,
			want: `ip memfd:tool+1010
			samples: used:1`},
		{name: "text moved to huge pages", script: `
			1 map 10 1000+6000 10000 /t/app
			2 map 10 2000+2000 2000 //anon
			2 map 10 4000+1000 0 /anon_hugepage~(deleted)
			3 sample 10 2010
			3 sample 10 4010
			3 sample 10 5010`,
			want: `ip app+11010
			ip app+13010
			ip app+14010
			samples: used:3`},
		{name: "run-time code that reaches beyond a file", script: `
			1 map 10 1000+1000 0 /t/app
			2 map 10 1800+1000 1800 //anon
			3 sample 10 1010
			3 sample 10 1810`,
			want: `ip app+10
			samples: used:1 jit:1`},
		{name: "file over run-time code", script: `
			1 map 10 1000+4000 1000 //anon
			2 map 10 2000+1000 0 /t/lib
			3 sample 10 1010
			3 sample 10 2010`,
			want: `ip lib+10
			samples: used:1 jit:1`},
		{name: "vdso and vsyscall", script: `
			1 map 10 7ffc1000+2000 0 [vdso]
			1 map 10 ffffffffff600000+1000 0 [vsyscall]
			3 sample 10 7ffc1010
			3 sample 10 ffffffffff600010
			3 sample 11 ffffffffff600410`,
			want: `ip [vdso]+10
			samples: used:1 vsyscall:2`},
		{name: "addresses of vdso count from its start", script: `
			1 map 10 7ffc1000+2000 7ffc1000 [vdso]
			3 sample 10 7ffc1010`,
			want: `ip [vdso]+10
			samples: used:1`},
	} {
		sc.run(t)
	}
}

// TestKernel has the kernel, its modules and virtual machines.
func TestKernel(t *testing.T) {
	const kernel = `
		0 map -1 ffffffff81000000+1000000 ffffffff81000000 [kernel.kallsyms]_text kernel
		0 map -1 ffffffffc0100000+5000 0 [nf_nat] kernel
		0 map -1 ffffffffc0200000+5000 0 /lib/modules/6.1/kernel/fs/ext4/ext4.ko kernel
		1 map 10 1000+1000 0 /t/app
	`
	for _, sc := range []scenario{
		{name: "kernel and modules", script: kernel + `
			2 sample 10 ffffffff81000010 kernel
			2 sample 11 ffffffffc0100010 kernel
			2 sample 0 ffffffffc0200010 kernel
			2 sample 0 ffffffffd0200010 kernel
			2 sample 10 ffffffff81000020 nomode
			2 sample 10 1010 nomode
			2 sample 10 1010 kernel
			2 sample 10 ffffffff81000010`,
			want: `ip [kernel.kallsyms]+10
			ip [nf_nat]+10
			ip ext4.ko+10
			ip [kernel.kallsyms]+20
			ip app+10
			samples: used:5 kernel_unmapped:2 unmapped:1`},
		{name: "maps that the recorder makes up have no protection", script: `
			0 map -1 ffffffff81000000+1000000 ffffffff81000000 [kernel.kallsyms]_text kernel prot=0 id=` + idA + `
			0 map -1 ffffffffc0100000+5000 0 [nf_nat] kernel prot=0
			2 sample 10 ffffffff81000010 kernel
			2 sample 10 ffffffffc0100010 kernel`,
			want: `ip [kernel.kallsyms]+10
			ip [nf_nat]+10
			samples: used:2`},
		{name: "left out", options: Options{NoKernel: true}, script: kernel + `
			2 sample 10 ffffffff81000010 kernel
			2 sample 11 ffffffffc0100010 kernel
			2 sample 0 ffffffffd0200010 kernel
			2 sample 10 1010`,
			want: `ip app+10
			samples: used:1 kernel:3`},
		{name: "map that starts before the symbol", script: `
			0 map -1 ffffffff80000000+2000000 ffffffff81000000 [kernel.kallsyms]_text kernel
			2 sample 10 ffffffff81000010 kernel
			2 sample 10 ffffffff80000010 kernel`,
			want: `ip [kernel.kallsyms]+10
			samples: used:1 rva_over_4gib:1`},
		{name: "hidden addresses", script: `
			0 map -1 0+ffffffffffffffff 0 [kernel.kallsyms]_text kernel
			2 sample 10 ffffffff81000010 kernel`,
			want: `samples: kernel_hidden:1`},
		{name: "module over a kernel map of everything", script: `
			0 map -1 0+ffffffffffffffff ffffffff81000000 [kernel.kallsyms]_text kernel
			0 map -1 ffffffffc0100000+5000 0 [nf_nat] kernel
			1 map 10 1000+1000 0 /t/app
			2 sample 10 ffffffff81000010 kernel
			2 sample 10 ffffffffc0100010 kernel
			2 sample 10 1010
			2 sample 10 5010`,
			want: `ip [kernel.kallsyms]+10
			ip [nf_nat]+10
			ip app+10
			samples: used:3 unmapped:1`},
		{name: "kernel maps by pid alone", script: `
			0 map -1 ffffffff81000000+1000000 ffffffff81000000 [kernel.kallsyms]_text nomode v1
			0 map 0 ffffffffc0100000+5000 0 [nf_nat] kernel v1
			2 sample 10 ffffffff81000010 kernel
			2 sample 10 ffffffffc0100010 kernel`,
			want: `ip [kernel.kallsyms]+10
			ip [nf_nat]+10
			samples: used:2`},
		{name: "user map of nobody is not the kernel's", script: `
			0 map -1 ffffffff81000000+1000000 0 /t/app
			2 sample 10 ffffffff81000010 kernel`,
			want: `samples: kernel_unmapped:1`},
		{name: "programs of BPF are run-time code", script: kernel + `
			3 bpf ffffffffc0300000+100
			4 sample 10 ffffffffc0300010 kernel`,
			want: `samples: jit:1`},
		{name: "guests and hypervisors", script: kernel + `
			0 map 500 ffffffff81000000+1000000 ffffffff81000000 [guest.kernel.kallsyms]_text guest
			2 sample 500 ffffffff81000010 guestkernel
			2 sample 10 1010 guest
			2 sample 10 ffffffff81000010 hv
			2 sample 10 ffffffff81000010 kernel`,
			want: `ip [kernel.kallsyms]+10
			samples: used:1 guest:2 hypervisor:1`},
		{name: "32-bit kernel", recording: recording{features: perfdata.Features{Arch: "i686"}}, script: `
			0 map -1 c1000000+1000000 c1000000 [kernel.kallsyms]_text kernel
			2 sample 10 c1000010 nomode
			2 sample 10 0 kernel lbr c1000020>c1000030`,
			want: `ip [kernel.kallsyms]+10
			lbr [kernel.kallsyms] 20>30
			samples: used:2
			branches: used:1`},
	} {
		sc.run(t)
	}
}
