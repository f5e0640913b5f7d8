package etl

import (
	"testing"
)

func BenchmarkXPRESS(b *testing.B) {
	var x xpressEncoder
	for _, name := range []string{"samples", "few", "noise"} {
		data := packable()[name]
		packed := x.compress(nil, data)
		dst := make([]byte, len(data))
		b.Run("expand/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := expandXPRESS(dst, packed); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("compress/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				packed = x.compress(packed[:0], data)
			}
		})
	}
}
