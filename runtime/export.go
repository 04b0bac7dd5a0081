package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/runtime/table"
)

// WriteTable writes a table in the format that the ending of path asks for, whole or not at all.
func WriteTable(ctx context.Context, path string, t pipeline.Table, style table.Style) error {
	format, err := table.WriterOf(path)
	if err != nil {
		return err
	}
	return disk.Disk{}.Write(path, 0o644, func(w io.Writer) error { return format.Write(ctx, w, path, t, style) })
}

// ErrExists marks a file that is there and was not asked to be replaced: it may be
// anybody's, the private table's too.
var ErrExists = errors.New("already exists")

// Replaceable reports whether a table may be written to path: nothing is there,
// or force says to replace what is.
func Replaceable(path string, force bool) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return fmt.Errorf("%s: %w; --force replaces it", path, ErrExists)
	}
	return nil
}
