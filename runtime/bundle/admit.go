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

// Names returns what a kind calls the files of an output, behind the id of its stage and a dot (pipeline.Port).
type Names func(kind, port string) []string

// admit refuses a file of a release, named below its folder, that no stage of the plan released and that is no
// document.
func (n Names) admit(p record.Public, name string) error {
	_, err := n.classify(p, name)
	return err
}

// classify tells what a file of a release is by the plan: which outputs a stage has and of which class, not what the
// file is called, decides whether it is one of them.
func (n Names) classify(p record.Public, name string) (kindOf, error) {
	if slices.Contains([]string{privacyName, billName, datasheetName, domainName}, name) {
		return document, nil
	}
	id, rest, _ := strings.Cut(name, ".")
	first, outputs := p.Outputs(id)
	if outputs == nil {
		return 0, errors.New("is of no stage of the plan, must be a file that one releases, or a document of the release")
	}
	rest = strings.TrimPrefix(rest, "NOT-PRIVATE.")
	if rest == domainName {
		return document, nil
	}
	best := kindOf(-1)
	for _, o := range outputs {
		kind, is := n.writtenAs(o, rest)
		if is && o.Class != string(pipeline.Private) && (kind != tableFile || first == o.Class) && (best < 0 || kind < best) {
			best = kind
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("is no file that stage %s releases, must be one of its outputs that are not private, under the "+
			"name that its kind gives", id)
	}
	return best, nil
}

// writtenAs reports whether an output of a stage is written as a file whose name goes on with rest.
func (n Names) writtenAs(o record.Output, rest string) (kindOf, bool) {
	switch form := pipeline.Form(o.Form); {
	case form == pipeline.FormTable:
		return tableFile, slices.ContainsFunc(table.Writers(), func(w table.Writer) bool { return w.Name() == rest })
	case form == pipeline.FormModel || form == pipeline.FormDetector:
		ending := "." + string(form)
		return modelFile, "."+rest == ending || "."+rest == "."+o.Port+ending
	case form.IsFiles():
		return artifactFile, n != nil && slices.Contains(n(o.Kind, o.Port), rest)
	}
	return 0, false
}
