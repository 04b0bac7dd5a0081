package weir_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// whole joins words that are cut here, so that this file has no notice.
func whole(words string) string { return strings.ReplaceAll(words, "|", "") }

// notices returns what code of others brings with it, or what is said of it: in small
// letters, with one blank between words.
func notices() (list []string) {
	for _, n := range []string{"copy|right", "(c|) 19", "(c|) 20", "spd|x-", "all rights re|served", "b|sd",
		"mit lic|ense", "mit lic|ence", "gnu gen|eral",
		"mozilla pub|lic", "lic|ensed under", "redistri|bution", "is gover|ned by", "a por|t of ", "por|ted from",
		"adap|ted from", "transla|ted from",
		"transcri|bed from", "borro|wed from", "lif|ted from", "courtesy |of"} {
		list = append(list, whole(n))
	}
	for _, how := range []string{"deriv|ed", "cop|ied", "tak|en"} {
		for _, what := range []string{"", "the ", "its "} {
			for _, of := range []string{"code", "source", "program", "implementation", "library"} {
				list = append(list, whole(how)+" from "+what+of)
			}
		}
	}
	return list
}

// plainWords returns the words of a text without what begins a line of a comment.
func plainWords(text string) string {
	words := slices.DeleteFunc(strings.Fields(strings.ToLower(text)),
		func(w string) bool { return strings.Trim(w, "/*#<!->") == "" })
	return strings.Join(words, " ")
}

// foreignNotice returns the first notice in a file, or "": its name may be one too.
func foreignNotice(file, text string) string {
	if file == "LICENSE" {
		return ""
	}
	name := strings.ToLower(strings.TrimSuffix(path.Base(file), path.Ext(file)))
	if slices.Contains([]string{"license", "licence", "copying", "notice", "patents", "authors"}, name) {
		return path.Base(file)
	}
	words := plainWords(text)
	pos := slices.IndexFunc(notices(), func(n string) bool { return strings.Contains(words, n) })
	if pos < 0 {
		return ""
	}
	return notices()[pos]
}

// TestNoForeignNotices: no code of others is in the project, whatever its licence
// (CONTRIBUTING.md), so no notice of others is.
func TestNoForeignNotices(t *testing.T) {
	seen := 0
	for _, file := range tracked(t) {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if found := foreignNotice(file, string(text)); found != "" {
			t.Errorf("%s: has the notice %q; code of others is not accepted, ours written from papers is", file, found)
		}
	}
	if seen < 500 {
		t.Errorf("only %d files were read", seen)
	}
}

// TestForeignNoticesAreSeen wherever they stand, and what only sounds like one is not.
func TestForeignNoticesAreSeen(t *testing.T) {
	for file, text := range map[string]string{
		"train/loop.go":          "// Copy|right 2009 The Go Authors.",
		"train/net.go":           "// (C|) 1993 by somebody",
		"train/net/LICENSE":      "",
		"record/NOTICE.txt":      "",
		"record/page.css":        "/* SPD|X-License-Identifier: Apache-2.0 */",
		"train/x.s":              "// use is under B|SD terms",
		"pages/a.md":             "This was por|ted from a library.",
		"stages/prep/a.go":       "// rank is a por|t of rank.c",
		"stages/prep/b.go":       "// deriv|ed from\n// the source of a library",
		"record/listing/sort.js": "// MIT Lic|ense",
		"examples/a.py":          "# Lic|ensed\n# under terms",
	} {
		if foreignNotice(file, whole(text)) == "" {
			t.Errorf("%s: %q is not found", file, text)
		}
	}
	for file, text := range map[string]string{
		"LICENSE":    "Copy|right [yyyy] [name of owner]",
		"pages/a.md": "a delta that is derived from a count, copied once from runs; License: Apache 2.0; the port of a table",
	} {
		if found := foreignNotice(file, whole(text)); found != "" {
			t.Errorf("%s: %q is found in %q, must not be", file, found, text)
		}
	}
}
