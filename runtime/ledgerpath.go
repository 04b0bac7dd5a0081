package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"weir/pipeline/compile"
	"weir/runtime/dataset"
)

const (
	ledgerSuffix     = dataset.LedgerSuffix
	testLedgerSuffix = ".NOT-PRIVATE" + ledgerSuffix
)

// errOtherLedger marks a ledger beside the dataset's own: it would be a second
// budget.
var errOtherLedger = errors.New("the dataset has a ledger already")

// ledgerPath is where the dataset's ledger lies: where it lay before, or where
// the caller or the spec says, else beside the file; for a generator, or where the
// dataset's folder is read-only, with the runs. A ledger in another place than
// before is refused while the old one is there.
func ledgerPath(plan *compile.Plan, s *source, folder *Folder, opts Options) (string, error) {
	asked := askedLedger(plan, folder, opts)
	if opts.Insecure != nil {
		return testLedger(asked, s, opts), nil
	}
	before := s.ledgerPath()
	if _, err := os.Stat(before); before == "" || err != nil {
		before = ""
	}
	switch {
	case before != "" && asked != "" && !sameFilePath(before, asked):
		return "", dataset.Refusal{Err: fmt.Errorf("%w, %s, and is asked to charge %s: a second ledger would be a second budget; leave out the other one, or move the ledger there", errOtherLedger, before, asked)}
	case before != "":
		return before, nil
	case asked != "":
		return filepath.Abs(asked)
	}
	return filepath.Abs(defaultLedger(s, opts))
}

// askedLedger is where the caller or the spec says that the ledger lies, or "".
func askedLedger(plan *compile.Plan, folder *Folder, opts Options) string {
	if opts.Ledger == "" && plan.Spec.Dataset.Ledger != "" {
		return folder.Path(plan.Spec.Dataset.Ledger)
	}
	return opts.Ledger
}

// testLedger is the ledger of runs with a test seed: it must not mix with real
// charges.
func testLedger(asked string, s *source, opts Options) string {
	if asked == "" {
		asked = defaultLedger(s, opts)
	}
	return strings.TrimSuffix(asked, ledgerSuffix) + testLedgerSuffix
}

func defaultLedger(s *source, opts Options) string {
	if s.path != "" && dataset.Writable(filepath.Dir(s.path)) {
		return s.path + ledgerSuffix
	}
	path := filepath.Join(opts.Out, "ledgers", s.id+ledgerSuffix)
	if s.path != "" {
		opts.Log.Warn("the dataset's folder is read-only, so its ledger lies with the runs; keep it", "ledger", path)
	}
	return path
}
