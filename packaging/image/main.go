// Command image writes the container image of weir, for every program of Linux that it is given, as one archive of an
// OCI layout (https://github.com/opencontainers/image-spec): no daemon and no registry takes part. The image holds the
// program, its licences and an empty /tmp, and runs as a user without rights.
//
//	image VERSION LICENCES ARCHIVE PROGRAM...
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run writes the archive of the programs that args name, for a version, with the files of a folder of licences.
func run(args []string) error {
	if len(args) < 4 {
		return fmt.Errorf("is given %d arguments, must be given a version, a folder of licences, the archive to write, "+
			"and one program or more", len(args))
	}
	licences, err := filesOf(args[1])
	if err != nil {
		return err
	}
	var programs []program
	for _, path := range args[3:] {
		p, err := open(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		programs = append(programs, p)
	}
	index, err := indexOf(args[0], licences, programs)
	if err != nil {
		return err
	}
	return writeArchive(args[2], args[0], index, programs[0].date)
}
