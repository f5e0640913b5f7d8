package cli

import (
	"bytes"
	"errors"
	"slices"
	"strings"
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
		got, _, err := normalize(tc.args, table)
		var coded *diag.Error
		if errors.As(err, &coded); tc.code != "" && (coded == nil || coded.Code != tc.code) || tc.code == "" && err != nil {
			t.Errorf("%s: error %v, want code %q", tc.name, err, tc.code)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestEndOfOptions gives operands that look like options: before "--" they are
// files or errors that name the nearest option, behind it operands as they are.
func TestEndOfOptions(t *testing.T) {
	for _, tc := range []struct {
		args     []string
		operands string // "" if the arguments are refused
		next     string // of the error
	}{
		{[]string{"/no-such-file.spt"}, "", "Run the command with /help"},
		{[]string{"a", "/no-such-file.spt", "--", "b"}, "", "write -- before an operand"},
		{[]string{"--", "/no-such-file.spt"}, "/no-such-file.spt", ""},
		{[]string{"a", "--", "/no-such-file", "/json", "--json", "--", "-x"}, "a /no-such-file /json --json -- -x", ""},
		{[]string{"--jsn", "a"}, "", "Did you mean --json?"},
		{[]string{"/jsno", "a"}, "", "Did you mean /json?"},
		{[]string{"-verbsoe=true", "a"}, "", "Did you mean --verbose?"},
		{[]string{"--nothing-like-it", "a"}, "", "Run the command with /help"},
		{[]string{"/x"}, "", "Run the command with /help"},
	} {
		var operands []string
		code, _, errs := execute(func(c *Context) (Result, error) {
			operands = c.Operands
			return nil, nil
		}, tc.args...)
		if got := strings.Join(operands, " "); got != tc.operands || (code == 0) != (tc.next == "") {
			t.Errorf("%q: operands %q, want %q; exit code %d: %s", tc.args, got, tc.operands, code, errs)
		}
		if tc.next != "" && (code != int(diag.Usage) || !strings.Contains(errs, "SPT0002") || !strings.Contains(errs, tc.next)) {
			t.Errorf("%q: exit code %d: %s", tc.args, code, errs)
		}
	}
}

// TestSuggestionsAreNear finds the nearest option, and the first by name of
// several that are equally near.
func TestSuggestionsAreNear(t *testing.T) {
	table := map[string]option{"min-samples": {}, "max-memory": {}, "lines": {}, "likes": {}, "o": {}, "mode": {}}
	for arg, want := range map[string]string{
		"--min-sample": "--min-samples", "--minsamples": "--min-samples", "/min_sampels:5": "/min-samples", "--MODE2=x": "--mode",
		"--likns": "--likes", "--x": "", "--something": "", "--" + strings.Repeat("x", 1<<16): "",
	} {
		e := suggest(&diag.Error{Next: "Run."}, arg, table)
		if want != "" {
			want = "Did you mean " + want + "? "
		}
		if e.Next != want+"Run." {
			t.Errorf("%.40s: %q, want %q", arg, e.Next, want+"Run.")
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"mode", "mode", 0}, {"moed", "mode", 1}, {"mod", "mode", 1}, {"modee", "mode", 1},
		{"node", "mode", 1}, {"kitten", "sitting", 3},
	} {
		if got := distance(tc.a, tc.b); got != tc.want || distance(tc.b, tc.a) != tc.want {
			t.Errorf("%q, %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

// TestValues says what values are allowed, instead of what a parser met.
func TestValues(t *testing.T) {
	flags := []urfave.Flag{
		&urfave.DurationFlag{Name: "duration", Aliases: []string{"d"}, Usage: "`TIME`: stop after\nthis"},
		&urfave.IntFlag{Name: "retire", Usage: "`N`: drop N/16, N from 0 to 16"},
		&urfave.Uint64Flag{Name: "count", Usage: "`N`: every N events"},
	}
	for _, tc := range []struct {
		args []string
		want string // "" if the value is taken
	}{
		{[]string{"-d", "5"}, `--duration takes a time with its unit (ms, s, m or h), not "5"`},
		{[]string{"-d", "5"}, `next: Give a value as /help says: /duration:TIME, stop after this.`},
		{[]string{"/retire", "a.spd"}, `--retire takes a whole number, not "a.spd"`},
		{[]string{"/retire", "a.spd"}, `/retire:N, drop N/16, N from 0 to 16.`},
		{[]string{"--count=-3"}, `--count takes a whole number from 0 on, not "-3"`},
		{[]string{"--count=3", "/retire:-1", "-d", "1m30s", "--", "--count=x"}, ""},
	} {
		var out, errs bytes.Buffer
		c := &Command{Name: "tool", Forms: []string{"file"}, Flags: flags, Run: func(*Context) (Result, error) { return nil, nil }}
		code := c.Execute(append(tc.args, "x"), Streams{Out: &out, Err: &errs})
		if tc.want == "" && code != 0 || tc.want != "" && (code != int(diag.Usage) || !strings.Contains(errs.String(), tc.want)) {
			t.Errorf("%q: exit code %d: %s", tc.args, code, errs.String())
		}
	}
}

func TestNames(t *testing.T) {
	if got := Names([]string{"a,b", " c ", ",,"}); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("Names = %q", got)
	}
}
