// Command repeat makes a large recording for benchmarks: it copies a perf.data
// file, without its feature sections, and repeats its SAMPLE records until the
// data has the wanted size.
//
//	go run ./scripts/repeat [-zstd] in.data out.data 1000000000
//
// With -zstd the records are packed, as perf record -z does it; the size counts
// before.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/perfdata"
)

func main() {
	packed := flag.Bool("zstd", false, "pack the records; the size counts before")
	flag.Parse()
	if flag.NArg() != 3 {
		fmt.Fprintln(os.Stderr, "usage: repeat [-zstd] IN OUT BYTES")
		os.Exit(2)
	}
	size, err := strconv.ParseInt(flag.Arg(2), 10, 64)
	if err == nil {
		err = repeat(flag.Arg(0), flag.Arg(1), size, *packed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "repeat:", err)
		os.Exit(1)
	}
}

func repeat(in, out string, size int64, packed bool) error {
	f, err := perfdata.Open(in, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Header.Pipe || f.Header.BigEndian {
		return fmt.Errorf("%s: only little-endian files can be repeated", in)
	}
	var samples, others [][]byte
	length, sampleBytes := int64(0), int64(0)
	rs := f.Records()
	defer rs.Close()
	for rs.Next() {
		r := rs.Record()
		if data := bytes.Clone(r.Data); r.Type == perfdata.TypeSample {
			samples = append(samples, data)
			sampleBytes += int64(len(data))
		} else {
			others = append(others, data)
			length += int64(len(data))
		}
	}
	if err := rs.Err(); err != nil {
		return err
	}
	if sampleBytes == 0 {
		return fmt.Errorf("%s has no samples", in)
	}
	dst, err := os.Create(out)
	if err != nil {
		return err
	}
	options := perfdata.WriterOptions{Attrs: f.Attrs}
	if packed {
		options.Packing = perfdata.PackZstd
	}
	return errors.Join(write(dst, options, others, samples, max(1, (size-length)/sampleBytes)), dst.Close())
}

func write(dst io.WriteSeeker, options perfdata.WriterOptions, others, samples [][]byte, times int64) error {
	w, err := perfdata.NewWriter(dst, options)
	if err != nil {
		return err
	}
	for _, record := range others {
		if err := w.WriteRaw(record); err != nil {
			return err
		}
	}
	for range times {
		for _, record := range samples {
			if err := w.WriteRaw(record); err != nil {
				return err
			}
		}
	}
	return w.Close()
}
