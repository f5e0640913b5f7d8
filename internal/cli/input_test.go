package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// withContext runs a test inside a command that has some standard input.
func withContext(t *testing.T, ctx context.Context, stdin io.Reader, test func(*Context)) {
	t.Helper()
	c := &Context{Context: &urfave.Context{Context: ctx}, Streams: Streams{In: stdin, Out: io.Discard, Err: io.Discard}}
	defer c.close()
	test(c)
}

func TestOpenReadsAtAnyPlace(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, operand := range []string{name, "-"} {
		withContext(t, context.Background(), strings.NewReader("0123456789"), func(c *Context) {
			f, err := c.Open(operand)
			if err != nil {
				t.Fatalf("%s: %v", operand, err)
			}
			b := make([]byte, 3)
			for _, at := range []int64{7, 0, 4} {
				if _, err := f.ReadAt(b, at); err != nil || string(b) != "0123456789"[at:at+3] {
					t.Errorf("%s: %q at %d: %v", operand, b, at, err)
				}
			}
			if f.Size != 10 {
				t.Errorf("%s: %d bytes", operand, f.Size)
			}
		})
	}
}

// TestInterruptedInputs: a command that was interrupted neither goes on reading
// nor waits for what does not come.
func TestInterruptedInputs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	silent, end := io.Pipe()
	defer end.Close()
	ctx, cancel := context.WithCancel(context.Background())
	withContext(t, ctx, silent, func(c *Context) {
		f, err := c.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := c.Stream(name)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, context.Canceled) {
			t.Errorf("reading a file: %v", err)
		}
		for name, r := range map[string]io.Reader{"file": stream, "standard input": c.Input()} {
			if _, err := io.ReadAll(r); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s as a stream: %v", name, err)
			}
		}
		if _, err := c.Open("-"); !errors.Is(err, context.Canceled) {
			t.Errorf("opening standard input: %v", err)
		}
		forever := make(chan struct{})
		defer close(forever)
		if err := c.Do(func() { <-forever }); !errors.Is(err, context.Canceled) {
			t.Errorf("work: %v", err)
		}
	})
	withContext(t, context.Background(), nil, func(c *Context) {
		n := 0
		if err := c.Do(func() { n++ }); err != nil || n != 1 {
			t.Errorf("work was done %d times: %v", n, err)
		}
	})
}

func TestOutputThroughLinks(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "sub")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"dangling": "sub/new", "chain": "dangling", "a": "b", "b": "a", "lost": "nowhere/new", "sub/up": "../above"} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	for _, tc := range []struct{ link, target string }{ // no target: refused
		{"dangling", "sub/new"}, {"chain", "sub/new"}, {"sub/up", "above"}, {"a", ""}, {"lost", ""},
	} {
		link := filepath.Join(dir, filepath.FromSlash(tc.link))
		err := WriteFile(context.Background(), link, func(w io.Writer) error {
			_, err := io.WriteString(w, tc.link)
			return err
		})
		if fi, _ := os.Lstat(link); fi.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link was replaced", tc.link)
		}
		var coded *diag.Error
		if tc.target == "" {
			if !errors.As(err, &coded) || coded.Code != diag.CannotWrite {
				t.Errorf("%s: %v", tc.link, err)
			}
			continue
		}
		if b, _ := os.ReadFile(filepath.Join(dir, filepath.FromSlash(tc.target))); err != nil || string(b) != tc.link {
			t.Errorf("%s: %v, the target has %q", tc.link, err, b)
		}
	}
	if entries, _ := os.ReadDir(inside); len(entries) != 2 {
		t.Errorf("%d entries, want the link and the new file", len(entries))
	}
}

func TestReplaceable(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"input": "KIND", "old": "KIND", "other": "text"} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	input, err := os.Stat(path("input"))
	if err != nil {
		t.Fatal(err)
	}
	isKind := func(r io.ReaderAt) bool {
		b := make([]byte, 4)
		r.ReadAt(b, 0)
		return string(b) == "KIND"
	}
	for _, tc := range []struct {
		output string
		ok     bool
	}{{path("new"), true}, {path("old"), true}, {"-", true}, {path("other"), false}, {path("input"), false}, {dir, false}} {
		err := Replaceable(tc.output, "KIND", isKind, nil, input)
		var coded *diag.Error
		if (err == nil) != tc.ok || err != nil && (!errors.As(err, &coded) || coded.Code != diag.WouldReplace) {
			t.Errorf("%s: %v", tc.output, err)
		}
	}
}

// TestResultBesideOutput: where the output goes to standard output, the result
// does not, and in JSON it stays one document.
func TestResultBesideOutput(t *testing.T) {
	run := func(c *Context) (Result, error) {
		err := c.WriteOutput("-", func(w io.Writer) error {
			_, err := io.WriteString(w, "output")
			return err
		})
		c.Warn(diag.New(diag.NoIdentity, "who"))
		return answer{4}, err
	}
	code, out, errs := execute(run, "--json", "x")
	if code != 0 || out != "output" || !json.Valid([]byte(errs)) || !strings.Contains(errs, `"n": 4`) || !strings.Contains(errs, "who") {
		t.Errorf("exit %d, out %q, err %q", code, out, errs)
	}
	code, out, errs = execute(run, "x")
	if code != 0 || out != "output" || !strings.Contains(errs, "n is 4") {
		t.Errorf("exit %d, out %q, err %q", code, out, errs)
	}
}

// TestLateFailureInJSON: what fails while the result is written counts for the
// exit code and for standard error as well.
func TestLateFailureInJSON(t *testing.T) {
	code, out, errs := execute(func(*Context) (Result, error) {
		return stream{&binfmt.Error{File: "f", Err: binfmt.ErrTruncated}}, nil
	}, "--json", "x")
	if code != 6 || !strings.Contains(out, `"exit": 6`) || !strings.Contains(errs, "SPT0112") {
		t.Errorf("exit %d, out %q, err %q", code, out, errs)
	}
}

func TestHelpInJSON(t *testing.T) {
	for _, args := range [][]string{{"--json", "/help"}, {"/?", "--json"}} {
		_, out, _ := execute(nil, args...)
		var help struct {
			Text string
			Exit *int
		}
		if err := json.Unmarshal([]byte(out), &help); err != nil || help.Exit == nil || !strings.Contains(help.Text, "tool") {
			t.Errorf("%q: %v in %s", args, err, out)
		}
	}
	if _, out, _ := execute(nil, "/help"); !bytes.HasPrefix([]byte(out), []byte("tool")) {
		t.Errorf("text: %q", out)
	}
}
