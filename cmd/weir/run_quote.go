package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime"
	"weir/runtime/book"
)

// quoteText says what runs would charge to each ledger, what they would not charge again,
// and how the ledger would stand.
func quoteText(quotes []book.Quote, why map[string]because) string {
	var b strings.Builder
	for _, q := range quotes {
		fmt.Fprintf(&b, "LEDGER  %s\n", q.Ledger)
		b.WriteString(dueText(q.Dues, why))
		b.WriteString(balanceLine(q))
		if q.Note != "" {
			b.WriteString("  note             " + q.Note + "\n")
		}
	}
	return plaintext.Text(b.String())
}

// unproven tells whether a charge is about to be made of which nothing is proven.
func unproven(q book.Quote) bool {
	return slices.ContainsFunc(q.Dues, func(d book.Due) bool { return d.From == "" && d.Epsilon == nil })
}

// balanceLine is how the ledger stands now and after the charges.
func balanceLine(q book.Quote) string {
	at := fmt.Sprintf(" at delta %g (%s)\n", q.Spent.Delta, q.Spent.Accountant)
	s := "  spent so far     " + totalWords(q.Spent.Total) + at
	if q.Charges() {
		s += fmt.Sprintf("  then             %s, after %s\n", totalWords(q.After.Total), words.Plural(q.Bill, "new charge"))
	}
	if unproven(q) {
		s += "  afterwards       no run with a budget of the dataset (dataset.budget) is admitted: nothing bounds what all runs tell together\n"
	}
	if q.Cap == nil {
		return s + "  budget           none: nothing bounds what all runs spend together (dataset.budget)\n"
	}
	s += fmt.Sprintf("  budget           epsilon %.6g", *q.Cap)
	switch left := *q.Cap - q.After.Epsilon; {
	case left >= 0:
		s += fmt.Sprintf("; %s remains%s\n", privacy.Room(left), roomWords(q))
	case math.IsInf(left, -1):
		s += ": refused, " + q.After.Reason + "\n"
	default:
		s += ": exceeded\n"
	}
	if q.After.Epsilon > 0 {
		s += "  A budget holds for runs chosen after looking at earlier ones: its numbers are not sums of the runs' own epsilons.\n"
	}
	return s
}

// roomWords says how often what is charged fits once more, which epsilons that remain do not tell.
func roomWords(q book.Quote) string {
	switch {
	case q.Room == nil:
		return ""
	case *q.Room >= ledger.MostAlike:
		return fmt.Sprintf(", room for %d more such charges and beyond", *q.Room)
	case q.Bill > 1:
		return ", room for " + words.Plural(*q.Room, "more such bill")
	}
	return ", room for " + words.Plural(*q.Room, "more such charge")
}

func totalWords(t ledger.Total) string {
	if math.IsInf(t.Epsilon, 1) {
		return "without a proven bound"
	}
	return "epsilon " + record.Bound(t.Epsilon)
}

// told reports whether there is anything to say of a ledger: a new one without a budget has
// no history.
func told(quotes []book.Quote) bool {
	for _, q := range quotes {
		if q.Before > 0 || q.Cap != nil {
			return true
		}
	}
	return false
}

// errDeclined is the answer no.
var errDeclined = errors.New("nothing was charged and nothing was run")

// ask shows what is about to be charged and waits for a yes. Rows that a generator makes up
// are nobody's, so they are charged unasked, and so is noise from a test seed.
func (f *runFlags) ask(ctx context.Context, s streams) func([]book.Quote) error {
	if f.yes || !s.terminal {
		return nil
	}
	return func(quotes []book.Quote) error {
		fmt.Fprint(s.err, quoteText(quotes, f.because(quotes)), "Charge it? [y/N] ")
		answer := make(chan string, 1)
		go func() {
			line, _ := bufio.NewReader(s.in).ReadString('\n')
			answer <- strings.ToLower(strings.TrimSpace(line))
		}()
		select {
		case <-ctx.Done(): // nothing is begun, so there is nothing to continue
		case a := <-answer:
			if a == "y" || a == "yes" {
				return nil
			}
		}
		return withCode(exitInterrupted, errDeclined)
	}
}

// because says what makes the stages of the run new charges; nothing where that cannot be found out, which stops nobody.
func (f *runFlags) because(quotes []book.Quote) map[string]because {
	if f.plan == nil {
		return nil
	}
	why, _ := becauses(f.out, f.plan, quotes)
	return why
}

// foresee says what runs would charge, by ledgers alone, and refuses as they would.
func (f *ledgerPlaceFlags) foresee(ctx context.Context, s streams, spec *specFlags, arg string, trials []runtime.Trial) ([]book.Quote, error) {
	opts := f.options(s)
	opts.Dir, opts.Confine = spec.dir(arg), spec.confine
	quotes, err := runtime.Foresee(ctx, trials, opts)
	return quotes, overBudget(err)
}

// overBudget gives a refusal of the ledger its exit code.
func overBudget(err error) error {
	if errors.Is(err, ledger.ErrOverBudget) || errors.Is(err, ledger.ErrFilter) || errors.Is(err, privacy.ErrUnsupported) {
		return withCode(exitPrivacy, err)
	}
	return err
}

// printQuotes adds to a plan what the ledger says of it.
func printQuotes(w io.Writer, quotes []book.Quote, why map[string]because) error {
	if !told(quotes) {
		return nil
	}
	_, err := io.WriteString(w, "\n"+quoteText(quotes, why))
	return err
}
