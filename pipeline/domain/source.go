package domain

import "strings"

// StageSource is the Source of what a stage of a run releases. It does not name the run or
// its spec: a later one may have the same release again.
func StageSource(stage string) string { return stageSource + stage + " of a run" }

// IsStageSource reports whether a stage of some run, not public knowledge, is the Source.
func IsStageSource(source string) bool { return strings.HasPrefix(source, stageSource) }

const stageSource = "stage "

// UnitWords names columns that tell whose a row is, and the column that each was computed from.
func UnitWords(columns ...Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		if names[i] = c.Name; c.FromUnit != "" && c.FromUnit != c.Name {
			names[i] += " (computed from " + c.FromUnit + ")"
		}
	}
	return strings.Join(names, ", ")
}
