package batch

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/spgo-tools/spgo/internal/aggregate"
	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ingest"
)

// State is the file that keeps what an interrupted run has read: a signature,
// the length of a head in JSON, the head, the sums, and a checksum (CRC-32C) of
// all that, in little-endian order.
type State struct {
	Path string
	// Options is what has to be the same for the sums to be of use.
	Options string
	// WriteFile replaces a file as a whole.
	WriteFile func(path string, write func(io.Writer) error) error
}

const stateSignature = "SPGOpart"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stateHead says what the sums are of.
type stateHead struct {
	Options string
	Units   []stateUnit
}

type stateUnit struct {
	Inputs []ingest.Input
	Stamp  string // of the files when they were read; see [ingest.Unit.Stamp]
	Done   bool
	Facts  []*ingest.Facts `json:",omitempty"`
	Errors []*diag.Error   `json:",omitempty"`
}

// save writes the state.
func (s *State) save(outcomes []*Outcome, profile *aggregate.Profile) error {
	head := stateHead{Options: s.Options}
	for _, o := range outcomes {
		u := stateUnit{Inputs: o.Unit.Inputs}
		if o.done {
			u.Done, u.Stamp, u.Facts, u.Errors = true, o.Unit.Stamp(), o.Facts, o.Errors
		}
		head.Units = append(head.Units, u)
	}
	b, err := json.Marshal(&head)
	if err != nil {
		return err
	}
	return s.WriteFile(s.Path, func(w io.Writer) error {
		sum := crc32.New(castagnoli)
		both := io.MultiWriter(w, sum)
		begin := binary.LittleEndian.AppendUint64([]byte(stateSignature), uint64(len(b)))
		for _, part := range [][]byte{begin, b} {
			if _, err := both.Write(part); err != nil {
				return err
			}
		}
		if err := profile.Save(both); err != nil {
			return err
		}
		_, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
		return err
	})
}

// load takes over what an earlier run has read, if there is a state.
func (s *State) load(outcomes []*Outcome, profile *aggregate.Profile) error {
	f, err := os.Open(s.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	head, sums, err := s.parse(f)
	if err == nil {
		err = s.fits(head, outcomes)
	}
	if err == nil {
		err = profile.Restore(sums, sums.Size(), f.Close)
	}
	if err != nil {
		f.Close()
		var coded *diag.Error
		if errors.As(err, &coded) {
			return coded.In(s.Path)
		}
		return s.unusable("%v", err)
	}
	for i, u := range head.Units {
		if o := outcomes[i]; u.Done {
			o.done, o.Earlier, o.Facts, o.Errors = true, true, u.Facts, u.Errors
		}
	}
	return nil
}

// unusable is an error that says that the state cannot be used.
func (s *State) unusable(format string, args ...any) *diag.Error {
	return diag.New(diag.OtherState, format, args...).In(s.Path)
}

// stateFixed is the size of what surrounds head and sums.
const stateFixed = len(stateSignature) + 8 + 4

func (s *State) parse(f *os.File) (*stateHead, *io.SectionReader, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := fi.Size()
	if !fi.Mode().IsRegular() || size < int64(stateFixed) {
		return nil, nil, s.unusable("it is too short for the state of a run")
	}
	begin := make([]byte, len(stateSignature)+8)
	if _, err := f.ReadAt(begin, 0); err != nil {
		return nil, nil, err
	}
	if string(begin[:len(stateSignature)]) != stateSignature {
		return nil, nil, s.unusable("it is not the state of a run of this version")
	}
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size-4)); err != nil {
		return nil, nil, err
	}
	var want [4]byte
	if _, err := f.ReadAt(want[:], size-4); err != nil {
		return nil, nil, err
	}
	length := binary.LittleEndian.Uint64(begin[len(stateSignature):])
	if sum.Sum32() != binary.LittleEndian.Uint32(want[:]) || length > uint64(size-int64(stateFixed)) {
		return nil, nil, s.unusable("it is damaged: the checksum is wrong")
	}
	b := make([]byte, length)
	if _, err := f.ReadAt(b, int64(len(begin))); err != nil {
		return nil, nil, err
	}
	head := &stateHead{}
	if err := json.Unmarshal(b, head); err != nil {
		return nil, nil, fmt.Errorf("its head: %w", err)
	}
	at := int64(len(begin)) + int64(length)
	return head, io.NewSectionReader(f, at, size-4-at), nil
}

// fits says whether the state is of these inputs and options. It brings its
// units into the order of the outcomes.
func (s *State) fits(head *stateHead, outcomes []*Outcome) error {
	if head.Options != s.Options {
		return s.unusable("it is of a run with other options: %s instead of %s", head.Options, s.Options)
	}
	at := map[string]int{}
	for i := range head.Units {
		at[nameOf(head.Units[i].Inputs)] = i
	}
	if len(head.Units) != len(outcomes) {
		return s.unusable("it is of a run with %d inputs instead of %d", len(head.Units), len(outcomes))
	}
	ordered := make([]stateUnit, len(outcomes))
	for i, o := range outcomes {
		n, ok := at[nameOf(o.Unit.Inputs)]
		if !ok {
			return s.unusable("it is of a run without the input %s", o.Unit.Key())
		}
		ordered[i] = head.Units[n]
		if u := &ordered[i]; u.Done && u.Stamp != o.Unit.Stamp() {
			return s.unusable("%s changed since it was read", o.Unit.Key())
		}
	}
	head.Units = ordered
	return nil
}

// nameOf is the same for the same inputs with the same weights, in any order.
func nameOf(inputs []ingest.Input) string {
	var names []string
	for _, in := range inputs {
		names = append(names, fmt.Sprintf("%q@%d", in.Name, in.Weight))
	}
	slices.Sort(names)
	return fmt.Sprint(names)
}
