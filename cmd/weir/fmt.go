package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/spec"
	"weir/schema"
)

// fmtFlags are the flags of weir fmt.
type fmtFlags struct {
	write, check bool
}

func fmtCommand(s streams) *cobra.Command {
	var f fmtFlags
	c := &cobra.Command{
		Use:   "fmt [FILE...]",
		Short: "Lay out specs and domains: order of settings, indents and blanks",
		Long: `Lay out specs and domains: the settings in the order of weir render, an indent of
two blanks, one blank around what separates, at most one empty line between
settings. What the file says stays, and so do comments, line breaks within
brackets, the spelling of values and the order of stages, columns and cells. A
file that cannot be laid out without losing something is refused and left alone,
and so is a file that is neither a spec nor a domain.

FILE is a path, a folder, which stands for the specs and domains that lie in it,
or - for standard input, which is read where no FILE is given. As by gofmt, the
result is printed; -w writes it to the file, at once and whole, and prints
nothing; --check lists the files that would change.

Exit codes: 0 done; 2 a file cannot be laid out, or usage; 4 under --check a file
would change.`,
		Example: "  weir fmt -w spec.yaml\n  weir fmt --check specs/*.yaml\n  git show HEAD:spec.yaml | weir fmt -",
		RunE:    func(c *cobra.Command, args []string) error { return f.format(c, s, args) },
	}
	c.Flags().BoolVarP(&f.write, "in-place", "w", false, "write the result to the file")
	c.Flags().BoolVar(&f.check, "check", false, "list the files that would change, and write nothing")
	c.ValidArgsFunction = completeYAML
	return c
}

// format lays out every file, and tells of all that cannot be.
func (f *fmtFlags) format(c *cobra.Command, s streams, args []string) error {
	if len(args) == 0 {
		args = []string{stdinArg}
	}
	if f.write && (f.check || slices.Contains(args, stdinArg)) {
		return usage(c, errors.New("-w: is given with --check or for standard input, must be given for files alone"))
	}
	reg, err := registry()
	if err != nil {
		return err
	}
	formatter, err := spec.NewFormatter(reg)
	if err != nil {
		return err
	}
	files, err := filesOf(args, beginsSpec, beginsDomain)
	if err != nil {
		return err
	}
	var problems spec.Diagnostics
	var faults, changed []error
	for _, file := range files {
		err := f.formatFile(s, file, formatter)
		var found spec.Diagnostics
		switch {
		case errors.As(err, &found):
			problems = append(problems, found...)
		case errors.Is(err, errUnformatted):
			changed = append(changed, err)
		case err != nil:
			faults = append(faults, withCode(exitUsage, err))
		}
	}
	if len(problems) > 0 {
		faults = append(faults, problems)
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	if len(changed) > 0 {
		return withCode(exitMismatch, silent(errUnformatted))
	}
	return nil
}

// errUnformatted says that a file is not as weir fmt lays it out.
var errUnformatted = errors.New("a file is not laid out as weir fmt does")

// formatFile lays out one file, and prints, lists or writes it.
func (f *fmtFlags) formatFile(s streams, file string, formatter *spec.Formatter) error {
	data, err := readText(s, file)
	if err != nil {
		return err
	}
	text, err := formatter.Format(shownName(file), data)
	switch {
	case err != nil:
		return err
	case !f.write && !f.check:
		_, err = s.out.Write(text)
		return err
	case bytes.Equal(text, data):
		return nil
	case f.check:
		fmt.Fprintln(s.out, shownName(file))
		return errUnformatted
	}
	return replaceText(file, text)
}

// readText reads a file, or standard input, up to one byte more than a spec may have, so that it is refused.
func readText(s streams, file string) ([]byte, error) {
	if file == stdinArg {
		return io.ReadAll(io.LimitReader(s.in, schema.MaxBytes+1))
	}
	if strings.HasPrefix(file, "specs:") {
		return nil, fmt.Errorf("%s: is built in, must be a file", file)
	}
	return disk.ReadFile(file, schema.MaxBytes+1)
}

// replaceText writes a file at once and whole, under its permissions. A link stays one: the file that it leads to is
// written.
func replaceText(file string, text []byte) error {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	return disk.Disk{}.WriteBytes(target, info.Mode().Perm(), text)
}
