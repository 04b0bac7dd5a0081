//go:build long

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// guide is the page whose commands TestGuideGolden types.
const guide = "../../docs/guide.md"

// reader is who follows the guide: in a folder, with the exit code of the last command.
type reader struct {
	folder string
	code   int
}

// do saves the file of a step, or types its command and returns what it prints: standard output, and standard error
// where it fails.
func (r *reader) do(t *testing.T, s step) string {
	if s.file != "" {
		if err := os.WriteFile(filepath.Join(r.folder, s.file), []byte(s.content), 0o644); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	var out, errs strings.Builder
	c := exec.Command("sh", "-c", fmt.Sprintf("(exit %d); %s", r.code, s.command))
	c.Dir, c.Stdout, c.Stderr = r.folder, &out, &errs
	c.Env = append(append(os.Environ(), scriptVariables()...), "HOME="+r.folder, "NO_COLOR=1")
	_ = c.Run() // its exit code is what the page asks for by echo $?
	if r.code = c.ProcessState.ExitCode(); r.code != 0 {
		out.WriteString(errs.String())
	}
	return strings.ReplaceAll(out.String(), r.folder, "/home/you/study")
}

// TestGuideGolden types the commands of docs/guide.md in their order in an empty folder and compares all that they
// print. WEIR_GUIDE names a file that gets the page with what was printed today.
func TestGuideGolden(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	all := steps(page)
	r := reader{folder: t.TempDir()}
	for i, s := range all {
		got := r.do(t, s)
		if masked(got) != masked(s.want) {
			t.Errorf("%s:%d: %s\nprints\n%s\nmust be\n%s", guide, s.line, s.command, got, s.want)
			all[i].want = got
		}
	}
	if path := os.Getenv("WEIR_GUIDE"); path != "" {
		if err := os.WriteFile(path, []byte(printing(page, all)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
