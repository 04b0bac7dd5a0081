package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/disk"
)

// diskOf is the disk of a command: it waits for locks until the command is interrupted,
// and says for which.
func diskOf(c *cobra.Command, s streams) disk.Disk {
	return disk.Disk{}.Waiting(disk.Wait{Context: c.Context(), Quiet: 2 * time.Second, Tell: func(path string) {
		fmt.Fprintf(s.err, "%s waiting for %s, which another process holds; Ctrl-C ends the wait\n", paint(s.err, bold, "note:"), path)
	}})
}

// pageBegins is how every page of weir begins.
const pageBegins = "<!DOCTYPE html>"

// pageFits refuses a file for a page of --html that holds something else, such as the table; "" is no page.
func pageFits(file string) error {
	if file == "" {
		return nil
	}
	old, err := disk.ReadFile(file, 0)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.HasPrefix(old, []byte(pageBegins)) {
		return nil
	}
	if err != nil {
		return withCode(exitUsage, err)
	}
	return withCode(exitUsage, fmt.Errorf("--html: %s exists and is no page, must be a new file or a page, "+
		"which is replaced", file))
}
