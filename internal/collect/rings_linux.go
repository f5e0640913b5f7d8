package collect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

// A drain moves records from the rings to a sink.
type drain struct {
	s      *session
	sink   Sink
	result *Result
	fds    []unix.PollFd
	raw    perf.RawRecord
}

// pollTime is how long a ring may wait to be read when it is nearly empty.
const pollTime = 100 * time.Millisecond

func newDrain(s *session, sink Sink, result *Result) (*drain, error) {
	d := &drain{s: s, sink: sink, result: result}
	for _, ev := range s.leaders {
		fd, err := ev.FD()
		if err != nil {
			return nil, err
		}
		d.fds = append(d.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	return d, nil
}

// run reads the rings until stop is closed, and then what is left in them.
func (d *drain) run(stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			d.s.disable()
			_, err := d.pass()
			return err
		default:
		}
		n, err := d.pass()
		if err != nil {
			return err
		}
		if n == 0 {
			if err := d.wait(); err != nil {
				return err
			}
		}
	}
}

// wait waits until a ring has reached its watermark, but not for long.
func (d *drain) wait() error {
	for i := range d.fds {
		d.fds[i].Revents = 0
	}
	_, err := unix.Poll(d.fds, int(pollTime.Milliseconds()))
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("waiting for records: %w", err)
	}
	for i := range d.fds {
		// The threads of this ring have ended; polling it again would return at once.
		if d.fds[i].Revents&unix.POLLHUP != 0 {
			d.fds[i].Fd = -1
		}
	}
	return nil
}

// roundLimit bounds how much of one ring is read before the others have their
// turn.
const roundLimit = 1 << 16

// pass reads all rings once and returns the number of records.
func (d *drain) pass() (int, error) {
	total := 0
	for _, ev := range d.s.leaders {
		for n := 0; n < roundLimit && ev.HasRecord(); n++ {
			if err := ev.ReadRawRecord(context.Background(), &d.raw); err != nil {
				return total, err
			}
			if err := d.take(); err != nil {
				return total, err
			}
			total++
		}
	}
	if total == 0 {
		return 0, nil
	}
	return total, d.sink.Round()
}

// take counts one record and hands it on.
func (d *drain) take() error {
	t := perfdata.Type(d.raw.Header.Type)
	switch t {
	case perfdata.TypeSample:
		d.result.Samples++
	case perfdata.TypeLost:
		d.result.Lost += wordAt(d.raw.Data, 8)
	case perfdata.TypeLostSamples:
		d.result.Lost += wordAt(d.raw.Data, 0)
	case perfdata.TypeThrottle:
		d.result.Throttled++
	}
	d.result.Bytes += uint64(d.raw.Header.Size)
	return d.sink.Record(t, d.raw.Header.Misc, d.raw.Data)
}

// wordAt is the number at an offset of a record's body, 0 if it is too short.
func wordAt(b []byte, at int) uint64 {
	if len(b) < at+8 {
		return 0
	}
	return binary.NativeEndian.Uint64(b[at:])
}
