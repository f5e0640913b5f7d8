package spt_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// Example writes a trace, reads it and prints its records as text.
func Example() {
	guid, err := binfmt.ParseGUID("{884C945B-FE84-B717-4C4C-44205044422E}")
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	w, err := spt.NewWriter(&file, []spt.ProgramID{{GUID: guid, Age: 1, Name: "app.exe"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := w.BeginBinary(0); err != nil {
		log.Fatal(err)
	}
	if err := w.IP(spt.OpUnhaltCycle, []uint32{0x1000, 0x1010}, 0); err != nil {
		log.Fatal(err)
	}
	if err := w.LBR([]spt.Pair{{From: 0x1010, To: 0x2000}}, 41); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	data := file.Bytes()
	r, err := spt.NewReader(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		log.Fatal(err)
	}
	for r.Next() {
		rec := r.Record()
		p := r.Programs()[rec.Program]
		fmt.Printf("%s: %v, %d entries, each %d times\n", p.Name, rec.Op, len(rec.RVAs)+len(rec.Pairs), rec.Hits())
	}
	if err := r.Err(); err != nil {
		log.Fatal(err)
	}

	again, err := spt.NewStreamReader(bytes.NewReader(data), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := spt.WriteText(os.Stdout, again, spt.PartRecords); err != nil {
		log.Fatal(err)
	}
	// Output:
	// app.exe: UNHALT_CYCLE, 2 entries, each 1 times
	// app.exe: LBR, 1 entries, each 42 times
	// binary 0 length 34 # "app.exe"
	//   UNHALT_CYCLE 0x1000 0x1010
	//   LBR repeat 41 0x1010->0x2000
}

// ExampleParseText makes a trace from a text written by hand.
func ExampleParseText() {
	const text = `spt 1
program 0 {884C945B-FE84-B717-4C4C-44205044422E} age 1 "app.exe"
binary 0
  ETW_CALLSTACK repeat 9 0x1000 0x2000 0x3000`
	var file bytes.Buffer
	if err := spt.ParseText(&file, bytes.NewReader([]byte(text))); err != nil {
		log.Fatal(err)
	}
	r, err := spt.NewStreamReader(&file, nil)
	if err != nil {
		log.Fatal(err)
	}
	for r.Next() {
		fmt.Printf("%v %#x %d\n", r.Record().Op, r.Record().RVAs, r.Record().Hits())
	}
	fmt.Println(r.Err())
	// Output:
	// ETW_CALLSTACK [0x1000 0x2000 0x3000] 10
	// <nil>
}
