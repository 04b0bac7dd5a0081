package runtime

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

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
	return writeAtomic(path, 0o644, write)
}
