package weir_test

import "strings"

// tableOrSpec reports whether a module is about tables or documents. What reads them
// (stages, schema) hands numbers to train, so that a loop and its proof can be read
// without them; pipeline, where both meet, is no room that train may import.
func tableOrSpec(name string) bool {
	for _, module := range []string{"github.com/apache/arrow", "gopkg.in/yaml"} {
		if strings.HasPrefix(name, module) {
			return true
		}
	}
	return false
}

// familyMeets reports whether a file below stages/model imports a family that is
// not its own. A family can then be read, changed or removed without the others;
// sample alone reads what all of them release, and the top lists them.
func familyMeets(path, ours string) bool {
	from, lower := strings.CutPrefix(path, "stages/model/")
	to, model := strings.CutPrefix(ours, "stages/model/")
	own, _, deeper := strings.Cut(from, "/")
	other, _, _ := strings.Cut(to, "/")
	return lower && model && deeper && own != other && own != "sample" && other != "artifact" && other != "internal"
}

// betweenFamilies says why a file of stages may not import another folder of it, or
// "". Families never import each other, so that each can be read, changed and
// removed alone: what two of them need is a floor in stages/internal, or a metric, and a
// floor knows nothing of what stands on it. stages/stages.go lists them all.
func betweenFamilies(path, target string) string {
	oldName, newName := family(path), family(target+"/")
	switch {
	case newName == "" || oldName == newName:
		return ""
	case newName == "stages/evaluate" && oldName == "stages/plots":
		return "" // the page of the figures reads tables as the questions do
	case newName == "stages/prep" && strings.HasPrefix(path, "stages/model/"):
		return "" // released rows leave by the inverses that each preparation holds
	case strings.HasPrefix(path, "stages/internal/") || strings.HasPrefix(path, "stages/metric/"):
		return "stages/internal and stages/metric are what families stand on; they may import none of them"
	case oldName != "":
		return "families of stages never import each other; what they share lies in stages/internal"
	}
	return ""
}

// family returns the folder of stages that holds one family of kinds. It is "" for stages/internal
// and stages/metric, for the table of contents and outside stages.
func family(path string) string {
	const depth = 2
	parts := strings.Split(path, "/")
	if len(parts) <= depth || parts[0] != "stages" || parts[1] == "internal" || parts[1] == "metric" {
		return ""
	}
	return strings.Join(parts[:depth], "/")
}

// acrossRuntime says why a file in a folder of runtime may not import a package of
// runtime, or "".
func acrossRuntime(path, ours string) string {
	parts := strings.Split(path, "/")
	if parts[0] != "runtime" || len(parts) < 3 || ours != "runtime" && !strings.HasPrefix(ours, "runtime/") {
		return ""
	}
	rooms, known := runtimeRooms()[parts[1]]
	if !known {
		return "the folder runtime/" + parts[1] + " is not in the policy"
	}
	if target := strings.TrimPrefix(strings.TrimPrefix(ours, "runtime"), "/"); target != parts[1] &&
		!contains(rooms, target) {
		return "of runtime, runtime/" + parts[1] + " may import " + strings.Join(rooms, ", ")
	}
	return ""
}
