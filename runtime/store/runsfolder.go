package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const runsIgnore = `# Keys of data and of noise, figures of private rows: nothing in this folder is
# for version control. Copy from it what lies in a release folder.
*
`

// MakeRuns makes the folder of runs. A new one, or an empty one, tells git to leave
// its files alone: "git add -A" would stage every key. A folder that holds anything is
// the owner's and gets no file.
func MakeRuns(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("%s: the folder of runs must be writable (--out): %w", out, Reason(err))
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) > 0 {
		return err
	}
	f, err := os.OpenFile(filepath.Join(out, ".gitignore"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil // of a run that began at the same time
	}
	if err != nil {
		return fmt.Errorf("%s: the folder of runs must be writable (--out): %w", out, Reason(err))
	}
	_, err = f.WriteString(runsIgnore)
	return errors.Join(err, f.Close())
}
