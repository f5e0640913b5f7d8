package cli

import (
	"errors"
	"slices"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/diag"
)

func TestNormalize(t *testing.T) {
	table := optionTable([]urfave.Flag{
		&urfave.StringSliceFlag{Name: "etl"}, &urfave.StringFlag{Name: "mode"}, &urfave.BoolFlag{Name: "nokernel"},
		&urfave.StringFlag{Name: "output", Aliases: []string{"o"}}, &urfave.IntFlag{Name: "jobs", Aliases: []string{"j"}},
		&urfave.StringFlag{Name: "dyninst"},
	}, map[string]string{"dyninst": "50"})
	for _, tc := range []struct {
		name string
		args []string
		want []string
		code diag.Code // of the error; empty: none
	}{
		{"slash", []string{"/mode:LBR", "x"}, []string{"--mode=LBR", "--", "x"}, ""},
		{"case", []string{"/MODE:LBR", "-NoKernel"}, []string{"--mode=LBR", "--nokernel", "--"}, ""},
		{"dash", []string{"-mode:LBR"}, []string{"--mode=LBR", "--"}, ""},
		{"gnu", []string{"--mode=LBR", "--nokernel"}, []string{"--mode=LBR", "--nokernel", "--"}, ""},
		{"value follows", []string{"/etl", "a,b", "out.spt"}, []string{"--etl=a,b", "--", "out.spt"}, ""},
		{"value with separators", []string{"--mode=a=b:c"}, []string{"--mode=a=b:c", "--"}, ""},
		{"value is a path", []string{"/etl:/tmp/x.etl"}, []string{"--etl=/tmp/x.etl", "--"}, ""},
		{"value is a drive", []string{`/etl:C:\x.etl`}, []string{`--etl=C:\x.etl`, "--"}, ""},
		{"after operands", []string{"x", "/nokernel", "y"}, []string{"--nokernel", "--", "x", "y"}, ""},
		{"end of options", []string{"--", "/nokernel", "--x"}, []string{"--", "/nokernel", "--x"}, ""},
		{"path", []string{"/etl/run.etl", "/tmp"}, []string{"--", "/etl/run.etl", "/tmp"}, ""},
		{"unknown word is a path", []string{"/data:x"}, []string{"--", "/data:x"}, ""},
		{"letter", []string{"-o", "f", "-j8", "-j=4"}, []string{"--output=f", "--jobs=8", "--jobs=4", "--"}, ""},
		{"standard streams", []string{"-", "-o", "-"}, []string{"--output=-", "--", "-"}, ""},
		{"optional value", []string{"/dyninst", "f", "/dyninst:7"}, []string{"--dyninst=50", "--dyninst=7", "--", "f"}, ""},
		{"optional value follows", []string{"/dyninst", "3", "f"}, []string{"--dyninst=3", "--", "f"}, ""},
		{"optional value follows the file", []string{"f", "/dyninst", "3"}, []string{"--dyninst=3", "--", "f"}, ""},
		{"a file that is a number", []string{"/dyninst", "3"}, []string{"--dyninst=50", "--", "3"}, ""},
		{"switch with a file", []string{"/nokernel:f"}, nil, diag.BadValue},
		{"switch off", []string{"--nokernel=false"}, []string{"--nokernel=false", "--"}, ""},
		{"unknown", []string{"--moed=LBR"}, nil, diag.BadOption},
		{"unknown letter", []string{"-x"}, nil, diag.BadOption},
		{"no value", []string{"/mode"}, nil, diag.BadValue},
		{"empty value", []string{"--mode="}, nil, diag.BadValue},
		{"empty optional value", []string{"/dyninst:"}, nil, diag.BadValue},
		{"option as value", []string{"/mode", "/nokernel"}, nil, diag.BadValue},
	} {
		got, err := normalize(tc.args, table)
		var coded *diag.Error
		if errors.As(err, &coded); tc.code != "" && (coded == nil || coded.Code != tc.code) || tc.code == "" && err != nil {
			t.Errorf("%s: error %v, want code %q", tc.name, err, tc.code)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNames(t *testing.T) {
	if got := Names([]string{"a,b", " c ", ",,"}); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("Names = %q", got)
	}
}
