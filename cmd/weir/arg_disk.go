package main

import (
	"fmt"
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
