package cli

import (
	"runtime"

	"github.com/spgo-tools/spgo/internal/diag"
)

// mostJobs is how many workers there are at most, unless the machine has more
// processors: each has memory of its own, and those that wait for a processor
// gain nothing.
const mostJobs = 256

// Jobs returns the value of --jobs, the number of workers.
func (c *Context) Jobs() (int, error) {
	n := c.Int("jobs")
	if n < 1 {
		return 0, diag.New(diag.BadValue, "-j takes a number of workers from 1 on, not %d", n)
	}
	return min(n, max(mostJobs, runtime.GOMAXPROCS(0))), nil
}
