package main

import (
	"bufio"
	"io"
	"os"

	"github.com/spgo-tools/spgo/internal/carrier"
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spd"
)

// assemble makes an SPD from its text form or JSON, whichever the input starts
// like.
func assemble(c *cli.Context, name, output string) error {
	var input os.FileInfo
	if name != "-" {
		var err error
		if input, err = os.Stat(name); err != nil {
			return err
		}
	}
	if err := cli.Replaceable(output, "SPD", carrier.IsSPD, input); err != nil {
		return err
	}
	stream, err := c.Stream(name)
	if err != nil {
		return err
	}
	text := bufio.NewReaderSize(stream, 256<<10)
	read := spd.ReadText
	if startsAsJSON(text) {
		read = spd.ReadJSON
	}
	f, err := read(text)
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	if err != nil {
		return binfmt.InFile(err, name)
	}
	return c.WriteOutput(output, func(w io.Writer) error { return spd.Write(w, f) })
}

// startsAsJSON says whether the first thing behind white space is an object. A
// failure to read comes again when the rest is read.
func startsAsJSON(text *bufio.Reader) bool {
	for {
		b, err := text.ReadByte()
		if err != nil {
			return false
		}
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		}
		return text.UnreadByte() == nil && b == '{'
	}
}
