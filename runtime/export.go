package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/runtime/table"
)

// WriteTable writes a table as CSV or Parquet, by the extension of path, whole
// or not at all.
func WriteTable(ctx context.Context, path string, t pipeline.Table, csv *pipeline.CSV) error {
	var write func(io.Writer) error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		write = func(w io.Writer) error { return table.WriteCSV(ctx, w, t, csv) }
	case ".tsv":
		write = func(w io.Writer) error { return table.WriteCSV(ctx, w, t, &pipeline.CSV{Delimiter: "\t"}) }
	case ".parquet":
		write = func(w io.Writer) error { return table.WriteParquet(ctx, w, t) }
	default:
		return fmt.Errorf("%s: must end in .csv, .tsv or .parquet", path)
	}
	return disk.Disk{}.Write(path, 0o644, write)
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
