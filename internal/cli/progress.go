package cli

import (
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Progress draws bytes done, rate and time left on a terminal. The zero value
// and a nil pointer draw nothing.
type Progress struct {
	container *mpb.Progress
	bar       *mpb.Bar
}

// Progress starts a bar for total bytes of work named label. It draws nothing
// unless standard error is a terminal and neither --quiet nor --json was
// given.
func (c *Context) Progress(label string, total int64) *Progress {
	if !c.Terminal || c.Quiet || c.JSON || os.Getenv("TERM") == "dumb" {
		return nil
	}
	container := mpb.New(mpb.WithOutput(c.Err), mpb.WithWidth(40), mpb.WithRefreshRate(200*time.Millisecond))
	bar := container.AddBar(total,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(label+" "), decor.CountersKibiByte("% .1f / % .1f")),
		mpb.AppendDecorators(decor.AverageSpeed(decor.SizeB1024(0), "% .1f "), decor.AverageETA(decor.ET_STYLE_GO)))
	return &Progress{container, bar}
}

// Add reports n more bytes done. It may be called from several goroutines.
func (p *Progress) Add(n int64) {
	if p != nil {
		p.bar.IncrInt64(n)
	}
}

// Done removes the bar.
func (p *Progress) Done() {
	if p != nil {
		p.bar.Abort(true)
		p.container.Wait()
	}
}

func isTerminal(f *os.File) bool {
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}
