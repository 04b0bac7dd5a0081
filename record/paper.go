package record

import (
	"fmt"
	"strings"

	"weir/privacy"
)

// PrivacyPaper is PRIVACY.md: what a release promises, in plain words and from
// public facts only.
func PrivacyPaper(r *Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Privacy of %s\n\n", r.Name)
	if r.Insecure {
		b.WriteString("NOT PRIVATE: the noise of this run came from a seed that anyone can repeat. It is a test, not a release.\n\n")
	}
	b.WriteString(promise(r))
	b.WriteString("\n## What was spent\n\n")
	b.WriteString(charges(r))
	b.WriteString("\n## What was released\n\n")
	for _, f := range r.Release {
		fmt.Fprintf(&b, "- `%s` (%s)\n", strings.TrimPrefix(f.Path, "release/"), f.SHA256)
	}
	b.WriteString("\n## What this does not say\n\n" + limits)
	fmt.Fprintf(&b, "\n## Provenance\n\n- run %s, weir %s\n- spec %s\n- noise key commitment %s\n", r.ID, r.Weir, r.SpecDigest, r.KeyCommitment)
	return b.String()
}

func promise(r *Run) string {
	t := r.Terms
	if t.Proven == nil {
		return fmt.Sprintf("No epsilon is proven for this run (claims: %s). %s\n%s", t.Claims, sentence(t.Reason), published(t))
	}
	text := fmt.Sprintf("The files beside this page are the output of mechanisms that are differentially private together, with\n"+
		"**epsilon = %.6g** (proven, accountant %s) at **delta = %g**, adjacency `%s`, privacy unit: %s.\n\n",
		*t.Proven, t.Accountant, t.Delta, t.Adjacency, r.Dataset.Unit)
	return text + meaning(t) + published(t)
}

// meaning reads the promise for someone who has not met the terms.
func meaning(t Terms) string {
	change := "one unit's rows were added to or removed from the private table"
	if t.Adjacency == privacy.ReplaceOne {
		change = "one unit's rows in the private table were exchanged for any others"
	}
	return fmt.Sprintf("Had %s, any outcome of the release would have been at most e^epsilon times as likely,\n"+
		"up to a probability of %g. This holds whatever else the reader knows, and for anything computed from these files.\n", change, t.Delta)
}

func published(t Terms) string {
	if t.Published == nil {
		return ""
	}
	return fmt.Sprintf("\nThe paper's own accounting gives epsilon (published) = %.6g. It is shown for comparison and is not a claim of this release.\n", *t.Published)
}

func charges(r *Run) string {
	if len(r.Charges) == 0 {
		return "Nothing: no mechanism drew noise.\n"
	}
	var b strings.Builder
	for _, c := range r.Charges {
		event, err := privacy.MarshalEvent(c.Event.Event)
		if err != nil {
			event = []byte(err.Error())
		}
		fmt.Fprintf(&b, "- stage `%s`: `%s`\n", c.Stage, event)
	}
	b.WriteString("\nThe ledger of the dataset adds these to the charges of all other runs on the same data.\n")
	return b.String()
}

const limits = `- It bounds what the release adds to anyone's knowledge of one unit; it does not hide facts about groups.
- It covers these files only. Metrics against real rows, logs and the run's internal folder are private.
- Bounds, categories and row counts that the domain declares public are taken as public knowledge.
`

func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
