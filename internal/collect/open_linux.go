package collect

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// A session is an event that was opened for all processors and threads.
type session struct {
	event
	attr    *perf.Attr
	leaders []*perf.Event // one per processor, with the ring
	events  []*perf.Event // all
	ids     []uint64
	chains  bool
}

// defaultPages is 2 MiB per processor. Where the kernel allows less, it is
// halved until it fits.
const defaultPages = 512

// open opens the event for every thread (or the whole system if there are
// none) on every processor. Onexec lets it start when the thread calls exec.
func open(o *Options, e event, threads, cpus []int, onexec bool) (*session, error) {
	first, err := openWith(o, e, threads, cpus, onexec, e.precise)
	if err != nil && e.precise && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EMFILE) {
		return openWith(o, e, threads, cpus, onexec, false)
	}
	return first, err
}

func openWith(o *Options, e event, threads, cpus []int, onexec, precise bool) (*session, error) {
	s := &session{event: e, chains: o.CallChains == Yes || o.CallChains == Auto && !e.branches}
	s.attr = s.attribute(o, onexec, precise)
	if len(threads) == 0 {
		threads = []int{perf.AllThreads}
	}
	for _, cpu := range cpus {
		if err := s.openOn(o, threads, cpu); err != nil {
			s.close()
			return nil, err
		}
	}
	if len(s.leaders) == 0 {
		return nil, unix.ESRCH
	}
	return s, nil
}

// openOn opens the event on one processor. Events of several threads share the
// ring of the first. Threads that ended meanwhile are left out.
func (s *session) openOn(o *Options, threads []int, cpu int) error {
	var leader *perf.Event
	for _, tid := range threads {
		ev, err := perf.Open(s.attr, tid, cpu, nil)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return err
		}
		s.events = append(s.events, ev)
		id, err := ev.ID()
		if err != nil {
			return err
		}
		s.ids = append(s.ids, id)
		if leader != nil {
			if err := ev.SetOutput(leader); err != nil {
				return err
			}
			continue
		}
		leader = ev
		if err := mapRing(ev, o.RingPages); err != nil {
			return err
		}
		s.leaders = append(s.leaders, ev)
	}
	return nil
}

func mapRing(ev *perf.Event, pages int) error {
	if pages > 0 {
		return ev.MapRingNumPages(pages)
	}
	var err error
	for pages = defaultPages; pages >= 8; pages /= 2 {
		if err = ev.MapRingNumPages(pages); err == nil || !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOMEM) {
			return err
		}
	}
	return err
}

// attribute describes the event to the kernel.
func (s *session) attribute(o *Options, onexec, precise bool) *perf.Attr {
	a := &perf.Attr{Label: s.name, Type: perf.EventType(s.typ), Config: s.config}
	a.SampleFormat = perf.SampleFormat{
		IP: true, Tid: true, Time: true, CPU: true, Period: true, Identifier: true,
		Callchain: s.chains, BranchStack: s.branches,
	}
	a.Options = perf.Options{
		Disabled: true, EnableOnExec: onexec, Inherit: true,
		ExcludeKernel: true, ExcludeHypervisor: true, ExcludeKernelCallchain: s.chains,
		Mmap: true, Mmap2: true, Comm: true, CommExec: true, Task: true, SampleIDAll: true,
	}
	if s.branches {
		a.BranchSampleFormat = perf.BranchSampleFormat{Privilege: perf.BranchPrivilegeUser, Sample: perf.BranchSampleAny}
	}
	if precise {
		a.Options.PreciseIP = preciseRequested
	}
	switch {
	case o.Frequency > 0:
		a.SetSampleFreq(o.Frequency)
	case o.Period > 0:
		a.SetSamplePeriod(o.Period)
	default:
		a.SetSamplePeriod(s.period)
	}
	return a
}

// preciseRequested is the value that the library turns into precise_ip = 2: it
// looks at the bits 0x01 and 0x10 for the two bits of the kernel's field.
const preciseRequested perf.Skid = 0x10

// Flags of the recorded attribute that perfdata has no need to name.
const (
	flagDisabled               = 1 << 0
	flagExcludeHypervisor      = 1 << 6
	flagEnableOnExec           = 1 << 12
	flagPrecise2               = 2 << 15
	flagExcludeKernelCallchain = 1 << 21
)

// recorded is the attribute as a recording describes it.
func (s *session) recorded() *perfdata.Attr {
	a := &perfdata.Attr{
		Type: s.typ, Config: s.config, SamplePeriod: s.attr.Sample, IDs: s.ids, Name: s.name,
		SampleType: perfdata.SampleIP | perfdata.SampleTID | perfdata.SampleTime | perfdata.SampleCPU |
			perfdata.SamplePeriod | perfdata.SampleIdentifier,
		Flags: flagDisabled | perfdata.FlagInherit | perfdata.FlagExcludeKernel | flagExcludeHypervisor |
			perfdata.FlagMmap | perfdata.FlagMmap2 | perfdata.FlagComm | perfdata.FlagCommExec |
			perfdata.FlagTask | perfdata.FlagSampleIDAll,
	}
	if s.attr.Options.Freq {
		a.Flags |= perfdata.FlagFreq
	}
	if s.attr.Options.EnableOnExec {
		a.Flags |= flagEnableOnExec
	}
	if s.attr.Options.PreciseIP != 0 {
		a.Flags |= flagPrecise2
	}
	if s.chains {
		a.SampleType |= perfdata.SampleCallChain
		a.Flags |= flagExcludeKernelCallchain
	}
	if s.branches {
		a.SampleType |= perfdata.SampleBranchStack
		a.BranchSampleType = uint64(perf.BranchPrivilegeUser) | uint64(perf.BranchSampleAny)
	}
	return a
}

// enable starts the sampling of threads that run already.
func (s *session) enable() error {
	for _, ev := range s.events {
		if err := ev.Enable(); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) disable() {
	for _, ev := range s.events {
		ev.Disable() // fails only if the thread is gone
	}
}

func (s *session) close() {
	for _, ev := range s.events {
		ev.Close()
	}
}

// onlineCPUs reads a list of the form "0-3,8".
func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	return parseCPUs(strings.TrimSpace(string(text)))
}

func parseCPUs(list string) ([]int, error) {
	var cpus []int
	for _, part := range strings.Split(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA != nil || errB != nil || a < 0 || b < a || b > 1<<16 {
			return nil, fmt.Errorf("list of processors %q: want numbers and ranges such as 0-3,8", list)
		}
		for ; a <= b; a++ {
			cpus = append(cpus, a)
		}
	}
	return cpus, nil
}

// vendor is the maker of the processor as /proc/cpuinfo names it.
func vendor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "vendor_id" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
