package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"weir/runtime/payment"
	"weir/runtime/review"
)

// TestReusedStagesOfAnExperimentStandOnce: thirty runs that are made again are one line, not
// thirty with an id each; of one run the line names the run that has paid.
func TestReusedStagesOfAnExperimentStandOnce(t *testing.T) {
	half := 0.5
	var dues []payment.Due
	for i, from := range []string{"20261122-202544-2d79", "20261122-202545-a72f", "20261122-202546-6cd8", ""} {
		dues = append(dues, payment.Due{Run: i + 1, Stage: "train", Epsilon: &half, From: from})
	}
	got := review.DueText(dues, nil)
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, "reused, epsilon 0.5 alone, charged in another run (3 "+
		"times)") || strings.Contains(got, "2d79") {
		t.Errorf("an experiment's dues are\n%s", got)
	}
	dues[0].Run = 0
	if got := review.DueText(dues[:1], nil); !strings.Contains(got, "reused, charged in run 20261122-202544-2d79") {
		t.Errorf("a run's dues are\n%s", got)
	}
}

// TestDuesOfALargeExperimentAreSummedUp: hundreds of different charges are a line a stage, which
// counts the new, the reused and those without a proof; the same charges of one run are not.
func TestDuesOfALargeExperimentAreSummedUp(t *testing.T) {
	var dues []payment.Due
	for i := range 40 {
		epsilon := float64(i + 1)
		dues = append(dues, payment.Due{Run: i + 1, Stage: "train", Epsilon: &epsilon})
	}
	dues[39].Epsilon, dues[0].From = nil, "20261122-202544-2d79"
	dues = append(dues, payment.Due{Run: 41, Stage: "detector", Published: dues[0].Epsilon})
	want := "  train            39 new charges, 1 reused or continued; epsilon 1 to 39 alone; 1 without a proof\n" +
		"  detector         1 new charge, 0 reused or continued; 1 without a proof\n"
	if got := review.DueText(dues, nil); got != want {
		t.Errorf("the dues are\n%swant\n%s", got, want)
	}
	for i := range dues {
		dues[i].Run = 0
	}
	if got := review.DueText(dues, nil); strings.Count(got, "\n") != 41 {
		t.Errorf("a run's dues are\n%s", got)
	}
}

// TestUnfinishedStagesAreContinued: what a stopped run has paid has no output to use again.
func TestUnfinishedStagesAreContinued(t *testing.T) {
	half := 0.5
	due := payment.Due{Stage: "train", Epsilon: &half, From: "20261122-202544-2d79", Unfinished: true}
	if got := review.DueText([]payment.Due{due}, nil); !strings.Contains(got,
		"paid in run 20261122-202544-2d79, to be continued") || strings.Contains(got, "reused") {
		t.Errorf("a stopped run's dues are\n%s", got)
	}
	due.Run = 2
	if got := review.DueText([]payment.Due{due}, nil); !strings.Contains(got,
		"paid in another run, epsilon 0.5 alone, to be continued") {
		t.Errorf("an experiment's dues are\n%s", got)
	}
}

// TestUnprovenChargesSayWhatTheyShut: the question names the published epsilon, what is proven,
// and that no budget admits a run afterwards; the question for a proven charge does not.
func TestUnprovenChargesSayWhatTheyShut(t *testing.T) {
	x := 1.23
	const shut = "no run with a budget of the dataset (dataset.budget) is admitted"
	got := review.QuoteText([]payment.Quote{{Dues: []payment.Due{{Stage: "train", Published: &x}}}}, nil)
	if !strings.Contains(got, "new charge, epsilon none proven, 1.23 by the paper's own accounting") ||
		!strings.Contains(got, shut) {
		t.Errorf("a charge without a proof is asked for by\n%s", got)
	}
	got = review.QuoteText([]payment.Quote{{Dues: []payment.Due{{Stage: "train", Epsilon: &x},
		{Stage: "old", Published: &x, From: "20261122-202544-2d79"}}}}, nil)
	if !strings.Contains(got, "new charge, epsilon 1.23 alone") || strings.Contains(got, shut) {
		t.Errorf("a proven charge is asked for by\n%s", got)
	}
}

// TestInterruptedQuestionIsNo: Ctrl-C at the question begins nothing, so there is nothing to
// continue, and it says that nothing was charged.
func TestInterruptedQuestionIsNo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	silence, speaker := io.Pipe() // nobody types
	defer speaker.Close()
	var f runFlags
	err := f.ask(ctx, streams{in: silence, err: io.Discard, terminal: true})(nil)
	if got := f.failure(ctx, err); !errors.Is(got, errDeclined) || exitCode(t.Context(), got) != exitInterrupted {
		t.Errorf("the question that was interrupted ends with %v, exit code %d", got, exitCode(t.Context(), got))
	}
}

// TestChargesAddUp: a stage of three mechanisms makes three charges, which the list says, since the line below counts
// them.
func TestChargesAddUp(t *testing.T) {
	x := .5
	q := payment.Quote{Dues: []payment.Due{{Stage: "train", Epsilon: &x, Charges: 3}, {Stage: "names", Epsilon: &x,
		Charges: 1}}}
	q.Bill = 4
	got := review.QuoteText([]payment.Quote{q}, nil)
	for _, want := range []string{"train            3 new charges, epsilon 0.5 alone\n",
		"names            new charge, epsilon 0.5 alone\n", "after 4 new charges\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s, must say %q", got, want)
		}
	}
	many := make([]payment.Due, 40)
	for i := range many {
		many[i] = payment.Due{Run: i + 1, Stage: "train", Epsilon: new(float64), Charges: 2}
		*many[i].Epsilon = float64(i)
	}
	if got := review.DueText(many, nil); !strings.Contains(got, "train            80 new charges, 0 reused or continued") {
		t.Errorf("forty runs of two charges are %s", got)
	}
}
