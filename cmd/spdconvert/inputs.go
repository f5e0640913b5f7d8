package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/correlate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// input is an SPT with its weight.
type input struct {
	name   string
	weight uint64

	stream   *cli.File       // of standard input or a pipe, once it was opened
	accepted []spt.ProgramID // program ids whose samples are used
	ignored  string          // what about the identity was ignored; empty: nothing
	stats    correlate.InputStats
}

// maxWeight bounds what a file can weigh, and all its namings together.
const maxWeight = 1 << 32

// inputs lists the SPTs of the command line and of a list, each once, in the
// order of the first naming.
func inputs(operands []string, list string) ([]*input, error) {
	names := operands
	if list != "" {
		data, err := os.ReadFile(list)
		if err != nil {
			return nil, err
		}
		listed, err := listedNames(data)
		if err != nil {
			return nil, diag.New(diag.BadValue, "%v", err).In(list)
		}
		if len(listed) == 0 {
			return nil, diag.New(diag.BadOperands, "the list names no SPT").In(list).Because("It is empty, or all lines are comments.")
		}
		names = append(names[:len(names):len(names)], listed...)
	}
	var all []*input
	known := map[string]*input{}
	for _, n := range names {
		name, weight, err := weighted(n)
		if err != nil {
			return nil, err
		}
		in := known[name]
		if in == nil {
			in = &input{name: name}
			known[name] = in
			all = append(all, in)
		}
		if in.weight += weight; in.weight > maxWeight {
			return nil, diag.New(diag.BadValue, "a weight of %d is more than %d", in.weight, uint64(maxWeight)).In(name)
		}
	}
	return all, nil
}

// weighted splits NAME@N, unless a file of the full name exists.
func weighted(s string) (name string, weight uint64, err error) {
	at := strings.LastIndexByte(s, '@')
	if at <= 0 {
		return s, 1, nil
	}
	if _, err := os.Stat(s); err == nil {
		return s, 1, nil
	}
	n, err := strconv.ParseUint(s[at+1:], 10, 64)
	if err != nil && strings.Trim(s[at+1:], "0123456789") != "" {
		return s, 1, nil // an @ in the name of a file, which is not there
	}
	if err != nil || n == 0 || n > maxWeight {
		return "", 0, diag.New(diag.BadValue, "%s: a weight is a number from 1 to %d", s, uint64(maxWeight))
	}
	return s[:at], n, nil
}

// listedNames reads a list of names, one a line, in UTF-8 or, with a byte
// order mark, UTF-16. Empty lines and those that begin with # mean nothing.
func listedNames(data []byte) ([]string, error) {
	text, err := decodeText(data)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if n := len(line); n > 1 && line[0] == '"' && line[n-1] == '"' {
			line = line[1 : n-1]
		}
		names = append(names, line)
	}
	return names, nil
}

func decodeText(data []byte) (string, error) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			return "", diag.New(diag.BadValue, "a list of names is text in UTF-8 or, with a byte order mark, UTF-16")
		}
		return string(data), nil
	}
	data = data[2:]
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units)), nil
}

// open opens the SPT. The caller calls the function that is returned when it
// is done; what is no regular file stays open, as it can be read once.
func (in *input) open(c *cli.Context) (*spt.Reader, func(), error) {
	options := &spt.Options{Tolerate: true}
	if in.stream == nil {
		if fi, err := os.Stat(in.name); in.name != "-" && (err != nil || fi.Mode().IsRegular()) {
			r, err := spt.Open(in.name, options)
			if err != nil {
				return nil, nil, noSPT(err)
			}
			return r, func() { r.Close() }, nil
		}
		var err error
		if in.stream, err = c.Open(in.name); err != nil {
			return nil, nil, err
		}
	}
	r, err := spt.NewReader(in.stream, in.stream.Size, options)
	return r, func() {}, noSPT(binfmt.InFile(err, in.name))
}

// noSPT says what is wanted where a file of another format is named.
func noSPT(err error) error {
	if !errors.Is(err, binfmt.ErrMagic) {
		return err
	}
	return diag.Of(err).Because("It is no SPT, or its beginning is damaged.").
		Do("Name the SPD first and then SPTs; sptaggregate makes SPTs of recordings.")
}

// read opens the SPT, has use read it and reports what is damaged.
func (in *input) read(c *cli.Context, tolerate bool, use func(*spt.Reader) error) error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	r, done, err := in.open(c)
	if err != nil {
		return err
	}
	defer done()
	if interrupted := c.Do(func() { err = use(r) }); interrupted != nil {
		return interrupted
	}
	if err != nil {
		return binfmt.InFile(err, in.name)
	}
	for _, s := range r.Stats().Skipped {
		e := *diag.Of(binfmt.InFile(s.First, in.name))
		e.Count = s.Times
		if !tolerate {
			info := diag.Codes[diag.DamagedSamples]
			e.Code, e.Cause, e.Next = diag.DamagedSamples, info.Cause, info.Next
			return &e
		}
		e.Code = diag.DamagedPart
		c.Warn(&e)
	}
	return nil
}

// size is the size of the SPT in bytes, for progress; 0 if it is not known.
func (in *input) size() int64 {
	if fi, err := os.Stat(in.name); err == nil && fi.Mode().IsRegular() {
		return fi.Size()
	}
	return 0
}

// uses says whether samples of a program id are used.
func (in *input) uses(id spt.ProgramID) bool {
	for _, a := range in.accepted {
		if a.GUID == id.GUID && a.Age == id.Age && a.Name == id.Name {
			return true
		}
	}
	return false
}

// samples is the number of samples of the kind that counts are made from.
func samples(counts []correlate.OpcodeCount, mode correlate.Mode, event spt.Opcode) (n uint64) {
	for _, c := range counts {
		if mode == correlate.LBR && c.Op == spt.OpLBR || mode == correlate.IP && c.Op == event {
			n = binfmt.SatAdd(n, c.Hits)
		}
	}
	return n
}
