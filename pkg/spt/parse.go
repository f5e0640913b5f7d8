package spt

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// maxLine is the greatest length of a line in bytes. The longest name, all of
// it escaped, takes a quarter of it.
const maxLine = 1 << 20

// ParseText reads the text form and writes the file that it describes to w, in
// constant memory. The result is always a file that a strict [Reader] accepts.
//
// An error in the text is a *[binfmt.Error] whose Part is "line L, column C",
// with what was expected there and what stood there; it wraps
// binfmt.ErrMagic if the text does not begin with "spt", binfmt.ErrVersion,
// binfmt.ErrLimit or binfmt.ErrCorrupt. Part of the file may be written by then.
func ParseText(w io.Writer, text io.Reader) error {
	p := textParser{
		lines: lines{in: bufio.NewReaderSize(text, maxLine)},
		enc:   encoder{w: w, limit: segmentBytes},
	}
	for p.next() {
		p.parseLine()
	}
	if p.stage == stageStart {
		p.fail(binfmt.ErrMagic, "spt and the version")
	}
	if p.err == nil {
		p.enter(stageRecords)
	}
	if p.err == nil {
		p.encoded(p.enc.close())
	}
	return p.err
}

// stage is how far a text has come; lines have to stand in this order.
type stage uint8

const (
	stageStart stage = iota
	stageHeader
	stageStrings
	stagePrograms
	stageUnused
	stageRecords
)

type textParser struct {
	lines
	stage stage

	exact       bool // there are header lines
	head        [headerSize]byte
	fields      uint // header lines met, bits numbered as headerFields
	header      Header
	image       []byte // the tables, if exact
	stringsEnd  int    // bytes of the string table given so far
	programs    []ProgramID
	programLine []int // where each stands

	enc         encoder
	segmentLine int // where the open segment begins; 0 if there is none
	sawZero     bool
	sawUsed     bool // an index equal to the number of program ids
	rec         Record
	rvas        [MaxEntries]uint32
	pairs       [MaxEntries]Pair
}

// parseLine parses the current line.
func (p *textParser) parseLine() {
	word := p.word()
	if p.stage == stageStart && string(word) != "spt" {
		p.fail(binfmt.ErrMagic, "spt and the version")
		return
	}
	switch string(word) {
	case "spt":
		if p.enter(stageStart) {
			p.parseVersion()
		}
	case "header":
		if p.enter(stageHeader) {
			p.parseHeader()
		}
	case "string":
		if p.enter(stageStrings) {
			p.parseString()
		}
	case "program":
		if p.enter(stagePrograms) {
			p.parseProgram()
		}
	case "bytes":
		if p.enter(stageUnused) {
			p.parseBytes()
		}
	case "binary":
		if p.enter(stageRecords) {
			p.parseBinary()
		}
	default:
		for _, op := range sampleOpcodes {
			if op.String() == string(word) {
				p.parseRecord(op)
				return
			}
		}
		p.fail(binfmt.ErrCorrupt, "header, string, program, bytes, binary or the name of an opcode")
	}
	p.end()
}

// enter says whether a line of stage s may stand here, and finishes what the
// stages before it have given.
func (p *textParser) enter(s stage) bool {
	if s < p.stage {
		p.fail(binfmt.ErrCorrupt, "lines in the order spt, header, string, program, bytes, binary")
	} else if (s == stageStrings || s == stageUnused) && !p.exact {
		p.fail(binfmt.ErrCorrupt, "header lines before string and bytes lines")
	}
	if p.stage <= stageHeader && s > stageHeader {
		p.finishHeader()
	}
	if p.stage < stageRecords && s == stageRecords {
		p.finishTables()
	}
	p.stage = s
	return p.err == nil
}

func (p *textParser) parseVersion() {
	if v := p.number("the version", 32); p.err == nil && v != uint64(Version) {
		p.fail(binfmt.ErrVersion, fmt.Sprint(Version))
	}
	p.stage = stageHeader
}

func (p *textParser) parseHeader() {
	name := p.word()
	i := slices.IndexFunc(headerFields, func(f headerField) bool { return f.name == string(name) })
	if i < 0 {
		p.fail(binfmt.ErrCorrupt, "the name of a header field")
		return
	}
	if p.fields&(1<<i) != 0 {
		p.fail(binfmt.ErrCorrupt, "each header field once")
		return
	}
	p.exact = true
	p.fields |= 1 << i
	f := headerFields[i]
	v := p.number(f.name, 8*f.size)
	if f.size == 4 {
		binary.LittleEndian.PutUint32(p.head[f.offset:], uint32(v))
	} else {
		binary.LittleEndian.PutUint16(p.head[f.offset:], uint16(v))
	}
}

// finishHeader allocates the tables, if header lines say how they are laid out.
func (p *textParser) finishHeader() {
	if !p.exact || p.err != nil {
		return
	}
	for i, f := range headerFields {
		if p.fields&(1<<i) == 0 {
			p.fail(binfmt.ErrCorrupt, "all header fields, also "+f.name)
			return
		}
	}
	binary.LittleEndian.PutUint32(p.head[0:], Signature)
	binary.LittleEndian.PutUint32(p.head[offVersion:], Version)
	var err error
	if p.header, err = decodeHeader(p.head[:]); err != nil {
		p.wrap(err)
		return
	}
	if p.header.dataOffset() > maxPreamble {
		p.fail(binfmt.ErrLimit, fmt.Sprintf("tables that end at most at %#x", maxPreamble))
		return
	}
	p.image = make([]byte, p.header.dataOffset())
	copy(p.image, p.head[:])
}

func (p *textParser) parseString() {
	if off := p.number("the offset of the string", 32); p.err == nil && off != uint64(p.stringsEnd) {
		p.fail(binfmt.ErrCorrupt, fmt.Sprintf("%#x, where the last string ends", p.stringsEnd))
	}
	s := p.quoted("the string")
	from, used := p.header.strings()
	table := p.image[from:used]
	size := len(s) + 1
	if string(p.peekWord()) == "unterminated" {
		p.word()
		size--
	}
	if p.err == nil && size > len(table)-p.stringsEnd {
		p.fail(binfmt.ErrCorrupt, fmt.Sprintf("at most the %d bytes that StringTableUsed leaves", len(table)-p.stringsEnd))
	}
	if p.err != nil {
		return
	}
	copy(table[p.stringsEnd:], s)
	p.stringsEnd += size
}

func (p *textParser) parseProgram() {
	if i := p.number("the index of the program", 16); p.err == nil && i != uint64(len(p.programs)) {
		p.fail(binfmt.ErrCorrupt, fmt.Sprint(len(p.programs)))
	}
	if p.exact && len(p.programs) == int(p.header.ProgramIdsUsed) {
		p.fail(binfmt.ErrCorrupt, fmt.Sprintf("%d programs, as ProgramIdsUsed says", p.header.ProgramIdsUsed))
	}
	var id ProgramID
	var err error
	if id.GUID, err = binfmt.ParseGUID(string(p.word())); err != nil {
		p.fail(binfmt.ErrCorrupt, "a GUID")
	}
	p.expect("age")
	id.Age = uint32(p.number("the age", 32))
	if p.exact {
		p.expect("string")
		id.StringIndex = uint32(p.number("the string index", 32))
	}
	id.Name = p.quoted("the name")
	if p.exact && p.err == nil {
		p.storeProgram(id)
	}
	p.programs = append(p.programs, id)
	p.programLine = append(p.programLine, p.num)
}

// storeProgram puts a program into the tables, where there is room for it.
func (p *textParser) storeProgram(id ProgramID) {
	start, _ := p.header.programs()
	b := p.image[int(start)+len(p.programs)*programSize:]
	copy(b, id.GUID[:])
	binary.LittleEndian.PutUint32(b[16:], id.Age)
	binary.LittleEndian.PutUint32(b[20:], id.StringIndex)
}

func (p *textParser) parseBytes() {
	off := p.number("an offset in the file", 32)
	b, err := hex.DecodeString(string(p.word()))
	if err != nil || len(b) == 0 {
		p.fail(binfmt.ErrCorrupt, "hexadecimal digits")
	}
	if p.err != nil {
		return
	}
	for _, span := range p.header.unused() {
		if int64(off) >= span[0] && int64(off)+int64(len(b)) <= span[1] {
			copy(p.image[off:], b)
			return
		}
	}
	p.fail(binfmt.ErrCorrupt, "bytes that no other line gives, before the data stream")
}

// finishTables hands the tables to the encoder.
func (p *textParser) finishTables() {
	if p.err != nil {
		return
	}
	if !p.exact {
		image, err := layOut(p.programs, &WriterOptions{})
		p.wrap(err)
		p.enc.buf = image
		return
	}
	if used := int(p.header.StringTableUsed); p.stringsEnd != used {
		p.fail(binfmt.ErrCorrupt, fmt.Sprintf("strings of %d bytes, as StringTableUsed says, not %d", used, p.stringsEnd))
		return
	}
	if used := int(p.header.ProgramIdsUsed); len(p.programs) != used {
		p.fail(binfmt.ErrCorrupt, fmt.Sprintf("%d programs, as ProgramIdsUsed says, not %d", used, len(p.programs)))
		return
	}
	for i, id := range decodeTables(p.image, p.header).programs {
		if given := p.programs[i]; given.Name != id.Name {
			p.err = &binfmt.Error{Part: fmt.Sprintf("line %d", p.programLine[i]), Offset: -1,
				Want: fmt.Sprintf("%q, the name at string index %#x", id.Name, id.StringIndex),
				Got:  fmt.Sprintf("%q", given.Name), Err: binfmt.ErrCorrupt}
			return
		}
	}
	p.enc.buf = p.image
}

func (p *textParser) parseBinary() {
	index := p.number("the index of a program", 16)
	p.checkIndex(index)
	pad := p.option("pad", 8)
	var err error
	if string(p.peekWord()) == "length" {
		length := p.option("length", 32)
		if p.err == nil && length < lengthSize {
			p.fail(binfmt.ErrCorrupt, "a length of at least 4")
		}
		if p.err == nil {
			err = p.enc.beginExact(uint8(pad), uint16(index), uint32(length))
		}
	} else if p.err == nil {
		err = p.enc.begin(uint8(pad), uint16(index))
	}
	p.encoded(err)
	p.segmentLine = p.num
}

// checkIndex admits indices that count from 0 and indices that count from 1,
// but no mixture that a reader could not tell apart.
func (p *textParser) checkIndex(index uint64) {
	if p.err != nil {
		return
	}
	used := uint64(len(p.programs))
	p.sawZero = p.sawZero || index == 0
	p.sawUsed = p.sawUsed || index == used
	if index > used || p.sawZero && p.sawUsed {
		p.fail(binfmt.ErrCorrupt, fmt.Sprintf("an index of the %d programs, all from 0 or all from 1", used))
	}
}

func (p *textParser) parseRecord(op Opcode) {
	if p.segmentLine == 0 {
		p.fail(binfmt.ErrCorrupt, "binary before the first record")
		return
	}
	p.rec = Record{Op: op}
	if string(p.peekWord()) == "repeat" {
		p.rec.HasRepeat = true
		p.rec.Repeat = p.option("repeat", 64)
		p.rec.RepeatPad = uint8(p.option("pad", 8))
	}
	n := 0
	for w := p.word(); w != nil && p.err == nil; w = p.word() {
		if n == MaxEntries {
			p.fail(binfmt.ErrLimit, "at most 255 entries")
			return
		}
		if op != OpLBR {
			p.rvas[n] = uint32(p.value(w, "an RVA", 32))
		} else {
			from, to, ok := bytes.Cut(w, []byte("->"))
			if !ok {
				p.fail(binfmt.ErrCorrupt, "a branch FROM->TO")
				return
			}
			p.pairs[n] = Pair{From: uint32(p.value(from, "an RVA", 32)), To: uint32(p.value(to, "an RVA", 32))}
		}
		n++
	}
	if n == 0 {
		p.fail(binfmt.ErrCorrupt, "at least one entry")
	}
	if p.err != nil {
		return
	}
	if op == OpLBR {
		p.rec.Pairs = p.pairs[:n]
	} else {
		p.rec.RVAs = p.rvas[:n]
	}
	p.encoded(p.enc.record(&p.rec))
}

// encoded takes over an error of the encoder; one about the length of a
// segment gets the lines.
func (p *textParser) encoded(err error) {
	if err == nil {
		return
	}
	var e *binfmt.Error
	if errors.As(err, &e) && e.Part == "segment" {
		e.Part = fmt.Sprintf("line %d: segment of line %d", p.num, p.segmentLine)
	}
	if p.err == nil {
		p.err = err
	}
}

// lines splits a text into lines and words. The first error sticks.
type lines struct {
	in   *bufio.Reader
	num  int    // of the current line, from 1
	line []byte // without its end
	pos  int    // of what is not parsed yet
	at   int    // where the last word begins
	last []byte // that word, nil at the end of the line
	err  error
}

// next advances to the next line with a word in it.
func (l *lines) next() bool {
	for l.err == nil {
		b, err := l.in.ReadSlice('\n')
		if len(b) == 0 && err == io.EOF {
			l.line, l.pos, l.at, l.last = nil, 0, 0, nil // errors name the last line
			return false
		}
		l.num++
		l.line, l.pos = bytes.TrimRight(b, "\r\n"), 0
		switch {
		case err == bufio.ErrBufferFull:
			l.err = &binfmt.Error{Part: fmt.Sprintf("line %d", l.num), Offset: -1, Want: fmt.Sprintf("at most %d bytes", maxLine),
				Got: "more", Err: binfmt.ErrLimit}
		case err != nil && err != io.EOF:
			l.err = &binfmt.Error{Part: fmt.Sprintf("line %d", l.num), Offset: -1, Err: err}
		case l.peekWord() != nil:
			return true
		}
	}
	return false
}

// word returns the next word of the line, nil if there is none. A string is
// one word with its quotes.
func (l *lines) word() []byte {
	for l.pos < len(l.line) && (l.line[l.pos] == ' ' || l.line[l.pos] == '\t') {
		l.pos++
	}
	l.at = l.pos
	l.last = nil
	rest := l.line[l.pos:]
	if len(rest) == 0 || rest[0] == '#' {
		return nil
	}
	n := 0
	if rest[0] == '"' {
		if q, err := strconv.QuotedPrefix(string(rest)); err == nil {
			n = len(q)
		}
	}
	for n < len(rest) && rest[n] != ' ' && rest[n] != '\t' {
		n++
	}
	l.pos += n
	l.last = rest[:n]
	return l.last
}

// peekWord returns the next word and leaves it there.
func (l *lines) peekWord() []byte {
	pos, at, last := l.pos, l.at, l.last
	w := l.word()
	l.pos, l.at, l.last = pos, at, last
	return w
}

// fail records that the last word is not what was wanted, unless there is an
// error already.
func (l *lines) fail(kind error, want string) {
	if l.err != nil {
		return
	}
	got := "the end of the line"
	if l.last != nil {
		got = strconv.Quote(string(l.last[:min(len(l.last), 100)]))
	}
	l.err = &binfmt.Error{Part: fmt.Sprintf("line %d, column %d", max(l.num, 1), l.at+1), Offset: -1, Want: want, Got: got, Err: kind}
}

// wrap records an error that another part of the package found in values of
// the text.
func (l *lines) wrap(err error) {
	if err == nil {
		return
	}
	var e *binfmt.Error
	if errors.As(err, &e) {
		e.Part = fmt.Sprintf("line %d: %s", max(l.num, 1), e.Part)
		e.Offset = -1
	}
	if l.err == nil {
		l.err = err
	}
}

// end checks that the line has no more words.
func (l *lines) end() {
	if l.err == nil && l.word() != nil {
		l.fail(binfmt.ErrCorrupt, "the end of the line")
	}
}

// expect checks that the next word is this one.
func (l *lines) expect(word string) {
	if string(l.word()) != word {
		l.fail(binfmt.ErrCorrupt, word)
	}
}

// option parses a name and a number if the next word is the name, else it
// returns 0.
func (l *lines) option(name string, bits int) uint64 {
	if string(l.peekWord()) != name {
		return 0
	}
	l.word()
	return l.number(name, bits)
}

// number parses the next word as a number.
func (l *lines) number(what string, bits int) uint64 { return l.value(l.word(), what, bits) }

// value parses a word, or a piece of the last one, as a number.
func (l *lines) value(w []byte, what string, bits int) uint64 {
	v, ok := parseUint(w, bits)
	if !ok {
		l.fail(binfmt.ErrCorrupt, fmt.Sprintf("%s, a number of %d bits", what, bits))
		return 0
	}
	return v
}

// quoted parses the next word as a string without NUL.
func (l *lines) quoted(what string) string {
	s, err := strconv.Unquote(string(l.word()))
	if err != nil || l.last[0] != '"' || bytes.IndexByte([]byte(s), 0) >= 0 {
		l.fail(binfmt.ErrCorrupt, what+" in quotes, without NUL")
		return ""
	}
	return s
}

// parseUint reads decimal digits, or hexadecimal ones after 0x.
func parseUint(w []byte, bits int) (v uint64, ok bool) {
	base := uint64(10)
	if len(w) > 2 && w[0] == '0' && w[1]|0x20 == 'x' {
		base, w = 16, w[2:]
	}
	limit := ^uint64(0) >> (64 - bits)
	most := limit / base // a division for each digit would be slow
	for _, c := range w {
		d := uint64(c - '0')
		if lower := c | 0x20; base == 16 && lower >= 'a' && lower <= 'f' {
			d = uint64(lower-'a') + 10
		} else if d > 9 {
			return 0, false
		}
		if v > most || v*base > limit-d {
			return 0, false
		}
		v = v*base + d
	}
	return v, len(w) > 0
}
