package spe

// Skim counts the records that end in data and returns the offset behind the
// last of them, without decoding them: it looks at headers alone. Data begins
// between two records, at base in the buffer of the hardware. Who cuts a
// stream there lets a [Decoder] find the same records as in the whole stream.
func Skim(data []byte, base uint64) (end, records int) {
	pos := 0
	for pos < len(data) {
		h := data[pos]
		switch {
		case h == 0:
			pos = skipZeros(data, pos)
		case h == 0x01:
			pos++
			end = pos
			records++
		case extended(h):
			var p Packet
			if !decodePacket(data, pos, base, &p) {
				return end, records
			}
			pos += p.Size
		default:
			pos += 1 + int(forms[h].width)
			if pos > len(data) {
				return end, records
			}
			if h == 0x71 {
				end = pos
				records++
			}
		}
	}
	return end, records
}
