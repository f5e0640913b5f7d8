package spd

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// ReadJSON reads what WriteJSON writes without JSONOptions.Lines; the order of
// the keys does not matter. Numbers that follow from others are not looked at,
// names that are not known are refused. Errors have the offset where reading
// stopped. Whether the result can be written as an SPD, Write says.
func ReadJSON(r io.Reader) (*File, error) {
	j := jsonReader{dec: json.NewDecoder(r), file: &File{}}
	j.dec.DisallowUnknownFields()
	if err := j.document(); err != nil {
		return nil, err
	}
	for k, f := range j.functions {
		m := j.moduleOf[k]
		if m < 0 || m >= len(j.file.Modules) {
			return nil, &binfmt.Error{Part: fmt.Sprintf("functions[%d]: module", k), Offset: -1,
				Want: fmt.Sprintf("below %d", len(j.file.Modules)), Got: strconv.Itoa(m), Err: binfmt.ErrCorrupt}
		}
		if functions := &j.file.Modules[m].Functions; m == 0 && len(*functions) == k {
			*functions = j.functions[: k+1 : k+1] // one module has all: do not copy
		} else {
			*functions = append(*functions, f)
		}
	}
	return j.file, nil
}

type jsonReader struct {
	dec       *json.Decoder
	file      *File
	functions []Function
	moduleOf  []int
}

// fail makes an error of what encoding/json says.
func (j *jsonReader) fail(part string, err error) error {
	kind := fmt.Errorf("%w: %w", binfmt.ErrCorrupt, err)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		kind = binfmt.ErrTruncated
	}
	return &binfmt.Error{Part: part, Offset: j.dec.InputOffset(), Err: kind}
}

// token reads a token that must be want, or any string if want is nil.
func (j *jsonReader) token(part string, want json.Token) (json.Token, error) {
	t, err := j.dec.Token()
	if err != nil {
		return nil, j.fail(part, err)
	}
	if want != nil && t != want {
		return nil, &binfmt.Error{Part: part, Offset: j.dec.InputOffset(), Want: fmt.Sprint(want), Got: fmt.Sprint(t), Err: binfmt.ErrCorrupt}
	}
	return t, nil
}

// frame are the members that programs put around those of WriteJSON when they
// print a database as a part of their result. They follow from the rest.
var frame = []string{"file", "where", "symbols", "data", "coverage", "dynamic_instructions", "violations", "diff", "stale",
	"exit", "errors", "warnings"}

func (j *jsonReader) document() error {
	if _, err := j.token("document", json.Delim('{')); err != nil {
		return err
	}
	seen := make(map[json.Token]bool)
	for j.dec.More() {
		key, err := j.token("document", nil)
		if err != nil {
			return err
		}
		switch {
		case seen[key]:
			err = j.fail("document", fmt.Errorf("second %q", key))
		case key == "header":
			err = j.header()
		case key == "modules":
			err = j.list("modules", j.module)
		case key == "functions":
			err = j.list("functions", j.function)
		case slices.Contains(frame, fmt.Sprint(key)):
			var skipped json.RawMessage
			if err = j.dec.Decode(&skipped); err != nil {
				err = j.fail("document", err)
			}
		default:
			err = j.fail("document", fmt.Errorf("unknown name %q", key))
		}
		if err != nil {
			return err
		}
		seen[key] = true
	}
	if _, err := j.token("document", json.Delim('}')); err != nil {
		return err
	}
	if !seen["header"] {
		return j.fail("document", errors.New(`no "header"`))
	}
	if _, err := j.dec.Token(); !errors.Is(err, io.EOF) {
		return j.fail("document", errors.New("something behind it"))
	}
	return nil
}

func (j *jsonReader) list(name string, element func(part string) error) error {
	if _, err := j.token(name, json.Delim('[')); err != nil {
		return err
	}
	for k := 0; j.dec.More(); k++ {
		if err := element(fmt.Sprintf("%s[%d]", name, k)); err != nil {
			return err
		}
	}
	_, err := j.token(name, json.Delim(']'))
	return err
}

func (j *jsonReader) header() error {
	var h headerJSON
	if err := j.dec.Decode(&h); err != nil {
		return j.fail("header", err)
	}
	if v, err := parseHex(h.Version, 32); err != nil || v != Version {
		return &binfmt.Error{Part: "header: version", Offset: j.dec.InputOffset(), Want: fmt.Sprintf("%#x", Version),
			Got: strconv.Quote(h.Version), Err: binfmt.ErrVersion}
	}
	guid, err := binfmt.ParseGUID(h.GUID)
	if err != nil {
		return j.fail("header: guid", err)
	}
	j.file.Header = Header(h.plainHeader)
	j.file.Header.GUID = guid
	return nil
}

func (j *jsonReader) module(part string) error {
	var m ModuleSummary
	if err := j.dec.Decode(&m); err != nil {
		return j.fail(part, err)
	}
	j.file.Modules = append(j.file.Modules, m.Module)
	return nil
}

// functionJSON is a function in JSON; EntryCount and Weight follow from the
// blocks.
type functionJSON struct {
	Function
	Module     int         `json:"module"`
	NameBytes  string      `json:"name_bytes"` // in hexadecimal, of a name that is not UTF-8
	EntryCount uint64      `json:"entry_count"`
	Weight     uint64      `json:"weight"`
	Blocks     []blockJSON `json:"blocks"`
}

type blockJSON struct {
	ID uint32 `json:"id"`
	Block
	Edges []edgeJSON `json:"edges"`
}

type edgeJSON struct {
	To         uint32 `json:"to"`
	Count      uint64 `json:"count"`
	Dead       bool   `json:"dead"`
	OtherFlags uint32 `json:"other_flags"`
}

func (j *jsonReader) function(part string) error {
	var in functionJSON
	if err := j.dec.Decode(&in); err != nil {
		return j.fail(part, err)
	}
	f := in.Function
	if in.NameBytes != "" {
		name, err := hex.DecodeString(in.NameBytes)
		if err != nil {
			return j.fail(part+": name_bytes", err)
		}
		f.Name = string(name)
	}
	f.Blocks = make([]Block, len(in.Blocks))
	for k, b := range in.Blocks {
		if uint64(b.ID) != uint64(k+1) {
			return j.fail(part, fmt.Errorf("block %d has id %d", k+1, b.ID))
		}
		f.Blocks[k] = b.Block
		f.Blocks[k].Edges = make([]Edge, len(b.Edges))
		for i, e := range b.Edges {
			flags := e.OtherFlags &^ EdgeDead
			if e.Dead {
				flags |= EdgeDead
			}
			f.Blocks[k].Edges[i] = Edge{To: e.To, Count: e.Count, Flags: flags}
		}
	}
	j.functions = append(j.functions, f)
	j.moduleOf = append(j.moduleOf, in.Module)
	return nil
}

// UnmarshalJSON reads [start,length,cold].
func (r *Range) UnmarshalJSON(b []byte) error {
	text := strings.TrimSuffix(strings.TrimPrefix(string(b), "["), "]")
	parts := strings.Split(text, ",")
	var v [3]uint64
	var err error
	for i := range min(len(parts), len(v)) {
		if err == nil {
			v[i], err = strconv.ParseUint(strings.TrimSpace(parts[i]), 10, 32)
		}
	}
	if err != nil || len(parts) != len(v) || b[0] != '[' || v[2] > 1 {
		return fmt.Errorf("range %.40s: want [start,length,cold]", b)
	}
	*r = Range{Start: uint32(v[0]), Length: uint32(v[1]), Cold: v[2] == 1}
	return nil
}

// UnmarshalJSON reads a list of up to three targets.
func (t *Targets) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var list []Target
	if err := dec.Decode(&list); err != nil {
		return err
	}
	if len(list) > len(t) {
		return fmt.Errorf("%d targets of an indirect call: want at most %d", len(list), len(t))
	}
	copy(t[:], list)
	return nil
}
