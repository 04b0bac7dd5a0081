package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"weir/internal/plaintext"
	"weir/pipeline/spec"
	"weir/privacy/ledger"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/runtime/files"
)

// Exit codes, which scripts rely on (docs/design.md section 9).
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPrivacy     = 3
	exitMismatch    = 4
	exitInterrupted = 130
)

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

// usage is a mistake in the command line, with a pointer to the help.
func usage(c *cobra.Command, err error) error {
	return withCode(exitUsage, fmt.Errorf("%w\nsee: %s --help", err, c.CommandPath()))
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
func printError(w io.Writer, err error) {
	var printed *printedError
	if !errors.As(err, &printed) {
		fmt.Fprintf(w, "%s %s\n", paint(w, red, "weir:"), plaintext.Text(err.Error()))
	}
}
