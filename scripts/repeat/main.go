// Command repeat makes a large recording for benchmarks: it copies a perf.data
// file and repeats its SAMPLE records until the data has the wanted size.
//
//	go run ./scripts/repeat in.data out.data 1000000000
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: repeat IN OUT BYTES")
		os.Exit(2)
	}
	size, err := strconv.ParseInt(os.Args[3], 10, 64)
	if err == nil {
		err = repeat(os.Args[1], os.Args[2], size)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "repeat:", err)
		os.Exit(1)
	}
}

// Offsets in the header of a file: size of the data section, feature bitmap.
const (
	dataSizeAt = 48
	bitmapAt   = 72
	bitmapSize = 32
)

func repeat(in, out string, size int64) error {
	f, err := perfdata.Open(in, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Header.Pipe || f.Header.BigEndian {
		return fmt.Errorf("%s: only little-endian files can be repeated", in)
	}
	var samples, others bytes.Buffer
	rs := f.Records()
	defer rs.Close()
	for rs.Next() {
		if r := rs.Record(); r.Type == perfdata.TypeSample {
			samples.Write(r.Data)
		} else {
			others.Write(r.Data)
		}
	}
	if err := rs.Err(); err != nil {
		return err
	}
	if samples.Len() == 0 {
		return fmt.Errorf("%s has no samples", in)
	}
	raw, err := os.Open(in)
	if err != nil {
		return err
	}
	defer raw.Close()
	head := make([]byte, f.Header.Data.Offset)
	if _, err := io.ReadFull(raw, head); err != nil {
		return err
	}
	times := max(1, (size-int64(len(head)+others.Len()))/int64(samples.Len()))
	binary.LittleEndian.PutUint64(head[dataSizeAt:], uint64(others.Len())+uint64(times)*uint64(samples.Len()))
	clear(head[bitmapAt : bitmapAt+bitmapSize]) // the feature sections are left out
	dst, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(dst, 1<<20)
	w.Write(head)
	w.Write(others.Bytes())
	for range times {
		if _, err := w.Write(samples.Bytes()); err != nil {
			dst.Close()
			return err
		}
	}
	if err := w.Flush(); err != nil {
		dst.Close()
		return err
	}
	return dst.Close()
}
