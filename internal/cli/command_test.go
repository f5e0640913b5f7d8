package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// answer is a result for tests.
type answer struct {
	N int `json:"n"`
}

func (a answer) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "n is %d\n", a.N)
	return err
}

// stream is a result that writes its members itself and then fails.
type stream struct{ err error }

func (s stream) WriteText(io.Writer) error { return s.err }
func (s stream) WriteJSONMembers(w io.Writer) error {
	io.WriteString(w, `"items": [1,2]`)
	return s.err
}

func execute(run func(*Context) (Result, error), args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	c := &Command{Name: "tool", Forms: []string{"file"}, Run: run}
	code = c.Execute(args, Streams{In: strings.NewReader(""), Out: &o, Err: &e})
	return code, o.String(), e.String()
}

func TestExitCodesAndText(t *testing.T) {
	damaged := &binfmt.Error{File: "f", Offset: 4, Err: binfmt.ErrTruncated}
	for _, tc := range []struct {
		name   string
		result Result
		err    error
		code   int
		out    string
		errs   string
	}{
		{"done", answer{1}, nil, 0, "n is 1\n", ""},
		{"failed", nil, errors.New("disk on fire"), 1, "", "SPT0102: disk on fire"},
		{"usage", nil, diag.New(diag.BadValue, "no"), 2, "", "usage: tool file"},
		{"result and damage", answer{2}, damaged, 6, "n is 2\n", "SPT0112: f: offset 0x4"},
		{"several", answer{3}, errors.Join(damaged, diag.New(diag.NothingUsable, "none")), 4, "n is 3\n", "SPT0201: none"},
		{"streaming fails", stream{damaged}, nil, 6, "", "SPT0112"},
	} {
		code, out, errs := execute(func(*Context) (Result, error) { return tc.result, tc.err }, "x")
		if code != tc.code || out != tc.out || !strings.Contains(errs, tc.errs) {
			t.Errorf("%s: exit %d, out %q, err %q", tc.name, code, out, errs)
		}
	}
}

func TestJSONDocument(t *testing.T) {
	for _, tc := range []struct {
		name   string
		result Result
		err    error
		want   string // members besides errors and warnings
	}{
		{"result", answer{5}, nil, `{"n":5,"exit":0}`},
		{"error alone", nil, diag.New(diag.NothingUsable, "<none>"), `{"exit":4}`},
		{"stream", stream{}, nil, `{"items":[1,2],"exit":0}`},
		{"stream fails", stream{diag.New(diag.Corrupt, "x")}, nil, `{"items":[1,2],"exit":6}`},
	} {
		_, out, _ := execute(func(c *Context) (Result, error) {
			c.Warn(diag.New(diag.NoIdentity, "who"))
			return tc.result, tc.err
		}, "--json", "x")
		var got, want map[string]any
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Errorf("%s: %v in %s", tc.name, err, out)
			continue
		}
		if n := len(got["warnings"].([]any)); n != 1 {
			t.Errorf("%s: %d warnings, want 1", tc.name, n)
		}
		errs := got["errors"].([]any)
		if (got["exit"].(float64) != 0) != (len(errs) == 1) {
			t.Errorf("%s: exit %v with errors %v", tc.name, got["exit"], errs)
		}
		delete(got, "warnings")
		delete(got, "errors")
		json.Unmarshal([]byte(tc.want), &want)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", tc.name, got, want)
		}
	}
	if code, out, _ := execute(func(*Context) (Result, error) { return nil, diag.New(diag.BadValue, "no") }, "--json", "x"); code != 2 || out != "" {
		t.Errorf("wrong usage prints %q with exit %d", out, code)
	}
}

func TestPanicIsReported(t *testing.T) {
	code, _, errs := execute(func(*Context) (Result, error) { panic("ouch") }, "x")
	if code != 1 || !strings.Contains(errs, "SPT0001: ouch") {
		t.Errorf("exit %d, %q", code, errs)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put := func(ctx context.Context, text string, fail error) error {
		return WriteFile(ctx, path, func(w io.Writer) error {
			io.WriteString(w, text)
			return fail
		})
	}
	content := func() string {
		b, _ := os.ReadFile(path)
		return string(b)
	}
	background := context.Background()
	if err := put(background, "one", nil); err != nil || content() != "one" {
		t.Fatalf("first write: %v, %q", err, content())
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	var coded *diag.Error
	if err := put(background, "two", errors.New("disk full")); !errors.As(err, &coded) || coded.Code != diag.CannotWrite || content() != "one" {
		t.Errorf("failed write: %v, %q", err, content())
	}
	cancelled, cancel := context.WithCancel(background)
	cancel()
	if err := put(cancelled, "three", nil); !errors.Is(err, context.Canceled) || content() != "one" {
		t.Errorf("cancelled write: %v, %q", err, content())
	}
	if err := put(background, "four", nil); err != nil || content() != "four" {
		t.Errorf("second write: %v, %q", err, content())
	}
	if fi, _ := os.Stat(path); fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want that of the old file", fi.Mode())
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := WriteFile(background, link, func(w io.Writer) error { _, err := io.WriteString(w, "five"); return err }); err != nil || content() != "five" {
		t.Errorf("through a link: %v, %q", err, content())
	}
	if fi, _ := os.Lstat(link); fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if err := WriteFile(background, dir, func(io.Writer) error { return nil }); !errors.As(err, &coded) {
		t.Errorf("a folder as output: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("%d files, want 2: temporary files are left", len(entries))
	}
}
