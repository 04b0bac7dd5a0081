package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

//go:embed template/*
var templates embed.FS

func initCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a spec and a domain to start from",
		Long: `Write pipeline.yaml, domain.yaml and .gitignore into DIR (the current folder by
default). They run as they are, on data from a built-in generator; comments
say what to change for your own data. Nothing that exists is overwritten.

Exit codes: 0 done; 2 usage, or a file exists.`,
		Example: "  weir init study\n  weir run study/pipeline.yaml",
		Args:    optional("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if err := writeTemplate(dir); err != nil {
				return withCode(exitUsage, err)
			}
			_, err := fmt.Fprintf(s.out, "wrote %s, %s and %s\nnext: weir plan %[1]s, then weir run %[1]s\n",
				filepath.Join(dir, "pipeline.yaml"), filepath.Join(dir, "domain.yaml"), filepath.Join(dir, ".gitignore"))
			return err
		},
	}
}

// templateFiles pairs the names of embedded templates with those of the files.
func templateFiles() [][2]string {
	return [][2]string{{"template/pipeline.yaml", "pipeline.yaml"}, {"template/domain.yaml", "domain.yaml"}, {"template/gitignore", ".gitignore"}}
}

// writeTemplate writes all files or, where one exists, none.
func writeTemplate(dir string) error {
	var errs []error
	for _, f := range templateFiles() {
		path := filepath.Join(dir, f[1])
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("%s: exists; init overwrites nothing", path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range templateFiles() {
		data, err := templates.ReadFile(f[0])
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f[1]), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
