package cli

import (
	"io"
	"runtime"
	"testing"

	urfave "github.com/urfave/cli/v2"
)

func TestJobs(t *testing.T) {
	most := max(mostJobs, runtime.GOMAXPROCS(0))
	for arg, want := range map[string]int{"1": 1, "200": 200, "1000000000": most, "0": 0, "-3": 0} {
		got := -1
		var failed error
		c := &Command{Name: "tool", Forms: []string{"file"}, Flags: []urfave.Flag{&urfave.IntFlag{Name: "jobs"}}, Run: func(c *Context) (Result, error) {
			got, failed = c.Jobs()
			return answer{}, failed
		}}
		c.Execute([]string{"--jobs=" + arg}, Streams{Out: io.Discard, Err: io.Discard})
		if got != want || (failed != nil) != (want == 0) {
			t.Errorf("%s jobs: got %d, %v, want %d", arg, got, failed, want)
		}
	}
}
