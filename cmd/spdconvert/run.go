package main

import (
	"github.com/spgo-tools/spgo/internal/cli"
	"github.com/spgo-tools/spgo/internal/diag"
)

func run(c *cli.Context) (cli.Result, error) {
	if !c.Bool("extract") {
		return nil, diag.New(diag.BadOption, "say what to do: /extract")
	}
	return extract(c)
}
