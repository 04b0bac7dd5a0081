package weir_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsNameTestsThatAreThere: a page that says which test holds a promise
// would say it for ever.
func TestDocumentsNameTestsThatAreThere(t *testing.T) {
	there, seen := map[string]bool{}, 0
	for _, file := range tracked(t) {
		if strings.HasSuffix(file, "_test.go") {
			for _, m := range regexp.MustCompile(`(?m)^func ((Test|Fuzz|Benchmark)\w+)\(`).FindAllStringSubmatch(read(t, file),
				-1) {
				there[m[1]] = true
			}
		}
	}
	for _, file := range tracked(t) {
		if strings.HasSuffix(file, ".md") {
			f := deadTests(read(t, file), there)
			seen += report(t, file, "names the test", f)
		}
	}
	if seen < 60 {
		t.Errorf("%d names of tests were read: the check has gone blind", seen)
	}
	if f := deadTests("`TestOfNothing/case`, `FuzzThere`", map[string]bool{"FuzzThere": true}); f.seen != 2 ||
		len(f.dead) != 1 {
		t.Errorf("the check sees %v", f)
	}
}

func deadTests(text string, there map[string]bool) (f found) {
	for _, m := range regexp.MustCompile("`((Test|Fuzz)[A-Z]\\w*)").FindAllStringSubmatch(text, -1) {
		f.seen++
		if !there[m[1]] {
			f.dead = append(f.dead, m[1])
		}
	}
	return f
}

// TestAdviceNamesTheKey: who follows advice to acknowledge a rule writes privacy.acknowledge into a spec;
// a bare acknowledge is a key of nothing.
func TestAdviceNamesTheKey(t *testing.T) {
	bare := regexp.MustCompile(`\S[^.\w\n]+acknowledge: ?\{`)
	if !bare.MatchString("or acknowledge: {W33: why}") || bare.MatchString("or privacy.acknowledge: {W33: why}") {
		t.Error("the check has gone blind")
	}
	for _, file := range tracked(t) {
		message := strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
		if (message || strings.HasPrefix(file, "docs/")) && bare.MatchString(read(t, file)) {
			t.Errorf("%s: advises a bare acknowledge, must name privacy.acknowledge", file)
		}
	}
}
