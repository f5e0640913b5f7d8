package ingest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Read reads one input and gives its hits to sinks, one for each worker, which
// newSink makes. The name - stands for stdin. Facts are there together with an
// error too: what was read before it was given to the sinks.
func Read(ctx context.Context, name string, stdin io.Reader, o *Options, reg sample.Registry, newSink func() sample.Sink) (*Facts, error) {
	o, done := o.withFiles()
	defer done()
	facts, err := read(ctx, name, stdin, o, reg, newSink)
	if facts == nil {
		facts = newFacts(name, "")
	}
	return facts, err
}

func read(ctx context.Context, name string, stdin io.Reader, o *Options, reg sample.Registry, newSink func() sample.Sink) (*Facts, error) {
	if name == "-" {
		return readStream(ctx, stdin, name, o, reg, newSink)
	}
	folder, stream, err := isSpecial(name)
	switch {
	case err != nil:
		return nil, err
	case folder:
		f, err := perfdata.Open(name, &perfdata.Options{SpoolDir: o.SpoolDir})
		if err != nil {
			return nil, binfmt.InFile(err, name)
		}
		defer f.Close()
		return readPerf(ctx, f, name, o, reg, newSink)
	case stream:
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readStream(ctx, f, name, o, reg, newSink)
	}
	r, size, err := o.fs().Open(name)
	if err != nil {
		return nil, err
	}
	defer closeReader(r)
	if isSPT(io.NewSectionReader(r, 0, size)) {
		return readSPTFile(ctx, r, size, name, o, reg, newSink)
	}
	f, err := perfdata.NewReader(r, size, &perfdata.Options{Name: name, SpoolDir: o.SpoolDir})
	if err != nil {
		return nil, binfmt.InFile(err, name)
	}
	defer f.Close()
	return readPerf(ctx, f, name, o, reg, newSink)
}

// sniffSize is enough of a compressed stream to tell what is inside: a block
// of zstd decompresses as a whole and has up to 128 KiB.
const sniffSize = 256 << 10

// readStream reads standard input or a pipe, of which only the beginning tells
// what it is.
func readStream(ctx context.Context, r io.Reader, name string, o *Options, reg sample.Registry, newSink func() sample.Sink) (*Facts, error) {
	in := bufio.NewReaderSize(r, sniffSize)
	head, err := in.Peek(4)
	if err == nil && !hasSPTSignature(head) {
		head, err = in.Peek(sniffSize)
	}
	if err != nil && err != io.EOF {
		return nil, binfmt.InFile(err, name)
	}
	if isSPT(bytes.NewReader(head)) {
		return readSPTStream(ctx, in, name, o, reg, newSink)
	}
	f, err := perfdata.OpenStream(in, &perfdata.Options{Name: name, SpoolDir: o.SpoolDir})
	if err != nil {
		return nil, binfmt.InFile(err, name)
	}
	defer f.Close()
	return readPerf(ctx, f, name, o, reg, newSink)
}

// isSPT says whether the input is an SPT, maybe compressed.
func isSPT(r io.Reader) bool {
	in, closeIn, err := decompress(r)
	if err != nil {
		return false // what is damaged here is for the reader of recordings to tell
	}
	defer closeIn()
	head := make([]byte, 4)
	n, _ := io.ReadFull(in, head)
	return hasSPTSignature(head[:n])
}

func hasSPTSignature(head []byte) bool {
	return len(head) >= 4 && binary.LittleEndian.Uint32(head) == spt.Signature
}

// decompress undoes gzip and zstd, by their signatures.
func decompress(r io.Reader) (in io.Reader, closeIn func(), err error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	head, _ := buffered.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, nil, fmt.Errorf("gzip: %w", err)
		}
		return z, func() { z.Close() }, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, fmt.Errorf("zstd: %w", err)
		}
		return z, z.Close, nil
	}
	return buffered, func() {}, nil
}
