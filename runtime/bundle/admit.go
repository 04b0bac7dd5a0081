package bundle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/record"
	"weir/runtime/table"
)

// Documents of a release, which are rendered from public facts.
const (
	privacyName   = "PRIVACY.md"
	billName      = "BILL.txt"
	datasheetName = "DATASHEET.md"
	domainName    = "domain.yaml"
)

// kindOf is what a file of a release is.
type kindOf int

// Kinds of files.
const (
	document kindOf = iota // rendered from public facts, see Judge
	tableFile
	modelFile    // or a detector
	artifactFile // of a stage that releases files, such as listed marginals
)

// admit refuses a file of a release, named below its folder, that no stage of the plan released and that is no
// document.
func admit(p record.Public, name string) error {
	_, err := classify(p, name)
	return err
}

// classify tells what a file of a release is by the plan: which outputs a stage has and of which class, not what the
// file is called, decides whether it is one of them.
func classify(p record.Public, name string) (kindOf, error) {
	if slices.Contains([]string{privacyName, billName, datasheetName, domainName}, name) {
		return document, nil
	}
	id, rest, _ := strings.Cut(name, ".")
	first, outputs := p.Outputs(id)
	if outputs == nil {
		return 0, errors.New("no stage of the plan made it, and it is no document of a release")
	}
	rest = strings.TrimPrefix(rest, "NOT-PRIVATE.")
	if rest == domainName {
		return document, nil
	}
	best := kindOf(-1)
	for _, o := range outputs {
		kind, is := writtenAs(o, rest)
		if is && o.Class != string(pipeline.Private) && (kind != tableFile || first == o.Class) && (best < 0 || kind < best) {
			best = kind
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("stage %s released no such file: what it made of this form is private, or it made none", id)
	}
	return best, nil
}

// namesOf lists the names, behind the id of the stage, of the files that an output of files is released as: what a kind
// may write, and no other, since a file that someone laid beside them could hold anything.
func namesOf(o record.Output) []string {
	switch pipeline.Form(o.Form) {
	case pipeline.FormCount:
		return []string{"count.yaml"}
	case pipeline.FormAnswers:
		return []string{"answers.csv", "answers.json", "coefficients.csv", "coefficients.json"}
	}
	if o.Port == "out" {
		return []string{"intervals.csv"}
	}
	return []string{fmt.Sprintf("%s.csv", o.Port), "pairs.csv"}
}

// writtenAs reports whether an output of a stage is written as a file whose name goes on with rest.
func writtenAs(o record.Output, rest string) (kindOf, bool) {
	switch form := pipeline.Form(o.Form); {
	case form == pipeline.FormTable:
		return tableFile, slices.ContainsFunc(table.Writers(), func(w table.Writer) bool { return w.Name() == rest })
	case form == pipeline.FormModel || form == pipeline.FormDetector:
		ending := "." + string(form)
		return modelFile, "."+rest == ending || "."+rest == "."+o.Port+ending
	case form.IsFiles():
		return artifactFile, slices.Contains(namesOf(o), rest)
	}
	return 0, false
}
