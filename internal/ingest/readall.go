package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// ReadAll reads inputs as [Read] does, one after the other, and Event Trace
// Logs by recording: log files that belong together, named or found beside a
// named one, are read as one. Done is called after each input or recording,
// when no sink that was made for it is in use any more, with the facts of its
// files, which are there together with an error too.
func ReadAll(ctx context.Context, names []string, stdin io.Reader, o *Options, reg sample.Registry, newSink func() sample.Sink, done func([]*Facts, error)) {
	inputs := make([]Input, len(names))
	for i, name := range names {
		inputs[i].Name = name
	}
	units := FindUnits(ctx, inputs, o)
	defer units.Close()
	for _, u := range units.List {
		if ctx.Err() != nil {
			done(nil, ctx.Err())
			return
		}
		done(units.Read(ctx, u, o.Workers, stdin, reg, newSink))
	}
}

// logHead is enough of a log file to tell it by: the header of its first
// buffer and the beginning of the first record.
const logHead = 104

// isLog says whether what begins here is an Event Trace Log. No other input
// comes in a zip archive.
func isLog(r io.Reader) bool {
	in, closeIn, err := decompress(r)
	if err != nil {
		return false
	}
	defer closeIn()
	head := make([]byte, logHead)
	if n, _ := io.ReadFull(in, head); n < len(head) {
		return false
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return true
	}
	_, err = etl.NewReader(bytes.NewReader(head), int64(len(head)), nil)
	return !errors.Is(err, binfmt.ErrMagic)
}

// readPipe reads a named pipe or a device. It waits for the writer no longer
// than ctx lets it.
func readPipe(ctx context.Context, name string, o *Options, reg sample.Registry, newSink func() sample.Sink) ([]*Facts, error) {
	type opened struct {
		f   *os.File
		err error
	}
	opening := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		opening <- opened{f, err}
	}()
	var in *os.File
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-opening:
		if o.err != nil {
			return []*Facts{newFacts(name, "")}, o.err
		}
		in = o.f
	}
	defer in.Close()
	defer context.AfterFunc(ctx, func() { in.Close() })() // ends a read that waits
	facts, err := readOnce(ctx, in, name, o, reg, newSink)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return facts, err
}

// readOnce reads what can be read but once: standard input or a pipe. A log
// file is kept in a temporary file, since it has to be read twice.
func readOnce(ctx context.Context, r io.Reader, name string, o *Options, reg sample.Registry, newSink func() sample.Sink) ([]*Facts, error) {
	in := bufio.NewReaderSize(r, sniffSize)
	head, _ := in.Peek(4)
	if !hasSPTSignature(head) {
		head, _ = in.Peek(sniffSize)
	}
	if !isLog(bytes.NewReader(head)) {
		facts, err := readStream(ctx, in, name, o, reg, newSink)
		if facts == nil {
			facts = newFacts(name, "")
		}
		return []*Facts{facts}, err
	}
	log, err := keepLog(in, name, o)
	if err != nil {
		return []*Facts{newFacts(name, "")}, err
	}
	rec, err := etl.Open(name, &etl.Options{TempDir: o.SpoolDir, NoSiblings: true, Files: keptLog{log, ctx}})
	if err != nil {
		return []*Facts{newFacts(name, "")}, errors.Join(binfmt.InFile(err, name), log.Close())
	}
	facts, err := readETL(ctx, rec, name, o, reg, newSink)
	return facts, errors.Join(err, rec.Close(), log.Close())
}

// maxKeptLog is how many bytes of a log file from a stream are kept at most: a
// stream may have no end, a disk has one.
const maxKeptLog = 256 << 30

// keepLog copies a log file into a temporary file, which is gone when it is
// closed.
func keepLog(in io.Reader, name string, o *Options) (*tempFile, error) {
	f, err := os.CreateTemp(o.SpoolDir, "spgo-*.etl")
	if err != nil {
		return nil, err
	}
	log := &tempFile{File: f}
	if os.Remove(f.Name()) != nil {
		log.path = f.Name() // systems that keep the names of open files
	}
	n, err := io.Copy(f, io.LimitReader(in, maxKeptLog+1))
	if err == nil && n > maxKeptLog {
		err = &binfmt.Error{File: name, Part: "log file", Offset: -1, Want: fmt.Sprintf("at most %d bytes", int64(maxKeptLog)), Got: "more", Err: binfmt.ErrLimit}
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	log.size = n
	return log, nil
}

// tempFile is a file that is removed when it is closed, or before.
type tempFile struct {
	*os.File
	path string // "" if it is removed
	size int64
}

func (t *tempFile) Close() error {
	err := t.File.Close()
	if t.path != "" {
		err = errors.Join(err, os.Remove(t.path))
	}
	return err
}

// keptLog is a place with one log file, whatever it is called.
type keptLog struct {
	log *tempFile
	ctx context.Context
}

// Open implements etl.Files. The file stays open when what is returned closes.
func (k keptLog) Open(string) (io.ReaderAt, int64, error) {
	return &cancelReader{k.ctx, io.NewSectionReader(k.log, 0, k.log.size)}, k.log.size, nil
}

// List implements etl.Files.
func (keptLog) List(string) ([]string, error) { return nil, nil }
