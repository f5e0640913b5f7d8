package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// startVariable names the environment variable that turns a new process of
// this program into one that waits and then becomes the program to sample:
// the events have to be there before its first instruction. Its value is the
// number of the pipe to wait for; the next one takes an error of exec.
const startVariable = "SPTCOLLECT_START"

// The events belong to the first thread of the process, so that is the one
// that has to call exec. Init functions run on it.
func init() {
	value, ok := os.LookupEnv(startVariable)
	if !ok {
		return
	}
	runtime.LockOSThread()
	become(value)
}

// become waits for the start and calls exec. It does not return.
func become(value string) {
	fd, err := strconv.Atoi(value)
	if err != nil || len(os.Args) < 3 {
		os.Exit(125)
	}
	os.Unsetenv(startVariable)
	start, failure := os.NewFile(uintptr(fd), "start"), os.NewFile(uintptr(fd+1), "failure")
	var token [1]byte
	if _, err := io.ReadFull(start, token[:]); err != nil {
		os.Exit(125) // the collector is gone
	}
	syscall.CloseOnExec(fd)
	syscall.CloseOnExec(fd + 1)
	err = syscall.Exec(os.Args[1], os.Args[2:], os.Environ())
	fmt.Fprint(failure, err)
	os.Exit(125)
}

// A workload is the program to sample, waiting for its start.
type workload struct {
	cmd     *exec.Cmd
	start   *os.File
	failure *os.File
	done    chan struct{} // closed when it has ended
	status  int           // then its exit status
	killed  bool          // and whether a signal ended it
}

// prepare makes the process of a command. Its streams are those of the
// collector, but for standard output where the result goes there.
func prepare(command []string, stdout io.Writer) (*workload, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	startRead, startWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	failRead, failWrite, err := os.Pipe()
	if err != nil {
		startRead.Close()
		startWrite.Close()
		return nil, err
	}
	w := &workload{start: startWrite, failure: failRead, done: make(chan struct{})}
	w.cmd = exec.Command(self, append([]string{path}, command...)...)
	w.cmd.Env = append(os.Environ(), startVariable+"=3")
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = os.Stdin, stdout, os.Stderr
	w.cmd.ExtraFiles = []*os.File{startRead, failWrite}
	err = w.cmd.Start()
	startRead.Close()
	failWrite.Close()
	if err != nil {
		startWrite.Close()
		failRead.Close()
		return nil, err
	}
	return w, nil
}

// run lets the program begin and returns once it runs, or why it cannot.
func (w *workload) run() error {
	_, err := w.start.Write([]byte{1})
	w.start.Close()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(w.failure) // ends when exec closes the pipe
	w.failure.Close()
	if err == nil && len(text) > 0 {
		err = errors.New(string(text))
	}
	go w.wait()
	return err
}

func (w *workload) wait() {
	defer close(w.done)
	w.cmd.Wait()
	state, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		w.status = w.cmd.ProcessState.ExitCode()
	case state.Signaled():
		w.status, w.killed = 128+int(state.Signal()), true
	default:
		w.status = state.ExitStatus()
	}
}

// passOn has SIGTERM to the collector end the program, too, until the returned
// function is called. An interrupt needs no help: a terminal sends it to both.
func (w *workload) passOn() (stop func()) {
	signals, stopped := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		select {
		case <-signals:
			w.cmd.Process.Signal(syscall.SIGTERM)
		case <-stopped:
		}
	}()
	return func() { close(stopped) }
}

// graceTime is how long a program that was asked to end may take for it.
const graceTime = 10 * time.Second

// end asks the program to end and waits for it, but not for ever.
func (w *workload) end() {
	w.cmd.Process.Signal(syscall.SIGTERM) // fails only if it has ended
	select {
	case <-w.done:
	case <-time.After(graceTime):
	}
}

// abandon ends a process that was never let run.
func (w *workload) abandon() {
	w.start.Close()
	w.failure.Close()
	w.cmd.Wait()
}
