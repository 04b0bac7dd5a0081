// Command weir runs declarative pipelines that release differentially private
// synthetic tables. A file named by one word is the command of that name (newRoot
// lists them); COMMAND_PART.go is a part of one, arg_*.go is what several commands
// take and out_*.go how they print. process.go is the process around them, and packaging.go
// another one, which writes their man pages and completions.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"weir/internal/plaintext"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/privacy/ledger"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/runtime/files"
	"weir/runtime/source"
)

// streams are the command's standard streams; tests give their own.
type streams struct {
	in       io.Reader
	out, err io.Writer
	terminal bool          // a person reads err and types in
	columns  int           // of the terminal that out is; 0: it is none
	build    func() string // tells builds of the program apart; a test reads its 80 MB once
}

// wrap breaks prose for the terminal that out is, or where it is none for a line of 100 columns.
func (s streams) wrap(text string) string { return words.WrapTo(text, s.columns) }

// folded breaks lines for the terminal that out is; where it is none they are whole.
func (s streams) folded(text string) string {
	if s.columns == 0 {
		return text
	}
	return s.wrap(text)
}

const rootLong = `weir runs declarative pipelines that release differentially private synthetic tables.

A YAML spec says how a private table is cleaned, which private model learns it,
how the budget is split and how the result is judged. weir checks the spec,
prints the privacy bill before it opens the data, runs the plan and leaves a
record that can be audited and replayed.
`

// execute runs the command line and returns its exit code.
func execute(ctx context.Context, s streams, args []string) int {
	root := newRoot(s)
	if err := withoutPasswords(args); err != nil {
		printError(s, err)
		return exitUsage
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if _, _, unknown := root.Find(args); unknown != nil {
		err = usage(root, unknown)
	}
	err = interrupted(err)
	printError(s, err)
	return exitCode(ctx, err)
}

// withoutPasswords refuses an argument that holds the password of a server, before any message can repeat it: shells
// keep what was typed, and every user of the machine sees the arguments of a process.
func withoutPasswords(args []string) error {
	for i, arg := range args {
		ofRows := strings.HasPrefix(arg, "--where=") || i > 0 && args[i-1] == "--where" // columns may be called so
		if !ofRows && source.HoldsPassword(arg) {
			return fmt.Errorf("argument %d: holds a password, which is not repeated here, but which the history of the shell "+
				"keeps; must be a file, or a YAML file whose dataset.database says where the table is, with connection: "+
				"service:NAME", i+1)
		}
	}
	return nil
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "weir",
		Short:         "Differentially private synthetic tables from a committed spec",
		Long:          rootLong + "\n" + exitHelp(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, flagFault(err)) })
	for _, command := range commands() {
		root.AddCommand(command(s))
	}
	if s.columns > 0 {
		foldHelp(root, s.columns)
	}
	return root
}

// foldHelp fills help texts for a terminal with that many columns: paragraphs anew, lists and flags where they are
// longer.
func foldHelp(root *cobra.Command, columns int) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages",
		fmt.Sprintf(".FlagUsagesWrapped %d", columns)))
	printed := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.Long != "" {
			c.Long = words.WrapHelp(c.Long, columns)
		}
		for _, sub := range c.Commands() {
			sub.Short = foldShort(sub, columns)
		}
		printed(c, args)
	})
}

// foldShort returns the line of a command in a list of commands, going on below its text.
func foldShort(c *cobra.Command, columns int) string {
	name := c.Name() + strings.Repeat(" ", max(0, c.NamePadding()-len(c.Name()))) + " "
	item := words.WrapHelp("  "+name+c.Short, columns)
	return strings.TrimSuffix(strings.TrimPrefix(item, "  "+name), "\n")
}

// commands returns the table of contents of the command line, one file each.
func commands() []func(streams) *cobra.Command {
	return []func(streams) *cobra.Command{
		initCommand, domainCommand, fmtCommand, checkCommand, planCommand, whatIfCommand, lockCommand, runCommand,
		runsCommand, gcCommand, reportCommand, sampleCommand, evaluateCommand,
		bundleCommand, verifyCommand, auditCommand, ledgerCommand, budgetCommand, diffCommand, epsilonCommand,
		renderCommand, kindsCommand, explainCommand, schemaCommand, docsCommand, versionCommand, completionCommand,
	}
}

// noArgs, optional and exactly turn cobra's argument errors into usage errors.
func noArgs(c *cobra.Command, args []string) error { return noArgsBut("")(c, args) }

// noArgsBut names the flags that an argument may have been meant for.
func noArgsBut(flags string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		accepted := "none"
		if flags != "" {
			accepted = "flags alone: " + flags
		}
		return usage(c, fmt.Errorf("%s: is given %s, %q, must be given %s", c.CommandPath(),
			words.Plural(len(args), "argument"), strings.Join(args, " "), accepted))
	}
}

func optional(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		return exactly(min(1, len(args)), name+" at most")(c, args)
	}
}

func exactly(n int, names string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return usage(c, fmt.Errorf("%s: is given %s, must be given %d %s", c.CommandPath(),
			words.Plural(len(args), "argument"), n, names))
	}
}

// codeError carries the exit code of an error.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

// withCode gives err an exit code; nil stays nil.
func withCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &codeError{code, err}
}

// usage returns a mistake in the command line, with a pointer to the help.
func usage(c *cobra.Command, err error) error {
	return withCode(exitUsage, fmt.Errorf("%w\nsee: %s --help", err, c.CommandPath()))
}

// flagFault words the fault of a flag whose value is not of its type, as problems of specs are worded.
func flagFault(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	must, known := map[string]string{"int": "a whole number", "int64": "a whole number",
		"uint64": "a whole number from 0 on", "float64": "a number", "bool": "true or false", "duration": "a time, as 1h30m",
		"int64Slice": "whole numbers with commas between them", "float64Slice": "numbers with commas between them",
	}[invalid.GetFlag().Value.Type()]
	if !known { // of weir's own, which says what it must be
		return fmt.Errorf("--%s: is %q, %w", invalid.GetFlag().Name, invalid.GetValue(), errors.Unwrap(invalid))
	}
	return fmt.Errorf("--%s: is %q, must be %s", invalid.GetFlag().Name, invalid.GetValue(), must)
}

func exitCode(ctx context.Context, err error) int {
	var coded *codeError
	var diagnostics spec.Diagnostics
	var refusal dataset.Refusal
	var fault *dataset.LedgerError
	var misnamed *runtime.UsageError
	switch {
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &fault) && errors.Is(fault, ledger.ErrOldFormat):
		return exitPrivacy
	case fault != nil:
		return exitMismatch
	case errors.As(err, &misnamed), errors.Is(err, dataset.ErrNoLedger):
		return exitUsage
	case errors.As(err, &diagnostics) && diagnostics.Privacy(), errors.As(err, &refusal):
		return exitPrivacy
	case errors.Is(err, ledger.ErrTampered): // after refusals: one lacking charges would be a second budget
		return exitMismatch
	case errors.As(err, &diagnostics), errors.Is(err, files.ErrConfined):
		return exitUsage
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// interrupted words what a command says that was stopped and has no words of its own for it: nothing of it goes on.
func interrupted(err error) error {
	var coded *codeError
	if errors.Is(err, context.Canceled) && !errors.As(err, &coded) {
		return withCode(exitInterrupted, errors.New("interrupted; the same command begins anew"))
	}
	return err
}

// printError prints err unless a command has printed it in another form.
func printError(s streams, err error) {
	var printed *printedError
	if !errors.As(err, &printed) {
		text := s.folded("weir: " + plaintext.Text(err.Error()) + "\n")
		fmt.Fprint(s.err, strings.Replace(text, "weir:", paint(s.err, red, "weir:"), 1))
	}
}

// newLog writes for scripts, with time and level, where every stage is asked for
// (verbose), and else for a person: what needs a look, a line each.
func newLog(w io.Writer, verbose bool) *slog.Logger {
	if verbose {
		return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
	}
	return slog.New(&notes{w: w, mu: &sync.Mutex{}})
}

// notes is a handler that prints warnings as sentences.
type notes struct {
	w     io.Writer
	mu    *sync.Mutex
	attrs []slog.Attr
}

func (n *notes) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (n *notes) Handle(_ context.Context, r slog.Record) error {
	var added []string
	add := func(a slog.Attr) bool {
		added = append(added, fmt.Sprintf("%s: %v", a.Key, a.Value))
		return true
	}
	for _, a := range n.attrs {
		add(a)
	}
	r.Attrs(add)
	text := r.Message
	if len(added) > 0 {
		text += " (" + strings.Join(added, ", ") + ")"
	}
	text = plaintext.Text(text)
	if e, ok := n.w.(*events); ok {
		return e.note(text)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := fmt.Fprintf(n.w, "%s %s\n", paint(n.w, bold, "note:"), text)
	return err
}

func (n *notes) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &notes{n.w, n.mu, append(n.attrs[:len(n.attrs):len(n.attrs)], attrs...)}
}

// WithGroup does nothing: it is for groups of attributes, which nobody here makes.
func (n *notes) WithGroup(string) slog.Handler { return n }

// plainly writes to w what can be shown as it is and spells the rest: what is printed
// of a ledger, a record or a plan may have been written by anyone. Whole lines or
// words are to be written at a time.
func plainly(w io.Writer) io.Writer { return plainWriter{w} }

type plainWriter struct{ w io.Writer }

func (p plainWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, plaintext.Text(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// paint colours text where a person reads it on a terminal and has not set
// NO_COLOR (no-color.org); elsewhere it is left as it is.
func paint(w io.Writer, code, text string) string {
	if !coloured(w, os.Getenv) {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// SGR codes.
const (
	bold = "1"
	red  = "31;1"
)

func coloured(w io.Writer, env func(string) string) bool {
	f, ok := w.(*os.File)
	return ok && env("NO_COLOR") == "" && env("TERM") != "dumb" && isTerminal(f)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// columnsOf returns how wide a terminal is, but at least as wide as text can be read in; 0 of what is none.
func columnsOf(f *os.File) int {
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		return 0
	}
	return max(columns, 40)
}

// Exit codes, which scripts rely on.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPrivacy     = 3
	exitMismatch    = 4
	exitInterrupted = 130
)

// exitMeaning is what an exit code says, whichever command ends with it.
type exitMeaning struct {
	code int
	what string
}

// exits lists the exit codes, as the help of weir and docs/stability.md have them.
func exits() []exitMeaning {
	return []exitMeaning{{exitDone, "done"}, {exitFailed, "a stage failed"}, {exitUsage, "bad spec or usage"},
		{exitPrivacy, "privacy refused or over budget"}, {exitMismatch, "verification mismatch, or a difference"},
		{exitInterrupted, "interrupted"}}
}

// exitHelp words the exit codes for the help of weir, two to a line.
func exitHelp() string {
	var b strings.Builder
	separator := "Exit codes: "
	for i, e := range exits() {
		fmt.Fprintf(&b, "%s%d %s", separator, e.code, e.what)
		separator = []string{"; ", ";\n"}[i%2]
	}
	return b.String() + "."
}
