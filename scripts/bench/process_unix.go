//go:build unix

package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// isolate lets the end of a command be that of the processes that it started.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// peakOf returns the most memory that a process had resident. On Linux this is
// at least what this program had when it started it.
func peakOf(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return residentBytes(usage)
	}
	return 0
}

// ownPeak is that of this program.
func ownPeak() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return residentBytes(&usage)
}

func residentBytes(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
