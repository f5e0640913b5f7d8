package ingest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// machine is a Windows machine on which it is known what ran: samples are made
// of places in images, so what must come of them needs no look-up.
type machine struct {
	ptr       int
	kernel    []machineImage
	processes []machineProcess
	nImages   int
}

type machineProcess struct {
	etl.TraceProcess
	images []machineImage
}

// machineImage is an image with the number that expectations give its binary.
type machineImage struct {
	etl.TraceImage
	number int32
}

// moment are the ticks from one sample to the next; what happens to processes
// happens between two.
const (
	moment   = 20
	moments  = 1500
	duration = moment * (moments + 2)
)

// Profile sources of the machine.
const (
	branchSource = 30 // BranchInstructionRetired
	otherSource  = 31 // has no opcode
)

// newMachine makes a machine with two programs that stay, one of which changes
// an image for another at the same address, a 32-bit program on 64 bits, and
// two that follow each other under one process id and thread id.
func newMachine(ptr int) *machine {
	m := &machine{ptr: ptr}
	image := func(path string, base, size uint64, load, unload int64) machineImage {
		n := int32(m.nImages)
		m.nImages++
		guid := binfmt.GUID{0: 0x11, 15: byte(n + 1)}
		return machineImage{etl.TraceImage{Path: path, Base: base, Size: size, TimeDateStamp: 0x5eed5eed, Checksum: 7,
			PDB: "x.pdb", PDBGUID: guid, PDBAge: uint32(n + 1), Load: load, Unload: unload}, n}
	}
	const disk = `\Device\HarddiskVolume3\`
	kernel, high, wow := uint64(0xfffff80000000000), uint64(0x7ff600000000), uint64(0x77000000)
	if ptr == 4 {
		kernel, high = 0x81000000, 0x70000000
	}
	m.kernel = []machineImage{
		image(`\SystemRoot\system32\ntoskrnl.exe`, kernel, 0x800000, 0, 0),
		image(`\SystemRoot\system32\drivers\disk.sys`, kernel+0x900000, 0x20000, 300*moment+1, 0),
	}
	process := func(pid uint32, name string, start, end int64, threads []uint32, images ...machineImage) {
		p := machineProcess{etl.TraceProcess{PID: pid, ParentPID: 4, Name: name, Threads: threads, Start: start, End: end}, images}
		for _, i := range images {
			p.Images = append(p.Images, i.TraceImage)
		}
		m.processes = append(m.processes, p)
	}
	ntdll := image(disk+`Windows\System32\ntdll.dll`, high+0x2000000, 0x1f0000, 0, 0)
	process(100, "app.exe", 0, 0, []uint32{104, 108},
		image(disk+`app\app.exe`, 0x400000, 0x30000, 0, 0), ntdll,
		image(disk+`app\old.dll`, high, 0x10000, 0, 500*moment+1), image(disk+`app\new.dll`, high, 0x14000, 500*moment+1, 0))
	process(300, "wow.exe", 0, 0, []uint32{304}, image(disk+`app\wow.exe`, 0x400000, 0x31000, 0, 0), ntdll,
		image(disk+`Windows\SysWOW64\ntdll.dll`, wow, 0x180000, 0, 0))
	process(200, "tool.exe", 100*moment+1, 700*moment+1, []uint32{204},
		image(disk+`app\tool.exe`, 0x500000, 0x32000, 0, 0), ntdll, image(disk+`app\a.dll`, 0x600000, 0x8000, 0, 0))
	process(200, "other.exe", 800*moment+1, 0, []uint32{204},
		image(disk+`app\other.exe`, 0x500000, 0x33000, 0, 0), ntdll, image(disk+`app\b.dll`, 0x604000, 0x9000, 0, 0))
	return m
}

// there says whether something is there that came and went at these times; 0
// means since before and still.
func there(load, unload, time int64) bool { return load <= time && (unload == 0 || time < unload) }

// spot is a place in an image, or nowhere: the image is nil.
type spot struct {
	image *machineImage
	rva   uint64
}

func (s spot) addr() uint64 {
	if s.image == nil {
		return 0x10000 + s.rva // below all images
	}
	return s.image.Base + s.rva
}

// expectation is what must come of the samples.
type expectation struct {
	*tally
	samples, branches, frames sample.Account
	kinds                     [sample.KindCount]sample.Account
	entries, walked           uint64 // branches and frames that the trace has
}

// script makes the samples of the machine and what must come of them.
func (m *machine) script(seed uint64) ([]etl.TraceSample, *expectation) {
	rng := rand.New(rand.NewPCG(seed, 1))
	want := &expectation{tally: newTally()}
	var samples []etl.TraceSample
	for i := range int64(moments) {
		time := (i + 1) * moment
		s := etl.TraceSample{Time: time, Processor: int(i % 3)}
		if rng.IntN(20) == 0 { // the idle loop
			s.IP = m.kernel[0].Base + 0x1234
			want.samples.Add(sample.Idle, 1)
			want.kinds[sample.Timer].Add(sample.Idle, 1)
			samples = append(samples, s)
			continue
		}
		p := &m.processes[rng.IntN(len(m.processes))]
		for !there(p.Start, p.End, time) {
			p = &m.processes[rng.IntN(len(m.processes))]
		}
		s.PID, s.TID = p.PID, p.Threads[rng.IntN(len(p.Threads))]
		pick := func(kernelToo bool, nowhere int) spot {
			if rng.IntN(100) < nowhere {
				return spot{rva: uint64(rng.IntN(0x1000))}
			}
			from := p.images
			if kernelToo && rng.IntN(4) == 0 {
				from = m.kernel
			}
			for {
				if x := &from[rng.IntN(len(from))]; there(x.Load, x.Unload, time) {
					return spot{x, 1 + uint64(rng.IntN(int(x.Size)-1))}
				}
			}
		}
		ip := pick(true, 5)
		s.IP = ip.addr()
		s.Source = []uint16{etl.SourceTimer, branchSource, etl.SourceTotalIssues, otherSource}[rng.IntN(4)]
		used := want.address(ip, s.Source)
		reason := used
		if s.Source != etl.SourceTimer && rng.IntN(3) > 0 {
			s.LBROption = []uint32{0, etl.LBRNoKernel, etl.LBRNoCall, etl.LBRCallStack}[rng.IntN(4)]
			if want.lastBranches(rng, &s, pick) {
				reason = sample.Used
			}
		}
		if rng.IntN(2) == 0 && s.LBROption&etl.LBRCallStack == 0 {
			if want.callStack(rng, &s, ip, m.kernel, pick) {
				reason = sample.Used
			}
		}
		want.samples.Add(reason, 1)
		samples = append(samples, s)
	}
	return samples, want
}

var sourceOpcodes = map[uint16]spt.Opcode{etl.SourceTimer: spt.OpETWInstr, branchSource: spt.OpRetireBrInstr, etl.SourceTotalIssues: spt.OpRetireInstr}

// address expects an address.
func (w *expectation) address(ip spot, source uint16) sample.Reason {
	reason := sample.Used
	op, ok := sourceOpcodes[source]
	switch {
	case ip.image == nil:
		reason = sample.Unmapped
	case !ok:
		reason = sample.UnknownEvent
	default:
		w.IP(ip.image.number, byte(op), uint32(ip.rva), 1)
	}
	if kind, ok := addressKind(op); ok {
		w.kinds[kind].Add(reason, 1)
	}
	return reason
}

// lastBranches makes a branch stack and expects its pieces.
func (w *expectation) lastBranches(rng *rand.Rand, s *etl.TraceSample, pick func(bool, int) spot) bool {
	type entry struct{ from, to spot }
	var stack []entry
	for range 1 + rng.IntN(32) {
		from, to := pick(true, 3), pick(true, 3)
		if rng.IntN(4) > 0 && from.image != nil {
			to = spot{from.image, 1 + uint64(rng.IntN(int(from.image.Size)-1))}
		}
		if rng.IntN(12) == 0 {
			stack = append(stack, entry{})
			s.Branches = append(s.Branches, etl.Branch{})
			continue
		}
		stack = append(stack, entry{from, to})
		s.Branches = append(s.Branches, etl.Branch{From: from.addr(), To: to.addr(), Info: rng.Uint64N(1 << 16)})
	}
	w.entries += uint64(len(stack))
	if s.LBROption&etl.LBRCallStack != 0 {
		return w.callsInBranches(s, stack[0].to, func(yield func(spot)) {
			for _, e := range stack {
				e.from.rva++
				yield(e.from)
			}
		})
	}
	first, used := sample.Used, false
	var before *arc
	for _, e := range stack {
		reason := sample.Used
		switch {
		case e == entry{}:
			reason = sample.ZeroEntry
		case e.from.image == nil, e.to.image == nil:
			reason = sample.Unmapped
		case e.from.image != e.to.image:
			reason = sample.CrossBinary
		}
		w.branches.Add(reason, 1)
		if reason != sample.Used {
			if before = nil; first == sample.Used {
				first = reason
			}
			continue
		}
		a := arc{e.from.image.number, uint32(e.from.rva), uint32(e.to.rva)}
		w.arcs[a]++
		if before != nil && before.binary == a.binary && s.LBROption&etl.LBRNoCall == 0 {
			w.pairs[arcPair{*before, a}]++
		}
		before, used = &a, true
	}
	if used {
		first = sample.Used
	}
	w.kinds[sample.LBR].Add(first, 1)
	return used
}

// callsInBranches expects a call stack in branch registers: where the newest
// call led to, then what follows each call.
func (w *expectation) callsInBranches(s *etl.TraceSample, top spot, calls func(func(spot))) bool {
	list := []spot{top}
	if s.Branches[0] == (etl.Branch{}) {
		list[0] = spot{rva: ^uint64(0) - 0xffff} // address 0
	}
	i := 0
	calls(func(c spot) {
		if s.Branches[i] == (etl.Branch{}) {
			c = spot{rva: 1 << 40} // marks a filler
		}
		i++
		list = append(list, c)
	})
	return w.chain(s.Source, &w.branches, 1, [][]spot{list})
}

// callStack makes a call stack, the kernel's part and the user's, and expects
// its pieces.
func (w *expectation) callStack(rng *rand.Rand, s *etl.TraceSample, ip spot, kernel []machineImage, pick func(bool, int) spot) bool {
	var parts [][]spot
	inKernel := ip.image != nil && slices.ContainsFunc(kernel, func(k machineImage) bool { return k.number == ip.image.number })
	if inKernel {
		part := []spot{ip}
		for range rng.IntN(6) {
			part = append(part, spot{&kernel[0], 1 + uint64(rng.IntN(int(kernel[0].Size)))})
		}
		parts = append(parts, part)
		ip = pick(false, 0)
	}
	if !inKernel || rng.IntN(3) > 0 {
		part := []spot{ip}
		for range rng.IntN(20) {
			if f := pick(false, 5); rng.IntN(3) > 0 && part[len(part)-1].image != nil {
				last := part[len(part)-1].image
				part = append(part, spot{last, 1 + uint64(rng.IntN(int(last.Size)))}) // maybe the end of the image
			} else {
				part = append(part, f)
			}
		}
		parts = append(parts, part)
	}
	for _, part := range parts {
		for _, f := range part {
			s.Stack = append(s.Stack, f.addr())
		}
		w.walked += uint64(len(part))
	}
	return w.chain(s.Source, &w.frames, 0, parts)
}

// chain expects the pieces of the parts of a call stack. The account leaves
// out as many frames at the top as extra says.
func (w *expectation) chain(source uint16, account *sample.Account, extra int, parts [][]spot) bool {
	_, counts := sourceOpcodes[source]
	least := sample.Reason(255) // of the parts, the one that counts
	for _, part := range parts {
		reasons := make([]sample.Reason, len(part))
		for start := 0; start < len(part); {
			end := start + 1
			for end < len(part) && part[end].image == part[start].image && part[start].image != nil {
				end++
			}
			for i := start; i < end; i++ {
				switch {
				case part[i].image == nil && part[i].rva == 1<<40:
					reasons[i] = sample.ZeroEntry
				case part[i].image == nil && part[i].addr() == 0:
					reasons[i] = sample.NoAddress
				case part[i].image == nil:
					reasons[i] = sample.Unmapped
				case !counts:
					reasons[i] = sample.UnknownEvent
				case end-start == 1:
					reasons[i] = sample.SingleFrame
				case i > start:
					w.calls[call{part[i].image.number, uint32(part[i-1].rva), uint32(part[i].rva)}]++
				}
			}
			start = end
		}
		for _, r := range reasons[extra:] {
			account.Add(r, 1)
		}
		outcome := reasons[0]
		if slices.Contains(reasons, sample.Used) {
			outcome = sample.Used
		}
		least = min(least, outcome)
	}
	w.kinds[sample.Stack].Add(least, 1)
	return least == sample.Used
}

// trace is the recording of the machine.
func (m *machine) trace(samples []etl.TraceSample) *etl.Trace {
	t := &etl.Trace{
		PointerSize: m.ptr, Processors: 3, BufferSize: 8 << 10, Merged: true, Arch: etl.ArchX64, Duration: duration,
		Sources: []etl.Interval{{Source: 0, New: 10000, Old: 10000, Name: "Timer"}, {Source: branchSource, New: 16384, Old: 65536, Name: "BranchInstructionRetired"},
			{Source: etl.SourceTotalIssues, New: 5000, Old: 5000, Name: "TotalIssues"}, {Source: otherSource, New: 1000, Old: 1000, Name: "LLCMisses"}},
		Volumes: []etl.Volume{{NTPath: `\Device\HarddiskVolume3\`, DOSPath: `C:\`}, {NTPath: `\SystemRoot\`, DOSPath: `C:\Windows\`}},
		Samples: slices.Values(samples),
	}
	if m.ptr == 4 {
		t.Arch = etl.ArchX86 // is 0: no configuration is written
	}
	for _, k := range m.kernel {
		t.Kernel = append(t.Kernel, k.TraceImage)
	}
	for _, p := range m.processes {
		t.Processes = append(t.Processes, p.TraceProcess)
	}
	return t
}

// numbers maps the registered binaries to the numbers of expectations, by name
// and identity. Without an identity the name has to do.
func (m *machine) numbers(t *testing.T, reg *registry) []int32 {
	t.Helper()
	list := make([]int32, len(reg.binaries))
	for i, b := range reg.binaries {
		list[i] = -1
		all := slices.Clone(m.kernel)
		for _, p := range m.processes {
			all = append(all, p.images...)
		}
		for _, x := range all {
			if sample.BaseName(x.Path) == b.Name && (b.GUID.IsZero() || x.PDBGUID == b.GUID && x.PDBAge == b.Age) {
				list[i] = x.number
			}
		}
		if list[i] < 0 {
			t.Fatalf("unexpected binary %+v", b)
		}
	}
	return list
}

// renumber replaces the binaries of a tally.
func (c *tally) renumber(to []int32) *tally {
	n := newTally()
	at := func(a arc) arc { return arc{to[a.binary], a.from, a.to} }
	for k, v := range c.ips {
		n.ips[ipHit{to[k.binary], k.opcode, k.rva}] += v
	}
	for k, v := range c.arcs {
		n.arcs[at(k)] += v
	}
	for k, v := range c.pairs {
		n.pairs[arcPair{at(k.newer), at(k.older)}] += v
	}
	for k, v := range c.calls {
		n.calls[call{to[k.binary], k.callee, k.caller}] += v
	}
	return n
}

// check compares what was read with what must have come of the samples.
func (m *machine) check(t *testing.T, got *etlReading, want *expectation) {
	t.Helper()
	if len(got.errs) > 0 {
		t.Fatal(got.errs)
	}
	n := got.renumber(m.numbers(t, got.registry))
	same(t, "addresses", want.ips, n.ips)
	same(t, "branches", want.arcs, n.arcs)
	same(t, "pairs", want.pairs, n.pairs)
	same(t, "calls", want.calls, n.calls)
	total := sample.NewStats()
	var entries, walked uint64
	for _, f := range got.facts {
		total.Merge(f.Stats)
		entries += f.BranchEntries
		walked += f.CallchainFrames
	}
	if entries != want.entries || walked != want.walked {
		t.Errorf("%d branches and %d frames, want %d and %d", entries, walked, want.entries, want.walked)
	}
	accounts := func(samples, branches, frames *sample.Account, kinds *[sample.KindCount]sample.Account) string {
		text := fmt.Sprintf("samples %s\nbranches %s\nframes %s\n", account(samples), account(branches), account(frames))
		for k := range kinds {
			text += fmt.Sprintf("kind %d %s\n", k, account(&kinds[k]))
		}
		return text
	}
	if diff := cmp.Diff(accounts(&want.samples, &want.branches, &want.frames, &want.kinds),
		accounts(&total.Samples, &total.Branches, &total.Frames, &total.Kinds)); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
}
