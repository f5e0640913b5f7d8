package spe_test

import (
	"bytes"
	"testing"

	"github.com/spgo-tools/spgo/pkg/spe"
)

// benchData is 256 KiB of real records, branches and loads.
func benchData(b *testing.B) []byte {
	one := unhex(b, branchRecord+loadRecord)
	return bytes.Repeat(one, 256<<10/len(one))
}

func BenchmarkDecode(b *testing.B) {
	data := benchData(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var d spe.Decoder
	var r spe.Record
	for b.Loop() {
		for d.Reset(data, 0); d.Next(&r); {
		}
	}
}

func BenchmarkSkim(b *testing.B) {
	data := benchData(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		spe.Skim(data, 0)
	}
}
