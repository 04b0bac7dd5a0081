package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unruled says which rules of the domain released rows may break (W41); nothing where
// every model holds them.
func unruled(p planned) string {
	var b strings.Builder
	for _, f := range p.Findings {
		if f.Rule == "W41" {
			fmt.Fprintf(&b, "\n**Rules between columns are not held.** Stage `%s`: %s.\n", f.Stage, f.Message)
		}
	}
	return b.String()
}

// conditioned says of each table that is drawn under conditions what they are and what it
// is no evidence of; nothing where there is none. Conditions are settings, so public.
func conditioned(p planned) string {
	var b strings.Builder
	for _, s := range p.Stages {
		var settings struct {
			Where map[string][]string `json:"where"`
		}
		if s.Kind != "sample" || json.Unmarshal(s.Settings, &settings) != nil || len(settings.Where) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n**The table `%s` is a selection.** It holds only rows with %s (`where`), drawn until there were "+
			"as many as asked for.\n"+
			"How many rows it has, and the shares of values in it, say nothing of the population or of the private table: "+
			"within the\n"+
			"condition they are those of the model, and how common the condition is it does not tell.\n", s.ID,
			conditions(settings.Where))
	}
	return b.String()
}

// conditions words values by column, such as `ward` north or south, and `age` 65.. .
func conditions(where map[string][]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(where)) {
		list = append(list, strings.ReplaceAll(fmt.Sprintf("%s = %s", name, strings.Join(where[name], " or ")), "`", "'"))
	}
	return "`" + strings.Join(list, "`, `") + "`"
}
