package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// shown is which exit codes scripts show of a command, such as "weir ledger show".
type shown map[string]map[int]bool

// unshown returns exit codes that a help text lists and a script cannot show, each with the reason.
func unshown() map[string]string {
	return map[string]string{
		"weir audit 4": "no kind of weir breaks its promises that we know of (TestPlantedFaultsAreFound of runtime/audit has " +
			"kinds that do; TestAuditEndsWithItsVerdict the exit code)",
		"weir gc 1": "a file that cannot be removed: root, who tests in CI, removes any (runtime/collect has faults of " +
			"the disk)",
		"weir gc 130": "a few files are removed before a signal arrives",
	}
}

// scriptLine is a line that runs weir: the exit code that it must have, and its arguments.
var scriptLine = regexp.MustCompile(
	`^(?:\[[^]]+\] )*(?:exits (\d+) |(interrupt) \S+ )?(?:exec )?(?:sh -c ')?weir(?: ([^>]*))?`)

// add notes the command of a line and its exit code.
func (s shown) add(t *testing.T, root *cobra.Command, line string) {
	m := scriptLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	code, _ := strconv.Atoi(m[1])
	if m[2] != "" {
		code = exitInterrupted
	}
	c, _, err := root.Find(strings.Fields(m[3]))
	if err != nil && code != exitUsage {
		t.Errorf("%s: %v", line, err)
	}
	if s[c.CommandPath()] == nil {
		s[c.CommandPath()] = map[int]bool{}
	}
	s[c.CommandPath()][code] = true
}

// TestScriptsShowEveryCommand, and of each command every exit code that its help lists.
func TestScriptsShowEveryCommand(t *testing.T) {
	root, seen := newRoot(streams{}), readScripts(t)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		seen.check(t, c)
	}
	walk(root)
	all := map[int]bool{}
	for _, codes := range seen {
		maps.Copy(all, codes)
	}
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, exitCodes(root)) {
		t.Errorf("scripts show exit codes %v, must be %v, as weir --help says", got, exitCodes(root))
	}
}

func readScripts(t *testing.T) shown {
	seen, root := shown{}, newRoot(streams{})
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	root.InitDefaultHelpCmd()
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "\n-- ")
		for line := range strings.Lines(script) {
			seen.add(t, root, strings.TrimSpace(line))
			if strings.HasPrefix(line, "! weir") || strings.HasPrefix(line, "! exec weir") {
				t.Errorf("%s: %s: must say which exit code, by exits CODE", path, line)
			}
		}
	}
	return seen
}

// check holds what is shown of a command against its help. One that only groups others is
// named at least.
func (s shown) check(t *testing.T, c *cobra.Command) {
	path, codes := c.CommandPath(), exitCodes(c)
	if s[path] == nil {
		t.Errorf("no script in testdata/script runs %s", path)
	}
	if len(codes) == 0 && !c.HasSubCommands() {
		t.Errorf("the help of %s lists no exit codes", path)
	}
	if c == c.Root() || c.HasSubCommands() {
		return
	}
	for _, code := range codes {
		why := unshown()[path+" "+strconv.Itoa(code)]
		if s[path][code] == (why != "") {
			t.Errorf("%s: exit code %d is shown by a script: %v; must be shown, or be in unshown with the reason (it says %q)",
				path, code, s[path][code], why)
		}
	}
	for code := range s[path] {
		if !slices.Contains(codes, code) {
			t.Errorf("%s: a script shows exit code %d, which its help does not list", path, code)
		}
	}
}

// exitCodes returns the exit codes that a help text names: "Exit codes: 0 done; 2 usage."
func exitCodes(c *cobra.Command) (codes []int) {
	_, text, _ := strings.Cut(c.Long, "Exit codes:")
	for _, clause := range strings.Split(text, ";") {
		number := regexp.MustCompile(`^\s*(\d+) `).FindStringSubmatch(clause)
		if number != nil {
			code, _ := strconv.Atoi(number[1])
			codes = append(codes, code)
		}
	}
	return codes
}
