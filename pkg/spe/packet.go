package spe

import "encoding/binary"

// Kind is the kind of a packet.
type Kind uint8

// Kinds of packets.
const (
	KindUnknown    Kind = iota // a header that has no meaning in the known versions
	KindPadding                // one zero byte
	KindAlignment              // bytes up to a multiple of a power of two
	KindEnd                    // end of a record without timestamp
	KindTimestamp              // end of a record, with the time
	KindEvents                 // [Events], 1 to 8 bytes
	KindDataSource             // where data came from, 1 to 8 bytes
	KindContext                // CONTEXTIDR_EL1 (index 0) or _EL2 (index 1)
	KindOperation              // index: class; see [Operation]
	KindAddress                // index 0 to 31; see the Address constants
	KindCounter                // index 0 to 31; see the Counter constants
)

// Indices of address packets. 6, 7 and 16 to 31 are implementation defined.
const (
	AddressPC             = 0 // of the sampled instruction
	AddressTarget         = 1 // of a branch
	AddressData           = 2 // virtual
	AddressPhysical       = 3 // of the data
	AddressPreviousTarget = 4 // of the last branch taken before
)

// Indices of counter packets, in cycles. 6, 7 and 16 to 31 are implementation
// defined.
const (
	CounterTotal       = 0 // from dispatch to completion
	CounterIssue       = 1 // from dispatch to issue
	CounterTranslation = 2 // of the address
	CounterAltIssue    = 4 // issue, in the alternate clock domain
)

// Packet is one packet.
type Packet struct {
	Kind    Kind
	Index   uint8  // of an address, counter or context; class of an operation
	Width   uint8  // bytes of payload
	Offset  int    // of the header in the data
	Size    int    // bytes, header included
	Payload uint64 // 0 where there is none
}

// form is what the first byte of a packet says.
type form struct {
	kind  Kind
	index uint8
	width uint8 // bytes of payload
}

// forms are those of all headers; extended ones of their second byte.
var forms = func() (t [256]form) {
	for h := range t {
		f := &t[h]
		if h >= 0x40 {
			f.width = 1 << (h >> 4 & 3)
		}
		switch {
		case h == 0x00:
			f.kind = KindPadding
		case h == 0x01:
			f.kind = KindEnd
		case h == 0x71:
			f.kind = KindTimestamp
		case h&0xcf == 0x42:
			f.kind = KindEvents
		case h&0xcf == 0x43:
			f.kind = KindDataSource
		case h&0xfc == 0x64:
			f.kind, f.index = KindContext, uint8(h&3)
		case h&0xfc == 0x48:
			f.kind, f.index = KindOperation, uint8(h&3)
		case h&0xf8 == 0xb0:
			f.kind, f.index = KindAddress, uint8(h&7)
		case h&0xf8 == 0x98:
			f.kind, f.index = KindCounter, uint8(h&7)
		}
	}
	return t
}()

// masks keep the payload of a word that was loaded whole.
var masks = [9]uint64{1: 0xff, 2: 0xffff, 4: 0xffffffff, 8: 1<<64 - 1}

// payloadMasks are those of the widths of all headers.
var payloadMasks = func() (t [256]uint64) {
	for h := range t {
		t[h] = masks[forms[h].width]
	}
	return t
}()

// load returns the payload of a width at a position. What is missing at the end
// of the data reads as 0.
func load(data []byte, pos int, width uint8) uint64 {
	if b := data[pos:]; len(b) >= 8 {
		return binary.LittleEndian.Uint64(b) & masks[width&15%9]
	}
	var word [8]byte
	copy(word[:], data[pos:])
	return binary.LittleEndian.Uint64(word[:]) & masks[width&15%9]
}

// extended says whether a header has a second byte.
func extended(header byte) bool { return header&0xe0 == 0x20 }

// decodePacket decodes the packet at pos. Base is the position of data[0] in
// the buffer of the hardware, which alignment packets count from. It returns
// false where the packet runs past the end of the data; then Size is what it
// would need as far as that is known.
func decodePacket(data []byte, pos int, base uint64, p *Packet) bool {
	left := len(data) - pos
	h := data[pos]
	f := forms[h]
	head := 1
	if extended(h) {
		if left < 2 {
			*p = Packet{Offset: pos, Size: 2}
			return false
		}
		head = 2
		second := data[pos+1]
		if second == 0 && h < 0x24 {
			align := 1 << (h&15 + 1)
			*p = Packet{Kind: KindAlignment, Offset: pos, Size: align - int((base+uint64(pos))&uint64(align-1))}
			return p.Size <= left
		}
		f = forms[second]
		if h < 0x24 && (f.kind == KindAddress || f.kind == KindCounter) {
			f.index |= h & 3 << 3
		} else {
			f.kind, f.index = KindUnknown, 0
		}
	}
	*p = Packet{Kind: f.kind, Index: f.index, Width: f.width, Offset: pos, Size: head + int(f.width)}
	if p.Size > left {
		return false
	}
	if f.width > 0 {
		p.Payload = load(data, pos+head, f.width)
	}
	return true
}

// Packets walks the packets of a byte slice.
type Packets struct {
	data []byte
	pos  int
	base uint64
	cut  bool
}

// NewPackets returns a walk over data, whose first byte is at base in the
// buffer of the hardware.
func NewPackets(data []byte, base uint64) Packets { return Packets{data: data, base: base} }

// Next decodes the next packet and says whether there is one. A packet that
// runs past the end is none: see Rest.
func (w *Packets) Next(p *Packet) bool {
	if w.cut || w.pos >= len(w.data) {
		return false
	}
	if !decodePacket(w.data, w.pos, w.base, p) {
		w.cut = true
		return false
	}
	w.pos += p.Size
	return true
}

// Rest returns what Next has not walked over: at the end of the walk the
// beginning of a packet that runs past the end of the data, or nothing.
func (w *Packets) Rest() []byte { return w.data[w.pos:] }
