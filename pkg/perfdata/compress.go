package perfdata

import (
	"errors"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory of a decoder: 128 MiB is what the highest level
// of zstd asks for unless a long window is demanded explicitly.
const maxWindow = 128 << 20

// inflater decompresses the pieces of one zstd stream, each as it comes. The
// decoder wants to pull its input and would fail at the end of a piece, so it
// runs as a coroutine that is left alone while it waits for the next piece.
type inflater struct {
	in   []byte // what is left of the piece
	out  []byte // decompressed and not yet taken
	err  error  // the stream is damaged
	next func() (hungry, ok bool)
	stop func()
}

var errStopped = errors.New("perfdata: decompression abandoned")

func newInflater() *inflater {
	z := new(inflater)
	z.next, z.stop = iter.Pull(z.run)
	return z
}

// run decodes until the stream is damaged or abandoned. It yields true when
// the piece is used up and false when there is new output.
func (z *inflater) run(yield func(hungry bool) bool) {
	// One decoder thread works in step with the reader, so that "waits for
	// input" means that all output of the piece was delivered.
	dec, err := zstd.NewReader(pieceReader{z, yield}, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err == nil {
		defer dec.Close()
		_, err = dec.WriteTo(pieceWriter{z, yield})
	}
	if err != errStopped {
		z.err = err
	}
}

type pieceReader struct {
	z     *inflater
	yield func(bool) bool
}

func (r pieceReader) Read(p []byte) (int, error) {
	for len(r.z.in) == 0 {
		if !r.yield(true) {
			return 0, errStopped
		}
	}
	n := copy(p, r.z.in)
	r.z.in = r.z.in[n:]
	return n, nil
}

type pieceWriter struct {
	z     *inflater
	yield func(bool) bool
}

func (w pieceWriter) Write(p []byte) (int, error) {
	w.z.out = append(w.z.out, p...)
	if !w.yield(false) {
		return 0, errStopped
	}
	return len(p), nil
}

// more appends the next block of the piece, at most 128 KiB, to out. It
// returns false when the piece is used up or the stream is damaged.
func (z *inflater) more() bool {
	hungry, ok := z.next()
	return ok && !hungry
}
