package spd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// maxTextLine is the most bytes that a line of the text form may have. What is
// longer is no text: without a limit, all of it would have to be kept.
const maxTextLine = 64 << 20

// ReadText reads the text form of the package comment. Errors name the line
// and its offset; a line of more than 64 MiB is binfmt.ErrLimit. Whether the
// result can be written as an SPD, Write says.
func ReadText(r io.Reader) (*File, error) {
	t := textReader{}
	lines := bufio.NewReader(r)
	for {
		line, err := readLine(lines)
		t.number++
		if text := strings.TrimSpace(line); text != "" && text[0] != '#' {
			t.parse(text)
		}
		t.offset += int64(len(line))
		if t.err != nil {
			return nil, t.err
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, binfmt.ErrLimit) {
			t.fail(err, fmt.Sprintf("a line of at most %d bytes", maxTextLine), "a longer one")
			return nil, t.err
		}
		if err != nil {
			return nil, &binfmt.Error{Part: fmt.Sprintf("line %d", t.number), Offset: t.offset, Err: err}
		}
	}
	if t.file == nil {
		return nil, &binfmt.Error{Part: "first line", Offset: t.offset, Want: `"spd"`, Got: "nothing", Err: binfmt.ErrMagic}
	}
	return t.file, nil
}

// readLine reads a line with its end. The error is io.EOF behind the last one,
// and binfmt.ErrLimit, with no line, for one that is too long.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxTextLine {
			return "", binfmt.ErrLimit
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return string(line), err
		}
	}
}

// textReader keeps the elements that the next line may belong to. Each is the
// last of its list, so the pointers stay valid while they are needed.
type textReader struct {
	number int   // of the line
	offset int64 // of the line
	fields []textField
	err    error

	file     *File
	module   *Module
	function *Function
	block    *Block
	levels   []textLevel // by depth of inlining
}

type textLevel struct {
	inlinee *Inlinee
	block   *InlinedBlock // nil before the first
}

type textField struct{ key, value string }

func (t *textReader) fail(kind error, want, got string) {
	if t.err == nil {
		t.err = &binfmt.Error{Part: fmt.Sprintf("line %d", t.number), Offset: t.offset, Want: want, Got: got, Err: kind}
	}
}

// parse reads a line that is not empty.
func (t *textReader) parse(text string) {
	keyword, rest, _ := strings.Cut(text, " ")
	if t.file == nil && keyword != "spd" {
		t.fail(binfmt.ErrMagic, `"spd"`, strconv.Quote(keyword))
		return
	}
	if !t.split(rest) {
		return
	}
	switch keyword {
	case "spd":
		t.spd()
	case "module":
		t.readModule()
	case "function":
		t.readFunction()
	case "callee":
		t.callee()
	case "block":
		t.readBlock()
	case "indirect":
		t.indirect()
	case "inlinee":
		t.inlinee()
	case "inlined":
		t.inlined()
	case "call":
		t.call()
	case "edge":
		t.edge()
	case "machine":
		t.machine()
	default:
		t.fail(binfmt.ErrCorrupt, "a known keyword", strconv.Quote(keyword))
	}
	for _, f := range t.fields {
		t.fail(binfmt.ErrCorrupt, fmt.Sprintf("known fields of %q, each once", keyword), strconv.Quote(f.key))
	}
}

// after says whether what an element belongs to is there.
func (t *textReader) after(there bool, what string) bool {
	if !there {
		t.fail(binfmt.ErrCorrupt, what, "this line")
	}
	return there
}

// split takes the fields of a line apart.
func (t *textReader) split(rest string) bool {
	t.fields = t.fields[:0]
	for {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "" {
			return true
		}
		key, value, ok := strings.Cut(rest, "=")
		if !ok || strings.ContainsAny(key, " \t\"") {
			t.fail(binfmt.ErrCorrupt, "KEY=VALUE", strconv.Quote(rest))
			return false
		}
		if strings.HasPrefix(value, `"`) {
			quoted, err := strconv.QuotedPrefix(value)
			if err != nil {
				t.fail(binfmt.ErrCorrupt, "a quoted string", strconv.Quote(value))
				return false
			}
			value, rest = quoted, value[len(quoted):]
		} else {
			value, rest, _ = strings.Cut(value, " ")
		}
		t.fields = append(t.fields, textField{key, value})
	}
}

// take removes a field from the line and returns its value.
func (t *textReader) take(key string) (string, bool) {
	for i, f := range t.fields {
		if f.key == key {
			t.fields = append(t.fields[:i], t.fields[i+1:]...)
			return f.value, true
		}
	}
	return "", false
}

func (t *textReader) number64(key, s string, bits int) uint64 {
	base, digits := 10, s
	if d, ok := strings.CutPrefix(s, "0x"); ok {
		base, digits = 16, d
	}
	v, err := strconv.ParseUint(digits, base, bits)
	if err != nil {
		t.fail(binfmt.ErrCorrupt, fmt.Sprintf("a number of %d bits for %s", bits, key), strconv.Quote(s))
	}
	return v
}

func (t *textReader) u64(key string) uint64 {
	if s, ok := t.take(key); ok {
		return t.number64(key, s, 64)
	}
	return 0
}

func (t *textReader) u32(key string) uint32 {
	if s, ok := t.take(key); ok {
		return uint32(t.number64(key, s, 32))
	}
	return 0
}

func (t *textReader) u16(key string) uint16 {
	if s, ok := t.take(key); ok {
		return uint16(t.number64(key, s, 16))
	}
	return 0
}

func (t *textReader) str(key string) string {
	s, ok := t.take(key)
	if !ok {
		return ""
	}
	v, err := strconv.Unquote(s)
	if err != nil {
		t.fail(binfmt.ErrCorrupt, "a quoted string for "+key, strconv.Quote(s))
	}
	return strings.Clone(v) // do not keep the line
}

// list reads the elements of a comma list.
func (t *textReader) list(key string, element func(string)) {
	s, ok := t.take(key)
	for ok {
		var e string
		e, s, ok = strings.Cut(s, ",")
		element(e)
	}
}

func (t *textReader) ranges() []Range {
	var ranges []Range
	t.list("ranges", func(s string) {
		s, cold := strings.CutSuffix(s, "*")
		start, length, ok := strings.Cut(s, "+")
		if !ok {
			t.fail(binfmt.ErrCorrupt, "a range START+LENGTH", strconv.Quote(s))
			return
		}
		ranges = append(ranges, Range{
			Start:  uint32(t.number64("ranges", start, 32)),
			Length: uint32(t.number64("ranges", length, 32)),
			Cold:   cold,
		})
	})
	return ranges
}

func (t *textReader) spd() {
	if !t.after(t.file == nil, "one line of this kind") {
		return
	}
	t.file = &File{}
	h := &t.file.Header
	if v := t.u32("version"); v != Version {
		t.fail(binfmt.ErrVersion, fmt.Sprintf("%#x", Version), fmt.Sprintf("%#x", v))
	}
	h.Binary = t.str("binary")
	h.Flags = t.u32("flags")
	if s, ok := t.take("guid"); ok {
		guid, err := binfmt.ParseGUID(s)
		if err != nil {
			t.fail(binfmt.ErrCorrupt, "a GUID", strconv.Quote(s))
		}
		h.GUID = guid
	}
	h.Age = t.u32("age")
	h.HotThreshold = t.u64("hot_threshold")
	h.DynamicInstructions = t.u64("dynamic_instructions")
	h.StaticInstructions = t.u32("static_instructions")
	h.BinaryHash = t.u32("binary_hash")
	h.Reserved08, h.Reserved0C, h.Reserved10 = t.u32("reserved_08"), t.u32("reserved_0c"), t.u32("reserved_10")
	h.Reserved1C, h.Reserved24, h.Reserved3C = t.u32("reserved_1c"), t.u32("reserved_24"), t.u32("reserved_3c")
	h.Reserved40, h.Reserved44, h.Reserved70 = t.u32("reserved_40"), t.u32("reserved_44"), t.u32("reserved_70")
}

func (t *textReader) readModule() {
	m := Module{
		Name:        t.str("name"),
		Flags:       t.u32("flags"),
		Generation:  t.u32("generation"),
		HashBuckets: t.u32("hash_buckets"),
		DataRecords: t.u32("data_records"),
		Reserved08:  t.u32("reserved_08"),
	}
	if data := t.str("data_profile"); data != "" {
		m.DataProfile = []byte(data)
	}
	t.file.Modules = append(t.file.Modules, m)
	t.module = &t.file.Modules[len(t.file.Modules)-1]
	t.function, t.block, t.levels = nil, nil, nil
}

func (t *textReader) readFunction() {
	if !t.after(t.module != nil, "a module before") {
		return
	}
	f := Function{
		Symbol: Symbol{
			ID:          ID(t.u64("id")),
			Name:        t.str("name"),
			Ordinal:     t.u32("ordinal"),
			SymbolFlags: t.u32("symbol_flags"),
			FoldedInto:  t.u32("folded_into"),
			Reserved14:  t.u32("symbol_reserved_14"),
		},
		Flags:      t.u32("flags"),
		Checksum:   Checksum(t.u32("checksum")),
		RVA:        t.u32("rva"),
		Length:     t.u32("length"),
		ColdRVA:    t.u32("cold_rva"),
		ColdLength: t.u32("cold_length"),
		Reserved08: t.u32("reserved_08"),
		Reserved0C: t.u32("reserved_0c"),
		Reserved4C: t.u32("reserved_4c"),
		Reserved50: t.u32("reserved_50"),
	}
	t.module.Functions = append(t.module.Functions, f)
	t.function = &t.module.Functions[len(t.module.Functions)-1]
	t.block, t.levels = nil, nil
}

func (t *textReader) callee() {
	if !t.after(t.function != nil, "a function before") {
		return
	}
	c := Callee{ID: ID(t.u64("id")), Kind: t.u32("kind"), Count: t.u64("count")}
	t.list("sites", func(s string) { c.Sites = append(c.Sites, uint32(t.number64("sites", s, 32))) })
	t.function.Callees = append(t.function.Callees, c)
}

func (t *textReader) machine() {
	if !t.after(t.function != nil, "a function before") {
		return
	}
	c := MachineCallee{ID: ID(t.u64("id")), Kind: t.u32("kind"), Count: t.u64("count")}
	t.function.MachineCallees = append(t.function.MachineCallees, c)
}

func (t *textReader) readBlock() {
	if !t.after(t.function != nil, "a function before") {
		return
	}
	if id, want := t.u32("id"), len(t.function.Blocks)+1; uint64(id) != uint64(want) {
		t.fail(binfmt.ErrCorrupt, fmt.Sprintf("block id %d", want), fmt.Sprintf("%d", id))
	}
	t.function.Blocks = append(t.function.Blocks, Block{
		Count:        t.u64("count"),
		Instructions: t.u32("instructions"),
		Flags:        t.u16("flags"),
		Aux:          t.u16("aux"),
		Ranges:       t.ranges(),
	})
	t.block = &t.function.Blocks[len(t.function.Blocks)-1]
	t.levels = nil
}

func (t *textReader) callSite() CallSite {
	s := CallSite{Offset: t.u32("offset"), Ordinal: t.u16("ordinal"), Kind: t.u16("kind")}
	if v, ok := t.take("length"); ok {
		s.Length = uint8(t.number64("length", v, 8))
	}
	return s
}

func (t *textReader) indirect() {
	if !t.after(t.block != nil, "a block before") {
		return
	}
	s := IndirectSite{CallSite: t.callSite(), Hits: t.u64("hits")}
	n := 0
	t.list("targets", func(e string) {
		id, hits, ok := strings.Cut(e, ":")
		if !ok || n == len(s.Targets) {
			t.fail(binfmt.ErrCorrupt, fmt.Sprintf("up to %d targets ID:HITS", len(s.Targets)), strconv.Quote(e))
			return
		}
		s.Targets[n] = Target{ID: ID(t.number64("targets", id, 64)), Hits: t.number64("targets", hits, 64)}
		n++
	})
	t.block.Indirect = append(t.block.Indirect, s)
}

func (t *textReader) edge() {
	if !t.after(t.block != nil, "a block before") {
		return
	}
	t.block.Edges = append(t.block.Edges, Edge{To: t.u32("to"), Count: t.u64("count"), Flags: t.u32("flags")})
}

// depth reads the depth field, from 1 to most.
func (t *textReader) depth(most int) int {
	d := t.u32("depth")
	if d == 0 || uint64(d) > uint64(most) {
		t.fail(binfmt.ErrCorrupt, fmt.Sprintf("a depth from 1 to %d", most), fmt.Sprintf("%d", d))
		return 0
	}
	return int(d)
}

func (t *textReader) inlinee() {
	if !t.after(t.block != nil, "a block before") {
		return
	}
	most := len(t.levels)
	if most == 0 || t.levels[most-1].block != nil {
		most++ // may nest in the last inlined block
	}
	d := t.depth(min(most, maxInlineDepth))
	if d == 0 {
		return
	}
	list := &t.block.Inlinees
	if d > 1 {
		list = &t.levels[d-2].block.Inlinees
	}
	*list = append(*list, Inlinee{ID: ID(t.u64("id")), Reserved08: t.u32("reserved_08")})
	t.levels = append(t.levels[:d-1], textLevel{inlinee: &(*list)[len(*list)-1]})
}

func (t *textReader) inlined() {
	if !t.after(len(t.levels) > 0, "an inlinee before") {
		return
	}
	d := t.depth(len(t.levels))
	if d == 0 {
		return
	}
	t.levels = t.levels[:d]
	level := &t.levels[d-1]
	level.inlinee.Blocks = append(level.inlinee.Blocks, InlinedBlock{
		ID:           t.u32("id"),
		Instructions: t.u32("instructions"),
		Flags:        t.u16("flags"),
		Aux:          t.u16("aux"),
		Ranges:       t.ranges(),
	})
	level.block = &level.inlinee.Blocks[len(level.inlinee.Blocks)-1]
}

func (t *textReader) call() {
	n := len(t.levels)
	if !t.after(n > 0 && t.levels[n-1].block != nil, "an inlined block before") {
		return
	}
	b := t.levels[n-1].block
	b.Indirect = append(b.Indirect, t.callSite())
}
