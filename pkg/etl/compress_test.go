package etl

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spgo-tools/spgo/internal/corpus"
)

// plainXPRESS unpacks as [MS-XCA] 2.4.4 tells it, one byte at a time: the
// oracle of the fast decoder.
func plainXPRESS(src []byte, size int) ([]byte, error) {
	var out []byte
	pos, nibble := 0, -1
	take := func(n int) (v int, err error) {
		if len(src)-pos < n {
			return 0, errStreamEnd
		}
		for i := range n {
			v |= int(src[pos+i]) << (8 * i)
		}
		pos += n
		return v, nil
	}
	flags, left := 0, 0
	for len(out) < size {
		if left == 0 {
			var err error
			if flags, err = take(4); err != nil {
				return out, err
			}
			left = 32
		}
		left--
		if flags>>left&1 == 0 {
			b, err := take(1)
			if err != nil {
				return out, err
			}
			out = append(out, byte(b))
			continue
		}
		token, err := take(2)
		if err != nil {
			return out, err
		}
		distance, n := token>>3+1, token&7
		if n == 7 {
			if nibble < 0 {
				b, err := take(1)
				if err != nil {
					return out, err
				}
				n, nibble = b&15, pos-1
			} else {
				n, nibble = int(src[nibble]>>4), -1
			}
			if n == 15 {
				if n, err = take(1); err == nil && n == 255 {
					if n, err = take(2); err == nil && n == 0 {
						n, err = take(4)
					}
					if err == nil && n < 22 {
						err = errStreamLength
					}
					n -= 22
				}
				if err != nil {
					return out, err
				}
				n += 15
			}
			n += 7
		}
		if distance > len(out) {
			return out, errStreamSource
		}
		for end := min(len(out)+n+3, size); len(out) < end; {
			out = append(out, out[len(out)-distance])
		}
	}
	return out, nil
}

// packable returns test data of several kinds of redundancy.
func packable() map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(n, letters int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.IntN(letters))
		}
		return b
	}
	m := map[string][]byte{
		"empty": {}, "one byte": {7}, "31": random(31, 256), "32": random(32, 256), "33": random(33, 256),
		"run": bytes.Repeat([]byte{9}, 300), "pairs": bytes.Repeat([]byte("ab"), 80_000), "triples": bytes.Repeat([]byte("abc"), 100),
		"sevens": bytes.Repeat([]byte("abcdefg"), 999), "nines": bytes.Repeat([]byte("abcdefghi"), 999),
		"bits": random(5000, 2), "few": random(70_000, 7), "noise": random(70_000, 256),
	}
	var records []byte
	for i := range 4000 {
		records = AppendSample(records, &Sample{IP: 0x7ff600001000 + uint64(rnd.IntN(5000)), TID: uint32(100 + i%3), Count: 1}, 8)
	}
	m["samples"] = records
	return m
}

func TestXPRESSVectors(t *testing.T) {
	alphabet := []byte("abcdefghijklmnopqrstuvwxyz")
	for _, tc := range []struct {
		stream string
		want   []byte
	}{
		{"3f000000" + hex.EncodeToString(alphabet), alphabet},
		{"ffffff1f61626317000fff2601", bytes.Repeat([]byte("abc"), 100)},
	} {
		src, err := hex.DecodeString(tc.stream)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(tc.want))
		if n, err := expandXPRESS(got, src); err != nil || n != len(got) || !bytes.Equal(got, tc.want) {
			t.Errorf("%s: %d bytes, %v: %q", tc.stream, n, err, got)
		}
	}
}

func TestXPRESSRoundTrip(t *testing.T) {
	var x xpressEncoder
	for name, data := range packable() {
		packed := x.compress(nil, data)
		got := make([]byte, len(data))
		if n, err := expandXPRESS(got, packed); err != nil || n != len(data) || !bytes.Equal(got, data) {
			t.Errorf("%s: %d of %d bytes, %v", name, n, len(data), err)
		}
		plain, err := plainXPRESS(packed, len(data))
		if err != nil || !bytes.Equal(plain, data) {
			t.Errorf("%s: oracle: %v", name, err)
		}
		if len(data) > 100 && name != "noise" && len(packed) > len(data)*3/4 && name != "few" {
			t.Errorf("%s: %d bytes packed to %d", name, len(data), len(packed))
		}
	}
}

// TestXPRESSDamage compares both decoders on streams with flipped bytes, and
// cut ones.
func TestXPRESSDamage(t *testing.T) {
	var x xpressEncoder
	rnd := rand.New(rand.NewPCG(3, 4))
	for name, data := range packable() {
		data = data[:min(len(data), 10_000)]
		packed := x.compress(nil, data)
		for range 60 {
			bad := bytes.Clone(packed)
			for range 1 + rnd.IntN(3) {
				bad[rnd.IntN(len(bad))] ^= byte(1 << rnd.IntN(8))
			}
			sameXPRESS(t, name, bad[:len(bad)-rnd.IntN(2)*rnd.IntN(len(bad))], len(data))
		}
	}
}

func sameXPRESS(t testing.TB, name string, src []byte, size int) {
	t.Helper()
	got := make([]byte, size)
	n, err := expandXPRESS(got, src)
	want, wantErr := plainXPRESS(src, size)
	if !errors.Is(err, wantErr) || n != len(want) || !bytes.Equal(got[:n], want) {
		t.Fatalf("%s: %x: got %d bytes, %v; oracle %d bytes, %v", name, src, n, err, len(want), wantErr)
	}
}

// huffStream makes an XPRESS_HUFF stream in which all 512 symbols have codes
// of 9 bits, which are the symbols themselves. It finds matches as the other
// encoder does.
func huffStream(data []byte) []byte {
	var out []byte
	var x xpressEncoder
	done := 0
	for done < len(data) {
		end := min(done+huffBlock, len(data))
		out = append(out, bytes.Repeat([]byte{0x99}, huffTableIn)...)
		// Bits go to units that are set aside two ahead of the whole bytes.
		slots := []int{len(out), len(out) + 2}
		out = append(out, 0, 0, 0, 0)
		var acc uint64
		bits := 0
		put := func(v, n int) {
			acc, bits = acc<<n|uint64(v), bits+n
			if bits > 16 { // a unit is set aside only when the one before is full
				binary.LittleEndian.PutUint16(out[slots[0]:], uint16(acc>>(bits-16)))
				bits -= 16
				slots = []int{slots[1], len(out)}
				out = append(out, 0, 0)
			}
		}
		for done < end {
			n, distance := x.match(data, done)
			if n = min(n, end-done); n < 3 {
				put(int(data[done]), 9)
				done++
				continue
			}
			done += n
			distanceBits := 0
			for distance>>(distanceBits+1) > 0 {
				distanceBits++
			}
			n -= 3
			put(256+distanceBits<<4+min(n, 15), 9)
			switch {
			case n < 15:
			case n-15 < 255:
				out = append(out, byte(n-15))
			case n < 1<<16:
				out = binary.LittleEndian.AppendUint16(append(out, 255), uint16(n))
			default:
				out = binary.LittleEndian.AppendUint32(append(out, 255, 0, 0), uint32(n))
			}
			put(distance-1<<distanceBits, distanceBits)
		}
		binary.LittleEndian.PutUint16(out[slots[0]:], uint16(acc<<(16-bits)))
	}
	return out
}

func TestXPRESSHuffRoundTrip(t *testing.T) {
	for name, data := range packable() {
		got := make([]byte, len(data))
		if n, err := expandXPRESSHuff(got, huffStream(data), new(huffTable)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d of %d bytes, %v", name, n, len(data), err)
		}
	}
}

// TestXPRESSHuffEqualsWimlib unpacks the chunks of a WIM archive that wimlib
// packed with XPRESS: each is one XPRESS_HUFF stream.
func TestXPRESSHuffEqualsWimlib(t *testing.T) {
	wimcapture := corpus.Tool(t, "wimcapture")
	dir := t.TempDir()
	data := packable()
	var want []byte
	for _, name := range []string{"pairs", "samples", "bits", "few", "run"} {
		want = append(want, data[name]...)
	}
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in", "file"), want, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []string{"32768", "65536"} {
		wim := filepath.Join(dir, chunk+".wim")
		cmd := exec.Command(wimcapture, filepath.Join(dir, "in"), wim, "--compress=XPRESS", "--chunk-size="+chunk, "--no-acls")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		got, packed := readWIM(t, wim, int64(len(want)))
		if !bytes.Equal(got, want) {
			t.Errorf("chunks of %s bytes: contents differ", chunk)
		}
		if packed == 0 {
			t.Errorf("chunks of %s bytes: none was packed", chunk)
		}
	}
}

// readWIM finds the resource of a given size in a WIM archive and unpacks it.
// It returns how many of its chunks were packed.
func readWIM(t *testing.T, path string, size int64) (data []byte, packed int) {
	t.Helper()
	le := binary.LittleEndian
	wim, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	chunk := int64(le.Uint32(wim[0x14:]))
	// A resource is u56 size in the file, u8 flags, u64 offset, u64 size.
	tableSize, tableAt := int64(le.Uint64(wim[0x30:])&(1<<56-1)), int64(le.Uint64(wim[0x38:]))
	const entry = 50 // and u16 part, u32 references, SHA-1
	for e := wim[tableAt : tableAt+tableSize]; len(e) >= entry; e = e[entry:] {
		if int64(le.Uint64(e[16:])) != size {
			continue
		}
		at, end := int64(le.Uint64(e[8:])), int64(le.Uint64(e[8:]))+int64(le.Uint64(e)&(1<<56-1))
		n := (size + chunk - 1) / chunk
		starts := []int64{0} // of the chunks, after their table
		for i := range n - 1 {
			starts = append(starts, int64(le.Uint32(wim[at+4*i:])))
		}
		at += 4 * (n - 1)
		starts = append(starts, end-at)
		for i := range n {
			src := wim[at+starts[i] : at+starts[i+1]]
			dst := make([]byte, min(chunk, size-i*chunk))
			if len(src) == len(dst) {
				copy(dst, src) // a chunk that did not shrink
			} else {
				packed++
				if m, err := expandXPRESSHuff(dst, src, new(huffTable)); err != nil {
					t.Fatalf("chunk %d: %d of %d bytes, %v", i, m, len(dst), err)
				}
			}
			data = append(data, dst...)
		}
		return data, packed
	}
	t.Fatalf("no resource of %d bytes", size)
	return nil, 0
}

func TestXPRESSHuffDamage(t *testing.T) {
	stream := huffStream(packable()["samples"])
	dst := make([]byte, 64_000)
	table := new(huffTable)
	for _, tc := range []struct {
		name string
		src  []byte
		want error
	}{
		{"nothing", nil, errStreamEnd},
		{"table alone", stream[:huffTableIn], errStreamEnd},
		{"half a table", stream[:100], errStreamEnd},
		{"cut", stream[:4000], errStreamEnd},
		{"too many codes", append(bytes.Repeat([]byte{0x11}, huffTableIn), 0, 0, 0, 0), errStreamTable},
		{"no codes", make([]byte, 1000), errStreamTable},
		{"match at the start", append(bytes.Repeat([]byte{0x99}, huffTableIn), 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0), errStreamSource},
	} {
		if _, err := expandXPRESSHuff(dst, tc.src, table); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}

// lzntStream packs data into chunks whose only matches are runs of a byte.
func lzntStream(data []byte) []byte {
	var out []byte
	for len(data) > 0 {
		chunk := data[:min(len(data), lzntChunk)]
		data = data[len(chunk):]
		body := []byte{}
		for i := 0; i < len(chunk); {
			flagsAt := len(body)
			body = append(body, 0)
			for bit := 0; bit < 8 && i < len(chunk); bit++ {
				run := 0
				for i > 0 && i+run < len(chunk) && chunk[i+run] == chunk[i-1] {
					run++
				}
				lengthBits := 12
				for v := i - 1; v >= 16; v >>= 1 {
					lengthBits--
				}
				if run = min(run, 1<<lengthBits+2); run < 3 {
					body = append(body, chunk[i])
					i++
					continue
				}
				body[flagsAt] |= 1 << bit
				body = binary.LittleEndian.AppendUint16(body, uint16(run-3))
				i += run
			}
		}
		header := uint16(0xB000)
		if len(body) >= len(chunk) {
			body, header = chunk, 0x3000
		}
		out = binary.LittleEndian.AppendUint16(out, header|uint16(len(body)-1))
		out = append(out, body...)
	}
	return out
}

func TestLZNT1(t *testing.T) {
	for name, data := range packable() {
		got := make([]byte, len(data))
		if n, err := expandLZNT1(got, lzntStream(data)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d of %d bytes, %v", name, n, len(data), err)
		}
	}
	dst := make([]byte, 10_000)
	run := lzntStream(bytes.Repeat([]byte{5}, 5000))
	for _, tc := range []struct {
		name string
		src  []byte
		want error
	}{
		{"nothing", nil, errStreamEnd},
		{"end mark", []byte{0, 0}, errStreamShort},
		{"cut chunk", run[:4], errStreamEnd},
		{"cut match", []byte{0x01, 0xB0, 0x01, 0x00}, errStreamChunk},
		{"match before the start", []byte{0x02, 0xB0, 0x01, 0xFF, 0xFF}, errStreamChunk},
		{"chunk too long", lznt1Bomb(), errStreamLength},
	} {
		if _, err := expandLZNT1(dst, tc.src); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}

// lznt1Bomb is a chunk that unpacks to more than a chunk may: a literal and
// then matches of the greatest length.
func lznt1Bomb() []byte {
	body := []byte{0xFE, 'x', 0xFF, 0x0F}
	for range 6 {
		body = append(body, 0x0F, 0x00)
	}
	return append([]byte{byte(len(body) - 1), 0xB0}, body...)
}
