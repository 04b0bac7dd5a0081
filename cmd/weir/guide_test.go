package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// step is one thing that a reader of the guide does: to save a file, or to type a command that prints want.
type step struct {
	line          int // of the page, from 1
	file, content string
	command, want string
}

// steps reads the fenced blocks of a page: ```LANGUAGE NAME is the file NAME, ```console holds commands behind "$ ",
// each above what it prints.
func steps(page string) []step {
	var found []step
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		info, fenced := strings.CutPrefix(lines[i], "```")
		if !fenced {
			continue
		}
		first := i + 1
		for i++; lines[i] != "```"; i++ {
		}
		if _, name, named := strings.Cut(info, " "); named {
			content := strings.Join(lines[first:i], "\n") + "\n"
			found = append(found, step{line: first + 1, file: name, content: content})
		} else if info == "console" {
			found = append(found, typed(lines[first:i], first+1)...)
		}
	}
	return found
}

// typed reads the commands of a block that begins at a line of the page.
func typed(block []string, line int) []step {
	var found []step
	for i, text := range block {
		if command, is := strings.CutPrefix(text, "$ "); is {
			found = append(found, step{line: line + i, command: command})
			continue
		}
		found[len(found)-1].want += text + "\n"
	}
	return found
}

// masked puts # for what differs from one reader of the guide to another, as its first lines say: ids of runs, sweeps,
// audits and datasets, dates and the times of day behind them, the commit behind the digest of a spec, and how long a
// command took. Columns keep their widths.
func masked(text string) string {
	varies := regexp.MustCompile(`\b\d{8}-\d{6}(-[0-9a-f]{8,32}|\.\d{3})\b|\bds-[0-9a-f]{32}\b|` +
		`\b20\d\d-\d\d-\d\d\b([ T]\d\d:\d\d(:\d\d)?)?`)
	commit := regexp.MustCompile(`( [0-9a-f]{12}  )[0-9a-f]{12}\b`)
	took := regexp.MustCompile(`(?m)^took( +)\S+$`)
	text = commit.ReplaceAllString(took.ReplaceAllString(text, "took$1#"), "$1############")
	return varies.ReplaceAllStringFunc(text, func(s string) string {
		return regexp.MustCompile(`[0-9a-z]`).ReplaceAllString(s, "#")
	})
}

// TestGuideMasks: what differs between readers is masked, and nothing else: no figure, position, digest or count.
func TestGuideMasks(t *testing.T) {
	for _, text := range []string{"study.yaml:10:10: privacy", "0.6473  (0.6290 to 0.6662)", "epsilon 0.1,1,10",
		`{"gaussian":{"noise_multiplier":8.451335340035989}}`, "20000 rows", "441 more in internal/metrics.json",
		"release ca0a1e9bf3c6  done", "sha256:126454819cc670e4990821294ef5c46c10bd3250dc8dc4f5b9a0f49834f76877"} {
		if got := masked(text); got != text {
			t.Errorf("%q is masked as %q", text, got)
		}
	}
	const one, other = "2026-11-28 00:11  20261128-001138-1257ff6c9905c7f28594b3b313228ff5 of " +
		"ds-2463e003acc29cece7e9b47252641b63\ntook   9.1s\naudit-20261128-004330.212.json\n" +
		"release ca0a1e9bf3c6  74b024324c28  done",
		"2027-01-02 23:59  20270102-235901-00000000000000000000000000000000 of ds-00000000000000000000000000000000" +
			"\ntook   120ms\naudit-20270102-235902.001.json\nrelease ca0a1e9bf3c6  000000000000  done"
	if masked(one) != masked(other) {
		t.Errorf("%q and %q differ", masked(one), masked(other))
	}
}

// TestGuideSteps: of a page with a file and two commands, whose outputs another page then has.
func TestGuideSteps(t *testing.T) {
	const page = "Save\n\n```yaml a.yaml\nweir: 1\n```\n\n```console\n$ weir check a.yaml\nno\n$ echo $?\n2\n```\n"
	want := []step{{line: 4, file: "a.yaml", content: "weir: 1\n"}, {line: 8, command: "weir check a.yaml", want: "no\n"},
		{line: 10, command: "echo $?", want: "2\n"}}
	got := steps(page)
	if !slices.Equal(got, want) {
		t.Fatalf("steps are %v, must be %v", got, want)
	}
	got[1].want = "yes\nand no\n"
	if now := printing(page, got); now != strings.Replace(page, "\nno\n", "\nyes\nand no\n", 1) {
		t.Errorf("the page is now %q", now)
	}
}

// printing returns a page whose commands print what its steps now want.
func printing(page string, all []step) string {
	lines := strings.SplitAfter(page, "\n")
	for i := len(all) - 1; i >= 0; i-- {
		if s := all[i]; s.file == "" {
			end := s.line
			for !strings.HasPrefix(lines[end], "$ ") && lines[end] != "```\n" {
				end++
			}
			lines = slices.Concat(lines[:s.line], []string{s.want}, lines[end:])
		}
	}
	return strings.Join(lines, "")
}
