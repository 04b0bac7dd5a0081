package main

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// planted stands in every cell of the files below, and in none of their messages.
const planted = "SECRET73313"

// plantedFiles returns tables in every form in which one is handed over by mistake.
func plantedFiles() map[string]string {
	rows := "income;" + planted + "\n" + planted + ";" + planted + "\n"
	files := map[string]string{
		"comma.csv":   strings.ReplaceAll(rows, ";", ","),
		"tab.tsv":     strings.ReplaceAll(rows, ";", "\t"),
		"return.csv":  "id,income,group,flag\r1," + planted + ",a,1\r" + planted + ",2,b,0\r",
		"oneline.csv": "id,income,group,flag,1," + planted + ",a,1\n2," + planted + ",b,0\n",
		"blanks.csv":  "id income group flag " + planted + " " + planted + "\n",
		"lines.jsonl": `{"id":"` + planted + `","income":1}` + "\n" + `{"` + planted + `":2}` + "\n",
		"one.json":    `{"` + planted + `": "` + planted + `"}`,
		"list.json":   `["` + planted + `", 1]`,
		"keys.yaml":   planted + ": " + planted + "\n" + planted + ": 2\n",
		"tag.csv":     "!" + planted + ",b\n",
		"anchor.csv":  "*" + planted + ",b\n&" + planted + " c: d\n",
		"quote.csv":   "a,b\n\"" + planted + ",c\nd," + planted + "\"" + planted + "\n",
		"escape.csv":  "\"" + planted + "\\q\",b\n",
		"name.txt":    "name: " + planted + "\n" + planted + ": 1\n",
		"magic":       "PAR1" + planted + "PAR1",
		"arrow":       "ARROW1\x00\x00" + planted,
		"stream":      "\xff\xff\xff\xff\x10\x00\x00\x00" + planted + planted,
		"latin.csv":   "a,b\n" + planted + "\xe9,1\n",
		"nul.csv":     "a,b\n" + planted + "\x00,1\n",
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(rows))
	z.Close()
	files["packed.csv.gz"] = b.String()
	return files
}

// TestNoMessageQuotesACell: a table in the place of a spec, a domain, a ledger, a
// model, an event, a run or a dataset leaves no trace of its cells in anything that
// is printed.
func TestNoMessageQuotesACell(t *testing.T) {
	t.Parallel()
	for name, text := range plantedFiles() {
		s := newStudy(t, 40)
		s.write(name, text)
		file := s.path(name)
		spec, domain := s.path("spec.yaml"), s.path("domain.yaml")
		for _, args := range [][]string{
			{"check", file}, {"check", "--json", file}, {"plan", file}, {"run", file}, {"render", file},
			{"check", spec, "--set", "dataset.domain=" + file}, {"run", spec, "--set", "dataset.domain=" + file},
			{"run", spec, "--set", "dataset.file=" + file}, {"run", spec, "--set", "seed=@" + file},
			{"evaluate", "--real", file, "--synthetic", file, "--domain", file},
			{"evaluate", "--real", file, "--synthetic", file, "--domain", domain},
			{"evaluate", "--real", s.path("data.csv"), "--synthetic", file, "--domain", domain},
			{"sample", file}, {"sample", file, "--rows", "3"}, {"report", file}, {"verify", file},
			{"ledger", "show", file}, {"ledger", "verify", file}, {"ledger", "merge", file, file}, {"ledger", "continue", file,
				file},
			{"ledger", "show", s.path("data.csv")},
			{"epsilon", "--delta", "1e-5", "--event", "@" + file},
		} {
			code, out, errs := s.weir(args...)
			if code == 0 {
				t.Errorf("%s of %s: exit code 0, must be refused", args[0], name)
			}
			for _, said := range strings.Split(out+"\n"+errs, "\n") {
				if strings.Contains(strings.ToLower(said), strings.ToLower(planted)) {
					t.Errorf("%s of %s quotes a cell: %s", strings.Join(args[:2], " "), name, said)
				}
			}
		}
		if _, _, errs := s.weir("domain", "infer", file); strings.Contains(errs, planted) {
			t.Errorf("domain infer of %s quotes a cell: %s", name, errs)
		}
	}
}
