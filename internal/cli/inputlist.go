package cli

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spgo-tools/spgo/internal/diag"
)

// Weighted is a file that counts several times.
type Weighted struct {
	Name   string
	Weight uint64
}

// MaxWeight bounds what a file can weigh, and all its namings together.
const MaxWeight = 1 << 32

// WeightedFiles makes one file of all namings of it, whose weights add up, in
// the order of the first namings. A name may have a weight: NAME@N.
func WeightedFiles(names []string) ([]Weighted, error) {
	var files []Weighted
	known := map[string]int{}
	for _, n := range names {
		name, weight, err := splitWeight(n)
		if err != nil {
			return nil, err
		}
		i, ok := known[name]
		if !ok {
			i = len(files)
			known[name] = i
			files = append(files, Weighted{Name: name})
		}
		f := &files[i]
		if f.Weight += weight; f.Weight > MaxWeight {
			return nil, diag.New(diag.BadValue, "a weight of %d is more than %d", f.Weight, uint64(MaxWeight)).In(name)
		}
	}
	return files, nil
}

// splitWeight splits NAME@N, unless a file of the full name exists.
func splitWeight(s string) (name string, weight uint64, err error) {
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
	if err != nil || n == 0 || n > MaxWeight {
		return "", 0, diag.New(diag.BadValue, "%s: a weight is a number from 1 to %d", s, uint64(MaxWeight))
	}
	return s[:at], n, nil
}

// maxList is the most bytes of a list of files.
const maxList = 64 << 20

// ReadList reads the names in a list of files; what is meant by the name of
// such a file, such as "SPT", is for the error where there are none.
func ReadList(file, what string) ([]string, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxList+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxList {
		return nil, diag.New(diag.TooLarge, "a list of more than %d bytes", maxList).In(file).
			Because("It is no list of names.").Do("Name a text file with one name a line.")
	}
	names, err := listedNames(data)
	if err != nil {
		return nil, diag.New(diag.BadValue, "%v", err).In(file)
	}
	if len(names) == 0 {
		return nil, diag.New(diag.BadOperands, "the list names no %s", what).In(file).Because("It is empty, or all lines are comments.")
	}
	return names, nil
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
	noText := diag.New(diag.BadValue, "a list of names is text in UTF-8 or, with a byte order mark, UTF-16")
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			return "", noText
		}
		return string(data), nil
	}
	data = data[2:]
	units := make([]uint16, len(data)/2)
	for i := range units {
		if units[i] = order.Uint16(data[2*i:]); units[i] == 0 {
			return "", noText // no file has such a name
		}
	}
	return string(utf16.Decode(units)), nil
}
