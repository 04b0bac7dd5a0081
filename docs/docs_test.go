package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryPageIsEmbedded, as it stands in the folder, and has a title.
func TestEveryPageIsEmbedded(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"*.md", "design/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) < 30 || len(paths) != len(Names()) {
		t.Errorf("%d pages, must be %d", len(Names()), len(paths))
	}
	for _, path := range paths {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if page, there := Read("docs/" + path); !there || string(page) != string(want) || page.Title() == "" {
			t.Errorf("%s: there is %v, title %q", path, there, page.Title())
		}
	}
}

// TestSections: a section ends at the next heading of its level, and a comment of an example is no heading.
func TestSections(t *testing.T) {
	page := Page("# Title\nhead\n## 2.1 A `name`, and more\none\n### Inner\ntwo\n```\n# no heading\n```\n## Last\nthree\n")
	for name, want := range map[string]string{
		"21-a-name-and-more": "## 2.1 A `name`, and more\none\n### Inner\ntwo\n```\n# no heading\n```\n",
		"2.1":                "## 2.1 A `name`, and more\none\n### Inner\ntwo\n```\n# no heading\n```\n",
		"inner":              "### Inner\ntwo\n```\n# no heading\n```\n",
		"Last":               "## Last\nthree\n",
		"title":              string(page),
		"no-heading":         "",
		"2":                  "",
	} {
		got, there := page.Section(name)
		if string(got) != want || there != (want != "") {
			t.Errorf("%s: %v\n%s\nmust be\n%s", name, there, got, want)
		}
	}
	if got := strings.Join(page.Anchors(), " "); got != "title 21-a-name-and-more inner last" {
		t.Errorf("anchors %s", got)
	}
}
