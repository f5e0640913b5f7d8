package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"

	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/stage"
)

// Version is the version of the toolkit; release builds set it by -ldflags.
var Version = "0.1.0-dev"

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal bool // Err is a terminal: progress may be drawn
}

// Command describes a command to the shell.
type Command struct {
	Name     string
	Summary  string   // one line
	Forms    []string // usage lines without the name, Microsoft's spelling first
	Examples []string // "command line — what it does"
	Notes    string   // further paragraphs of the help text
	Formats  string   // format versions for --version
	Flags    []urfave.Flag
	// OptionalValue gives options whose value may be left out the value that
	// they then take.
	OptionalValue map[string]string
	// Run does the work. The result is printed even if there is an error too.
	Run func(*Context) (Result, error)
}

// Result is what a command found. Its JSON form is the document that --json
// prints, with "exit", "errors" and "warnings" added. A result that
// implements JSONMembers is streamed instead of marshalled.
type Result interface {
	WriteText(w io.Writer) error
}

// JSONMembers is a Result that writes its JSON members, without the braces
// around them, by itself. It closes what it opened even when it fails.
type JSONMembers interface {
	WriteJSONMembers(w io.Writer) error
}

// Context is one run of a command.
type Context struct {
	*urfave.Context
	Streams
	Operands []string
	JSON     bool
	Quiet    bool
	Verbose  bool

	// ResultToErr sends the text result to standard error, because the output
	// itself goes to standard output.
	ResultToErr bool

	warnings []*diag.Error
	closers  []func() // called when the result was printed
}

// Warn reports a condition that does not stop the command.
func (c *Context) Warn(w *diag.Error) { c.warnings = append(c.warnings, w) }

// Logf prints a line for -v.
func (c *Context) Logf(format string, args ...any) {
	if c.Verbose {
		fmt.Fprintf(c.Err, format+"\n", args...)
	}
}

// Main runs the command with the arguments and streams of the process and
// exits.
func (c *Command) Main() {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: isTerminal(os.Stderr)}
	os.Exit(c.Execute(os.Args[1:], s))
}

// Execute runs the command and returns its exit code.
func (c *Command) Execute(args []string, s Streams) (code int) {
	defer func() {
		if p := recover(); p != nil {
			printError(s.Err, c.Name, "error", diag.New(diag.Internal, "%v\n%s", p, debug.Stack()))
			code = int(diag.Failed)
		}
	}()
	ctx := &Context{Streams: s}
	defer ctx.close()
	result, err := c.run(ctx, args)
	return int(c.finish(ctx, result, err))
}

func (c *Command) run(ctx *Context, args []string) (result Result, err error) {
	flags := append(append([]urfave.Flag{}, c.Flags...), commonFlags()...)
	table := optionTable(flags, c.OptionalValue)
	table["?"] = option{name: "help"}
	normal, unsure, err := normalize(args, table)
	if err != nil {
		return nil, err
	}
	for _, o := range overridden(normal, flags) {
		ctx.Warn(diag.New(diag.Overridden, "--%s=%s counts, not --%s=%s", o.name, o.last, o.name, o.first))
	}
	// The library would print a help text of its own for an option of this name.
	if end := slices.Index(normal, "--"); slices.Contains(normal[:end], "--help") {
		ctx.JSON = slices.Contains(normal[:end], "--json")
		return textResult(c.help(flags)), nil
	}
	if err := c.checkValues(normal, flags); err != nil {
		return nil, err
	}
	app := &urfave.App{
		Name: c.Name, Flags: flags, HideHelp: true, HideVersion: true,
		DisableSliceFlagSeparator: true,
		Writer:                    io.Discard, ErrWriter: io.Discard,
		OnUsageError: func(_ *urfave.Context, err error, _ bool) error {
			return diag.New(diag.BadValue, "%v", err)
		},
		ExitErrHandler: func(*urfave.Context, error) {},
		Action: func(u *urfave.Context) error {
			ctx.Context = u
			ctx.Operands = u.Args().Slice()
			ctx.JSON, ctx.Quiet, ctx.Verbose = u.Bool("json"), u.Bool("quiet"), u.Bool("verbose")
			switch {
			case u.Bool("version"):
				result = textResult(fmt.Sprintf("%s %s (%s)\n", c.Name, Version, c.Formats))
			case u.IsSet("explain"):
				result, err = explain(u.String("explain"))
			case len(args) == 0:
				err = diag.New(diag.BadOperands, "no files given")
			default:
				for _, name := range unsure {
					if _, statErr := os.Stat(name); errors.Is(statErr, os.ErrNotExist) {
						return suggest(diag.New(diag.BadOption, "%s is neither a known option nor a file", name), name, table)
					}
				}
				result, err = c.Run(ctx)
			}
			return err
		},
	}
	base, restore := interruptible()
	defer restore()
	return result, app.RunContext(base, append([]string{c.Name}, normal...))
}

// interruptible returns a context that the first signal cancels; a second one
// ends the process at once, as does any after restore. That does not cancel
// the context, since results can go on reading while they are printed.
func interruptible() (ctx context.Context, restore func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		signal.Notify(signals, syscall.SIGHUP) // the terminal was closed
	}
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel()
		case <-done:
		}
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
	})
}

func commonFlags() []urfave.Flag {
	const category = "Common:"
	return []urfave.Flag{
		&urfave.BoolFlag{Name: "json", Category: category, Usage: "print the result as one JSON document"},
		&urfave.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: category, Usage: "no progress and no warnings"},
		&urfave.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: category, Usage: "more detail on standard error"},
		&urfave.StringFlag{Name: "explain", Category: category, Usage: "`CODE`: say what an error code means"},
		&urfave.BoolFlag{Name: "help", Aliases: []string{"h"}, Category: category, Usage: "this text (also /?)"},
		&urfave.BoolFlag{Name: "version", Category: category, Usage: "version of the program and its formats"},
	}
}

// finish prints result, warnings and error in the chosen form.
func (c *Command) finish(ctx *Context, result Result, err error) diag.Exit {
	exit := diag.OK
	var errs []*diag.Error
	for _, e := range flatten(err) {
		shown := recognized(diag.Of(e))
		exit = diag.Worst(exit, shown.Exit())
		errs = append(errs, shown)
	}
	w := ctx.Out
	if ctx.ResultToErr {
		w = ctx.Err
	}
	if ctx.JSON && exit != diag.Usage {
		late, err := writeJSON(w, result, exit, errs, ctx.warnings)
		if late != nil {
			errs = append(errs, late)
			exit = diag.Worst(exit, late.Exit())
		}
		if err != nil {
			errs = append(errs, diag.New(diag.CannotWrite, "standard output: %v", err))
			exit = diag.Worst(exit, diag.Failed)
		} else if ctx.ResultToErr {
			return exit // the document has warnings and errors, and stays one document
		}
	} else if result != nil {
		if err := result.WriteText(w); err != nil {
			shown := resultError(err)
			errs = append(errs, shown)
			exit = diag.Worst(exit, shown.Exit())
		}
	}
	if !ctx.Quiet {
		for _, w := range ctx.warnings {
			printError(ctx.Err, c.Name, "warning", w)
		}
	}
	for _, e := range errs {
		printError(ctx.Err, c.Name, "error", e)
	}
	if exit == diag.Usage {
		fmt.Fprintf(ctx.Err, "usage: %s %s\n       %s /help shows all options\n", c.Name, c.Forms[0], c.Name)
	}
	return exit
}

// recognized says what a file is that a command has no use for, where it is of
// another stage.
func recognized(e *diag.Error) *diag.Error {
	if e.Code != diag.UnknownFormat && e.Code != diag.WouldReplace || e.File == "" {
		return e
	}
	f, err := os.Open(e.File)
	if err != nil {
		return e
	}
	defer f.Close()
	head := make([]byte, stage.Head)
	n, _ := io.ReadFull(f, head)
	kind, ok := stage.Of(head[:n])
	if !ok {
		return e
	}
	told := *e
	if e.Code == diag.WouldReplace {
		return told.Because("It is %s. %s", kind.What, e.Cause)
	}
	return told.Because("It is %s.", kind.What).Do("%s", strings.ReplaceAll(kind.Use, "FILE", e.File))
}

// resultError presents a failure met while printing: a defect of the input
// that was streamed, or of the output stream.
func resultError(err error) *diag.Error {
	var path *os.PathError
	if errors.As(err, &path) && path.Op == "write" || errors.Is(err, syscall.EPIPE) {
		return diag.New(diag.CannotWrite, "standard output: %v", err)
	}
	return diag.Of(err)
}

// flatten lists the errors that errors.Join put together.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, flatten(e)...)
		}
		return all
	}
	return []error{err}
}

// writeJSON prints the document. Late is a failure that was met while the
// result was written, and is in the document.
func writeJSON(w io.Writer, result Result, exit diag.Exit, errs, warnings []*diag.Error) (late *diag.Error, err error) {
	if _, err := io.WriteString(w, "{"); err != nil {
		return nil, err
	}
	separator := ","
	switch r := result.(type) {
	case nil:
		separator = ""
	case JSONMembers:
		if err := r.WriteJSONMembers(w); err != nil {
			late = resultError(err)
			errs = append(errs, late)
			exit = diag.Worst(exit, late.Exit())
		}
	default:
		body, err := encode(r)
		if err != nil {
			return nil, err
		}
		members := bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("{")), []byte("}"))
		if len(bytes.TrimSpace(members)) == 0 {
			separator = ""
		}
		if _, err := w.Write(bytes.TrimRight(members, "\n ")); err != nil {
			return nil, err
		}
	}
	if errs == nil {
		errs = []*diag.Error{}
	}
	if warnings == nil {
		warnings = []*diag.Error{}
	}
	tail, err := encode(struct {
		Exit     diag.Exit     `json:"exit"`
		Errors   []*diag.Error `json:"errors"`
		Warnings []*diag.Error `json:"warnings"`
	}{exit, errs, warnings})
	if err != nil {
		return late, err
	}
	_, err = fmt.Fprintf(w, "%s%s", separator, bytes.TrimPrefix(tail, []byte("{")))
	return late, err
}

// encode is json.Marshal with indentation and without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return b.Bytes(), err
}

func printError(w io.Writer, command, kind string, e *diag.Error) {
	fmt.Fprintf(w, "%s: %s %s\n", command, kind, e.Error())
	if e.Cause != "" {
		fmt.Fprintf(w, "  probable cause: %s\n", e.Cause)
	}
	if e.Next != "" {
		fmt.Fprintf(w, "  next: %s\n", e.Next)
	}
}

// textResult is a Result that is only text.
type textResult string

func (t textResult) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, string(t))
	return err
}

func (t textResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"text": string(t)})
}

func explain(code string) (Result, error) {
	c := diag.Code(strings.ToUpper(code))
	info, ok := diag.Codes[c]
	if !ok {
		known := make([]string, 0, len(diag.Codes))
		for k := range diag.Codes {
			known = append(known, string(k))
		}
		sort.Strings(known)
		return nil, diag.New(diag.BadValue, "no code %s; known: %s", code, strings.Join(known, " "))
	}
	kind := fmt.Sprintf("exit code %d", info.Exit)
	if info.Exit == diag.OK {
		kind = "a warning"
	}
	return textResult(fmt.Sprintf("%s: %s (%s)\nprobable cause: %s\nnext: %s\n", c, info.Title, kind, info.Cause, info.Next)), nil
}

// Input is standard input, which ends with an error when the command is
// interrupted, even while nothing arrives.
func (c *Context) Input() io.Reader { return untilCancelled(c.Context.Context, c.In) }
