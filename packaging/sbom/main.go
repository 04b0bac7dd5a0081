// Command sbom writes the bill of materials of a Go program as SPDX 2.3 in JSON. It lists what the compiler noted in
// the program: the modules that are linked, each with its version, and the compiler's own library.
//
//	sbom PROGRAM DOCUMENT
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spdx/tools-golang/json"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write writes the document of a program; args are the paths of both.
func write(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("is given %d arguments, must be given the paths of a Go program and of its document", len(args))
	}
	p, err := open(args[0])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	doc, err := p.document()
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	var text bytes.Buffer
	if err := json.Write(doc, &text, json.Indent("  "), json.EscapeHTML(false)); err != nil {
		return err
	}
	return os.WriteFile(args[1], text.Bytes(), 0o644)
}

// open reads a program and what its compiler noted in it.
func open(path string) (program, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, errors.Join(err, errors.New("is not a program that Go built with its modules noted"))
	}
	digest := sha256.Sum256(content)
	return program{name: filepath.Base(path), digest: hex.EncodeToString(digest[:]), info: info}, nil
}
