package collect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/spgo-tools/spgo/internal/diag"
)

// reason says why an event could not be opened.
func reason(err error) string {
	var errno unix.Errno
	switch {
	case !errors.As(err, &errno):
		return err.Error()
	case errno == unix.ENOENT || errno == unix.ENODEV:
		return "the processor or its virtual machine has no such counter"
	case errno == unix.EOPNOTSUPP:
		return "the counter cannot sample, or not with branch stacks"
	case errno == unix.EINVAL:
		return "the kernel does not know this combination"
	case errno == unix.EACCES, errno == unix.EPERM:
		return "not permitted"
	case errno == unix.EBUSY:
		return "another profiler has the counter"
	case errno == unix.ENOSYS:
		return "the kernel was built without perf events"
	case errno == unix.EMFILE, errno == unix.ENFILE:
		return "too many open files"
	case errno == unix.ESRCH:
		return "the process has ended"
	}
	return errno.Error()
}

// refusal is the error when no event works: what forbids it and what to do.
func refusal(err error, o *Options, tried []Attempt) error {
	var parts []string
	for _, a := range tried {
		parts = append(parts, a.Event+": "+a.Reason)
	}
	e := diag.New(diag.CannotSample, "no event can be sampled (%s)", strings.Join(parts, "; "))
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		level := "unknown"
		if text, readErr := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); readErr == nil {
			level = strings.TrimSpace(string(text))
		}
		return forbidden(e, level, os.Geteuid() == 0, o)
	case errors.Is(err, unix.ENOSYS):
		return e.Because("The kernel has no perf events, or a container's seccomp profile hides them.").
			Do("Start the container with --security-opt seccomp=unconfined or a profile that allows perf_event_open.")
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return e.Because("Sampling takes one open file per thread and processor.").Do("Raise the limit: ulimit -n 65536.")
	case errors.Is(err, unix.ESRCH):
		return e.Because("The process ended before the sampling began.").Do("Check the process id.")
	case o.Branches == Yes:
		return e.Because("Branch stacks need Intel LBR, AMD Zen 3 or later, or Arm BRBE, and virtual machines rarely pass them on.").
			Do("Leave out --branches to sample instructions or time, or record on the bare machine.")
	}
	return e
}

// forbidden explains a refusal at a level of perf_event_paranoid. Up to level 2
// a user may sample own processes, so that those named are of others, which no
// level allows.
func forbidden(e *diag.Error, level string, root bool, o *Options) *diag.Error {
	n, err := strconv.Atoi(level)
	if len(o.PIDs) > 0 && !root && (err == nil && n <= 2 || slices.ContainsFunc(o.PIDs, others)) {
		return e.Because("A process belongs to another user or may not be traced.").
			Do("Sample as that user or as root, or give the program the right: setcap cap_perfmon,cap_sys_ptrace+ep sptcollect.")
	}
	return e.Because("kernel.perf_event_paranoid is %s%s", level, container()).
		Do("%s", permission(len(o.Command) == 0 && len(o.PIDs) == 0))
}

// others says whether a process is another user's.
func others(pid int) bool {
	var st unix.Stat_t
	return unix.Stat(fmt.Sprintf("/proc/%d", pid), &st) == nil && int(st.Uid) != os.Geteuid()
}

// permission says how to be allowed to sample.
func permission(system bool) string {
	level := 2
	if system {
		level = 0
	}
	return fmt.Sprintf("Allow it until the next boot: sysctl -w kernel.perf_event_paranoid=%d. Or give the program the right: "+
		"setcap cap_perfmon+ep sptcollect. In a container: --cap-add PERFMON and a seccomp profile that allows perf_event_open.", level)
}

// container says that this process seems to run in one.
func container() string {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return ", and this is a container"
		}
	}
	return ""
}

// Advice says how to record better on this machine than what was sampled, or
// nothing.
func Advice(r *Result) []*diag.Error {
	unbiased := strings.Contains(r.Event, "taken") || strings.Contains(r.Event, "brn_tkn")
	switch {
	case r.Event == "" || r.Branches && unbiased:
		return nil
	case r.Branches:
		return []*diag.Error{diag.New(diag.BiasedStacks, "branch stacks were triggered by %s", r.Event)}
	case runtime.GOARCH == "arm64":
		return []*diag.Error{armAdvice("/sys/bus/event_source/devices")}
	}
	return []*diag.Error{diag.New(diag.NoBranchStacks, "%s was sampled without branch stacks", r.Event)}
}

// armAdvice tells how to use the Statistical Profiling Extension, which
// records branches where there are no branch stacks, or why it is not there.
func armAdvice(devices string) *diag.Error {
	if units, _ := filepath.Glob(filepath.Join(devices, "arm_spe_*")); len(units) > 0 {
		return diag.New(diag.NoBranchStacks, "this processor samples branches by SPE, which this command does not record").
			Do("perf record -e arm_spe/branch_filter=1,jitter=1/u -o perf.data -- COMMAND, then sptaggregate perf.data app.spt.")
	}
	return diag.New(diag.NoBranchStacks, "neither branch records nor SPE are available").
		Because("The module arm_spe_pmu is not loaded, kernel page table isolation is on (boot with kpti=off), the firmware " +
			"describes no interrupt for it, or this is a virtual machine without it.").
		Do("Try modprobe arm_spe_pmu and dmesg | grep -i spe; instructions or time are sampled meanwhile.")
}
