package kills

import (
	"fmt"
	"os"
	"path/filepath"
)

// report writes a finding: what is wrong, what was done to the run, and all that it left.
func (l *life) report(fault string) error {
	l.mu.Lock()
	l.found++
	l.mu.Unlock()
	dir := filepath.Join(l.out, fmt.Sprintf("%d-kills-%d", l.soak.seed, l.number))
	fmt.Printf("soak kills: run %d: %s\n  see %s\n", l.number, fault, dir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "left"), os.DirFS(l.dir)); err != nil {
		return err
	}
	text := fmt.Sprintf("run %d of seed %d: go run ./internal/soak kills -seed %d\n\n%s\n\nended by:\n%s", l.number, l.soak.seed, l.soak.seed, fault, l.story.String())
	return os.WriteFile(filepath.Join(dir, "fault.txt"), []byte(text), 0o644)
}
