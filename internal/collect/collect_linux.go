package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// Run samples as o says until the command ends, the duration is over, or ctx
// is done, and gives all records to sink. Standard output of the command goes
// to stdout. The result is there with an error too, but for wrong options.
// Errors are [diag.Error].
func Run(ctx context.Context, o *Options, stdout io.Writer, sink Sink) (*Result, error) {
	list, err := candidates(o, vendor())
	if err != nil {
		return nil, diag.New(diag.BadValue, "%v", err)
	}
	r := &Result{Command: strings.Join(o.Command, " ")}
	cpus, err := onlineCPUs()
	if err != nil {
		return r, diag.New(diag.CannotSample, "%v", err)
	}
	r.CPUs = len(cpus)
	if err := raiseFileLimit(); err != nil {
		return r, diag.New(diag.CannotSample, "limit of open files: %v", err)
	}
	var threads []int
	var w *workload
	switch {
	case len(o.Command) > 0:
		if w, err = prepare(o.Command, stdout); err != nil {
			return r, diag.New(diag.CannotOpen, "%v", errors.Unwrap(err)).In(o.Command[0])
		}
		threads = []int{w.cmd.Process.Pid}
	case len(o.PIDs) > 0:
		for _, pid := range o.PIDs {
			tids, err := threadsOf(pid)
			if err != nil {
				return r, diag.New(diag.CannotOpen, "no process %d: %v", pid, err).
					Because("It has ended, or the number is wrong.").Do("Check the process id.")
			}
			threads = append(threads, tids...)
		}
		r.Threads = len(threads)
	}
	s, err := choose(o, list, threads, cpus, w != nil, r)
	if err != nil {
		if w != nil {
			w.abandon()
		}
		return r, err
	}
	defer s.close()
	if err := sink.Start(s.recorded()); err != nil {
		if w != nil {
			w.abandon()
		}
		return r, err
	}
	return r, s.collect(ctx, o, w, sink, r)
}

// choose opens the best event that works and notes why the others do not.
func choose(o *Options, list []event, threads, cpus []int, onexec bool, r *Result) (*session, error) {
	var last error
	for _, e := range list {
		s, err := open(o, e, threads, cpus, onexec)
		if err == nil {
			r.Event, r.Branches, r.CallChains = e.name, e.branches, s.chains
			if s.attr.Options.Freq {
				r.Frequency = s.attr.Sample
			} else {
				r.Period = s.attr.Sample
			}
			return s, nil
		}
		what := e.name
		if e.branches {
			what += " with branch stacks"
		}
		r.Tried = append(r.Tried, Attempt{what, reason(err)})
		last = err
		if errors.Is(err, unix.ESRCH) {
			break
		}
	}
	return nil, refusal(last, o, r.Tried)
}

// collect runs an opened session to its end.
func (s *session) collect(ctx context.Context, o *Options, w *workload, sink Sink, r *Result) error {
	if w == nil {
		// First the events, then the snapshot: a mapping made between them is
		// seen twice, never missed.
		if err := s.enable(); err != nil {
			return diag.New(diag.CannotSample, "starting the event: %v", err)
		}
		pids := o.PIDs
		if len(pids) == 0 {
			var err error
			if pids, err = processes(); err != nil {
				return diag.New(diag.CannotRead, "%v", err)
			}
		}
		for _, pid := range pids {
			if err := snapshot(pid, sink.Event); err != nil {
				return err
			}
		}
	}
	d, err := newDrain(s, sink, r)
	if err != nil {
		return diag.New(diag.CannotSample, "%v", err)
	}
	stop, finished := make(chan struct{}), make(chan error, 1)
	go func() { finished <- d.run(stop) }()
	var startError error
	if w != nil {
		startError = w.run()
		defer w.passOn()()
	}
	failed := s.await(ctx, o, w, r, finished)
	close(stop)
	if failed == nil {
		failed = <-finished
	}
	if w != nil && startError == nil {
		select {
		case <-w.done:
			r.ExitStatus = w.status
		default:
			r.Running = true
		}
	}
	if startError != nil {
		return diag.New(diag.CannotOpen, "%v", startError).In(o.Command[0])
	}
	return failed
}

// signalTime is how long a signal that was sent to the program and the collector
// may take to the latter.
const signalTime = time.Second

// await returns when the sampling is to end: nil, or why records cannot be
// taken any more.
func (s *session) await(ctx context.Context, o *Options, w *workload, r *Result, finished <-chan error) error {
	var over <-chan time.Time
	if o.Duration > 0 {
		over = time.After(o.Duration)
	}
	var ended <-chan struct{}
	if w != nil {
		ended = w.done
	}
	var attached <-chan time.Time
	if len(o.PIDs) > 0 {
		t := time.NewTicker(pollTime)
		defer t.Stop()
		attached = t.C
	}
	for {
		select {
		case err := <-finished:
			return err
		case <-ctx.Done():
			r.Interrupted = true
			if w != nil {
				// A terminal has told the program too. Wait for it: its last
				// samples count, and a second signal ends the collector.
				<-w.done
			}
			return nil
		case <-over:
			r.TimeOver = true
			if w != nil {
				w.end()
			}
			return nil
		case <-ended:
			// The signal that ended the program may be on its way here, too.
			if w.killed {
				select {
				case <-ctx.Done():
					r.Interrupted = true
				case <-time.After(signalTime):
				}
			}
			return nil
		case <-attached:
			if !anyAlive(o.PIDs) {
				return nil
			}
		}
	}
}

func anyAlive(pids []int) bool {
	for _, pid := range pids {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
			return true
		}
	}
	return false
}

// raiseFileLimit raises the limit of open files as far as is allowed: an event
// takes one file per thread and processor.
func raiseFileLimit() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if limit.Cur < limit.Max && limit.Max <= math.MaxInt64 {
		limit.Cur = limit.Max
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
	return nil
}

// Host describes this machine for the header of a recording.
func Host(f *perfdata.Features) {
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		f.Hostname = unix.ByteSliceToString(u.Nodename[:])
		f.OSRelease = unix.ByteSliceToString(u.Release[:])
		f.Arch = unix.ByteSliceToString(u.Machine[:])
	}
	if cpus, err := onlineCPUs(); err == nil {
		f.CPUsAvailable, f.CPUsOnline = uint32(len(cpus)), uint32(len(cpus))
	}
	f.CmdLine = os.Args
}
