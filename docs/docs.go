// Package docs holds the pages of the documentation, embedded in the binary, so that they are at hand where no network
// is and are of the version that runs.
package docs

import (
	"embed"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.md design/*.md
var files embed.FS

// Names lists the pages by their paths without ending, such as spec and design/reuse: first the pages, then the
// designs, each in alphabetical order.
func Names() []string {
	var names []string
	for _, folder := range []string{".", "design"} {
		entries, err := files.ReadDir(folder)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, path.Join(folder, strings.TrimSuffix(e.Name(), ".md")))
			}
		}
	}
	return names
}

// Page is a page of the documentation in Markdown.
type Page string

// Read returns a page by its name or its path, such as spec, spec.md or docs/spec.md, and whether there is one.
func Read(name string) (Page, bool) {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md")
	if !slices.Contains(Names(), name) {
		return "", false
	}
	text, err := files.ReadFile(name + ".md")
	return Page(text), err == nil
}

// heading is a line that begins a section: its level, 1 to 6, and where it stands in the page.
type heading struct {
	level, start int
	text         string
}

// headings lists the headings of a page outside of examples.
func (p Page) headings() (list []heading) {
	start, fence := 0, ""
	for line := range strings.Lines(string(p)) {
		text := strings.TrimRight(line, "\n")
		marks := len(text) - len(strings.TrimLeft(text, "#"))
		switch {
		case fence != "":
			if strings.HasPrefix(strings.TrimSpace(text), fence) {
				fence = ""
			}
		case strings.HasPrefix(strings.TrimSpace(text), "```"):
			fence = "```"
		case marks > 0 && strings.HasPrefix(text[marks:], " "):
			list = append(list, heading{marks, start, strings.TrimSpace(text[marks:])})
		}
		start += len(line)
	}
	return list
}

// Title returns the first heading of a page.
func (p Page) Title() string {
	for _, h := range p.headings() {
		return h.text
	}
	return ""
}

// Anchors lists the sections of a page by the names that links give them: as GitHub forms them of headings.
func (p Page) Anchors() (names []string) {
	for _, h := range p.headings() {
		names = append(names, anchor(h.text))
	}
	return names
}

// Section returns the section of an anchor with its own subsections, and whether there is one. The first words of a
// heading are enough, such as 2.1 of "2.1 Sampling".
func (p Page) Section(name string) (Page, bool) {
	name = anchor(name)
	headings := p.headings()
	for _, whole := range []bool{true, false} {
		for i, h := range headings {
			if at := anchor(h.text); at == name || !whole && strings.HasPrefix(at, name+"-") {
				return p[h.start:p.end(headings[i:])], true
			}
		}
	}
	return "", false
}

// end returns where the section of the first heading ends: at the next of its level or above.
func (p Page) end(headings []heading) int {
	for _, h := range headings[1:] {
		if h.level <= headings[0].level {
			return h.start
		}
	}
	return len(p)
}

// anchor returns the name of a heading in links: small letters, digits, _ and -, a hyphen for each blank.
func anchor(text string) string {
	text = regexp.MustCompile(`[^a-z0-9_ -]`).ReplaceAllString(strings.ToLower(text), "")
	return strings.ReplaceAll(text, " ", "-")
}
