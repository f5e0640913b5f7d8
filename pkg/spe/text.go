package spe

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// lineBytes is how many bytes of padding stand on one line of the text form.
const lineBytes = 16

// WriteText prints a stream in the text form: a packet a line, as its offset in
// hexadecimal, its bytes and what they mean, in the words of perf report -D.
// Runs of zeros stand on one line up to 16 bytes. The words are for people;
// [ParseText] reads offsets and bytes alone, so that nothing is lost.
//
//	00000000:  b0 30 29 e7 6c fd ff 00 80                      PC 0xfffd6ce72930 el0 ns=1
//	00000009:  4a 01                                           B COND
//
// Base is the position of the first byte in the buffer of the hardware, and cpu
// its processor, or 0.
func WriteText(w io.Writer, r io.Reader, base uint64, cpu MIDR) error {
	in := bufio.NewReaderSize(r, 64<<10)
	out := bufio.NewWriter(w)
	var p Packet
	var line []byte
	for pos := 0; ; pos += p.Size {
		data, err := in.Peek(lineBytes) // no packet is longer
		if len(data) == 0 {
			if err == io.EOF {
				err = nil
			}
			return errors.Join(err, out.Flush())
		}
		whole := decodePacket(data, 0, base+uint64(pos), &p)
		if !whole {
			p.Size = len(data)
		}
		for p.Kind == KindPadding && p.Size < len(data) && data[p.Size] == 0 {
			p.Size++
		}
		line = appendLine(line[:0], pos, data[:p.Size])
		if whole {
			line = p.AppendText(line, cpu)
		} else {
			line = append(line, "TRUNCATED"...)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
		in.Discard(p.Size) // it was peeked at, so it is there
	}
}

func appendLine(b []byte, offset int, data []byte) []byte {
	b = fmt.Appendf(b, "%08x: ", offset)
	for _, x := range data {
		b = fmt.Appendf(b, " %02x", x)
	}
	for range lineBytes - len(data) {
		b = append(b, "   "...)
	}
	return append(b, ' ')
}

// ParseText reads the text form and returns the bytes that it was printed
// from. Empty lines and what stands behind the bytes are left out.
func ParseText(r io.Reader) ([]byte, error) {
	var data []byte
	s := bufio.NewScanner(r)
	for line := 1; s.Scan(); line++ {
		text := s.Bytes()
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		fail := func(want string) error {
			return &binfmt.Error{Part: fmt.Sprintf("line %d", line), Offset: -1, Want: want, Got: strconv.Quote(s.Text()), Err: binfmt.ErrCorrupt}
		}
		offset, rest, ok := bytes.Cut(text, []byte(":"))
		if n, err := strconv.ParseUint(string(bytes.TrimSpace(offset)), 16, 63); !ok || err != nil || n != uint64(len(data)) {
			return nil, fail(fmt.Sprintf("offset %08x and a colon", len(data)))
		}
		n := len(data)
		rest = bytes.TrimPrefix(rest, []byte(" "))
		for len(rest) >= 3 && rest[0] == ' ' && (len(rest) == 3 || rest[3] == ' ') {
			var b [1]byte
			if _, err := hex.Decode(b[:], rest[1:3]); err != nil {
				break
			}
			data = append(data, b[0])
			rest = rest[3:]
		}
		if len(data) == n {
			return nil, fail("bytes in hexadecimal")
		}
	}
	return data, s.Err()
}

// AppendText appends what the packet means, in the words of perf, to b.
func (p *Packet) AppendText(b []byte, cpu MIDR) []byte {
	v := p.Payload
	switch p.Kind {
	case KindPadding:
		return append(b, "PAD"...)
	case KindAlignment:
		return append(b, "PAD ALIGN"...)
	case KindEnd:
		return append(b, "END"...)
	case KindTimestamp:
		return fmt.Appendf(b, "TS %d", v)
	case KindEvents:
		return Events(v).appendText(append(b, "EV"...), cpu)
	case KindDataSource:
		return fmt.Appendf(b, "DATA-SOURCE %d", v)
	case KindContext:
		return fmt.Appendf(b, "CONTEXT %#x el%d", v, p.Index+1)
	case KindOperation:
		return append(b, Operation{Class(p.Index), uint8(v)}.String()...)
	case KindAddress:
		return p.appendAddress(b)
	case KindCounter:
		b = fmt.Appendf(b, "LAT %d ", v)
		if p.Index <= CounterTranslation {
			return append(b, [...]string{"TOT", "ISSUE", "XLAT"}[p.Index]...)
		}
		return fmt.Appendf(b, "(%d)", p.Index)
	}
	return append(b, "UNKNOWN"...)
}

func (p *Packet) appendAddress(b []byte) []byte {
	v := p.Payload
	switch p.Index {
	case AddressPC, AddressTarget, AddressPreviousTarget:
		a := Address(v)
		name := [...]string{AddressPC: "PC", AddressTarget: "TGT", AddressPreviousTarget: "PBT"}[p.Index]
		b = fmt.Appendf(b, "%s %#x el%d ns=%d", name, v&addressBits, a.EL(), v>>63)
		if a.NSE() {
			b = append(b, " nse=1"...)
		}
		return b
	case AddressData:
		return fmt.Appendf(b, "VA %#x", v)
	case AddressPhysical:
		b = fmt.Appendf(b, "PA %#x ns=%d ch=%d pat=%x", v&addressBits, v>>63, v>>62&1, PhysicalAddress(v).Tag())
		if PhysicalAddress(v).NSE() {
			b = append(b, " nse=1"...)
		}
		return b
	}
	return fmt.Appendf(b, "ADDR %#x (%d)", v, p.Index)
}

// appendText appends the names of the events, then the numbers of those that
// have none.
func (e Events) appendText(b []byte, cpu MIDR) []byte {
	unnamed := e.unnamed(cpu)
	for rest := e &^ unnamed; rest != 0; rest &= rest - 1 {
		if name := eventInfos[bits.TrailingZeros64(uint64(rest))].Name; name != "" {
			b = append(append(b, ' '), name...)
		}
	}
	if e&^unnamed&EventLatePrefetch != 0 {
		b = append(b, " LATE-PREFETCH"...) // where perf has it
	}
	lead := " IMPDEF:"
	for ; unnamed != 0; unnamed &= unnamed - 1 {
		b = fmt.Appendf(b, "%s%d", lead, bits.TrailingZeros64(uint64(unnamed)))
		lead = ","
	}
	return b
}

// String returns the names of the events with blanks between them.
func (e Events) String() string { return strings.TrimPrefix(string(e.appendText(nil, 0)), " ") }

// words returns perf's words for the operation.
func (o Operation) words() []string {
	add := func(list []string, is bool, word string) []string {
		if is {
			return append(list, word)
		}
		return list
	}
	b := o.Bits
	var w []string
	switch o.Class {
	case ClassOther:
		switch o.Form() {
		case FormSVE:
			w = []string{"SVE-OTHER", "EVLEN", strconv.Itoa(o.VectorLength())}
			w = add(w, o.Float(), "FP")
			return add(w, o.Predicated(), "PRED")
		case FormSME:
			w = []string{"SME-OTHER", "ETS", strconv.Itoa(o.VectorLength())}
			return add(w, o.Float(), "FP")
		case FormReserved:
			return []string{fmt.Sprintf("OTHER RESERVED %#x", b)}
		}
		w = add([]string{"OTHER"}, b&4 != 0, "ASE")
		w = add(w, o.Float(), "FP")
		w = add(w, b&1 != 0, "COND-SELECT")
		return add(w, b&1 == 0, "INSN-OTHER")
	case ClassMemory:
		w = []string{"LD"}
		if o.Store() {
			w[0] = "ST"
		}
		switch f := o.Form(); f {
		case FormExtended:
			w = add(w, o.Atomic(), "AT")
			w = add(w, o.Exclusive(), "EXCL")
			return add(w, o.AcquireRelease(), "AR")
		case FormSVE:
			w = append(w, "SVE-SME-REG", "EVLEN", strconv.Itoa(o.VectorLength()))
			w = add(w, o.Predicated(), "PRED")
			return add(w, o.GatherScatter(), "SG")
		case FormGCS:
			return add(append(w, "GCS"), b&4 != 0, "COMM")
		case FormReserved:
			return append(w, fmt.Sprintf("RESERVED %#x", b))
		default:
			return append(w, memoryWords[f])
		}
	case ClassBranch:
		w = add([]string{"B"}, b&1 != 0, "COND")
		w = add(w, b&2 != 0, "IND")
		w = add(w, b&4 != 0, "GCS")
		return add(w, o.Link() != LinkUnknown, [...]string{"", "CR-BL", "CR-RET", "CR-NON-BL-RET"}[o.Link()])
	}
	return []string{fmt.Sprintf("OP-TYPE %#x (%d)", b, o.Class)}
}

var memoryWords = map[Form]string{FormGeneral: "GP-REG", FormSIMD: "SIMD-FP", FormUnspecified: "UNSPEC-REG", FormTag: "MTE-TAG",
	FormSystem: "NV-SYSREG", FormCopy: "MEMCPY", FormSet: "MEMSET"}
