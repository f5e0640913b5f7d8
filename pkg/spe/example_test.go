package spe_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spgo-tools/spgo/pkg/spe"
)

func ExampleDecoder() {
	data := []byte{
		0xb0, 0x30, 0x29, 0xe7, 0x6c, 0xfd, 0xff, 0x00, 0x80, // PC
		0x4a, 0x01, // conditional branch
		0x42, 0x02, // retired
		0xb1, 0x00, 0x20, 0xe7, 0x6c, 0xfd, 0xff, 0x00, 0x80, // target
		0x01, // end
	}
	var d spe.Decoder
	d.Reset(data, 0)
	var r spe.Record
	for d.Next(&r) {
		if r.Whole() && r.Taken() {
			fmt.Printf("%v from %#x to %#x\n", r.Op, r.PC.Address(), r.Target.Address())
		}
	}
	spe.WriteText(os.Stdout, bytes.NewReader(data[9:13]), 0, 0)
	// Output:
	// B COND from 0xfffd6ce72930 to 0xfffd6ce72000
	// 00000000:  4a 01                                           B COND
	// 00000002:  42 02                                           EV RETIRED
}
