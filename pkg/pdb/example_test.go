package pdb_test

import (
	"bytes"
	"fmt"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/pdb"
	"github.com/spgo-tools/spgo/pkg/pdb/msftest"
)

// A tool has raised the age of the info stream after linking. The image still
// names the age of the DBI stream.
func ExampleFile_Identity() {
	guid, _ := binfmt.ParseGUID("168BC37B-40EB-C0D8-1526-21EE552A7823")
	data := msftest.PDB{GUID: guid, Age: 3, DBIAge: 1}.Bytes()

	f, err := pdb.NewFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := f.Identity()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v age %d (info stream: %d)\n", id.GUID, id.Age, id.InfoAge)
	// Output: {168BC37B-40EB-C0D8-1526-21EE552A7823} age 1 (info stream: 3)
}

// Streams are looked at by number, whatever they hold.
func ExampleFile_OpenStream() {
	data := msftest.PDB{Named: []msftest.Stream{{Name: "profile", Data: []byte("H_Q_ and more")}}}.Bytes()

	f, err := pdb.NewFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range f.NumStreams() {
		s, err := f.OpenStream(i)
		if err != nil {
			fmt.Println(err)
			return
		}
		start := make([]byte, 4)
		if n, _ := s.ReadAt(start, 0); string(start[:n]) == "H_Q_" {
			fmt.Printf("stream %d, %d bytes\n", i, s.Size())
		}
	}
	// Output: stream 5, 13 bytes
}
