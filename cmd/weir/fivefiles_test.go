package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"

	"weir/internal/stattest"
)

// fiveRows is how many rows each of the five files has.
const fiveRows = 200

// anyFile is a table as people have it, and the way it goes.
type anyFile struct {
	name     string
	bytes    func(*testing.T, *rand.Rand) []byte
	refused  string   // by infer without flags; "" is none
	infer    []string // flags
	drafted  []string // the draft has
	decided  []string // old and new text of the draft, in turns: what a person knows
	init     []string // flags
	released string   // pattern of a released row
	secrets  []string // cells that neither the draft nor the release has
}

// TestFiveFilesFromFileToTable: a German export, a laboratory's workbook, Parquet with timestamps and decimals, a
// Latin-1 register with names and stays of patients go through infer, init, check, plan and run. By hand are decided
// bounds alone; columns that name persons leave by themselves.
func TestFiveFilesFromFileToTable(t *testing.T) {
	t.Parallel()
	for _, f := range fiveFiles() {
		if f.name == "labor.xlsx" && !stattest.Long { // twice the time of any other; TestWorkbook reads one too
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := study{t, t.TempDir()}
			s.write(f.name, string(f.bytes(t, rand.New(rand.NewPCG(7, 33)))))
			s.decide(f)
			s.must(os.MkdirAll(s.path("study"), 0o755))
			s.ends(exitDone, append([]string{"init", s.path("study"), "--from", s.path("domain.yaml"), "--data", s.path(f.name)},
				f.init...)...)
			spec, out := s.path("study/pipeline.yaml"), s.path("runs")
			s.ends(exitDone, "check", spec)
			s.ends(exitDone, "plan", spec, "--out", out)
			s.ends(exitDone, "run", spec, "--out", out, "--set", "stages.report=off", "--set", "stages.marginals=off")
			s.released(f)
		})
	}
}

// decide drafts the domain, first without flags, and signs it.
func (s study) decide(f anyFile) {
	s.t.Helper()
	if f.refused != "" {
		if errs := s.ends(exitFailed, "domain", "infer", s.path(f.name)); !strings.Contains(errs, f.refused) {
			s.t.Errorf("infer says %q, must say %q", errs, f.refused)
		}
	}
	draft := s.ends(exitDone, append([]string{"domain", "infer", s.path(f.name)}, f.infer...)...)
	for _, part := range f.drafted {
		if !strings.Contains(draft, part) {
			s.t.Errorf("the draft lacks %q:\n%s", part, draft)
		}
	}
	s.lacks("draft", draft, f.secrets)
	for pair := range slices.Chunk(f.decided, 2) {
		old := regexp.MustCompile(pair[0])
		if !old.MatchString(draft) {
			s.t.Errorf("the draft has no %s to decide:\n%s", old, draft)
		}
		draft = old.ReplaceAllString(draft, pair[1])
	}
	s.write("domain.yaml", strings.ReplaceAll(draft, "UNDECIDED", "public"))
}

// released looks at what left.
func (s study) released(f anyFile) {
	s.t.Helper()
	samples, err := filepath.Glob(s.path("runs/*/2*/release/sample.csv"))
	if err != nil || len(samples) != 1 {
		s.t.Fatalf("%d synthetic tables, %v", len(samples), err)
	}
	row := regexp.MustCompile("^" + f.released + "$")
	text, err := os.ReadFile(samples[0])
	s.must(err)
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		if !row.MatchString(line) {
			s.t.Fatalf("row %d is %q, must be as %s", i+1, line, row)
		}
	}
	for _, name := range []string{"sample.csv", "domain.yaml", "PRIVACY.md", "DATASHEET.md"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(samples[0]), name))
		s.must(err)
		s.lacks(name, string(text), f.secrets)
	}
}

func (s study) lacks(what, text string, secrets []string) {
	s.t.Helper()
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			s.t.Errorf("%s has %q", what, secret)
		}
	}
}

// ends runs weir, which must end so, and returns what it printed: of a failure on stderr.
func (s study) ends(want int, args ...string) string {
	s.t.Helper()
	code, out, errs := s.weir(args...)
	if code != want {
		s.t.Fatalf("weir %s: exit code %d, must be %d\n%s%s", strings.Join(args, " "), code, want, out, errs)
	}
	if want != exitDone {
		return errs
	}
	return out
}

// fiveFiles returns the files, of few rows each.
func fiveFiles() []anyFile {
	const day = `\d{2}\.\d{2}\.20\d{2}`
	return []anyFile{
		{name: "abrechnung.csv", bytes: germanExport, refused: "accepted: UTF-8, or windows-1252",
			infer: []string{"--encoding", "windows-1252", "--missing", "k. A."},
			drafted: []string{`csv: {encoding: "windows-1252", delimiter: ";"}`, `format: "DD.MM.YYYY"`,
				`format: "1.234,5"`, `format: "1,5 %"`,
				`missing: ["k. A."]`, `order: ["Aufnahme", "Entlassung"]`},
			decided: []string{`bounds: \[2020-.*?\].*`, "bounds: [2020-01-01, 2024-12-31]",
				`bounds: \[\d+\.?\d*, \d{4,}.*?\].*`, "bounds: [0, 9000]"},
			init: []string{"--encoding", "windows-1252", "--target", "erneut"}, secrets: []string{"F-10"},
			released: `\d+;(Köln|München);` + day + ";" + day +
				`;(\d{1,3}\.)?\d{1,3},\d\d;(\d+,\d|k\. A\.)?;\d+,\d %;(ja|nein)`},
		{name: "labor.xlsx", bytes: workbook, refused: "has 2 sheets",
			infer: []string{"--sheet", "Results", "--range", "A3:F", "--missing", "haem."},
			drafted: []string{`csv: {sheet: "Results", range: "A3:F"}`, "type: datetime", "step: minute",
				`missing: ["haem."]`, `categories: ["H", "L"]`},
			decided: []string{`bounds: \[2023-.*?\].*`, "bounds: [2023-01-01T00:00, 2023-12-31T23:59]",
				`bounds: \[2, .*?\].*`, "bounds: [0, 10]"},
			init: []string{"--sheet", "Results", "--range", "A3:F"}, secrets: []string{"S000", "confidential"},
			released: `2023-\d\d-\d\dT\d\d:\d\d:00,(glucose|potassium),(\d+(\.\d)?|haem\.)?,[HL]?,\d+`},
		{name: "payments.parquet", bytes: payments,
			drafted: []string{"weir init --unit card_id", "type: datetime", "step: 0.01", "type: boolean",
				`order: ["booked", "settled"]`},
			decided: []string{`bounds: \[2022-.*?\].*`, "bounds: [2022-01-01T00:00, 2023-01-31T00:00]",
				`bounds: \[\d+\.\d+, .*?\].*`, "bounds: [0, 500]"},
			init: []string{"--unit", "card_id", "--max-rows", "5"}, secrets: []string{"card-0"},
			released: `202[23]-\d\d-\d\dT\d\d:\d\d:00Z,\d+(\.\d\d?)?,(202[23]-\d\d-\d\dT00:00:00Z)?,(true|false)`},
		{name: "socios.csv", bytes: register, refused: "accepted: UTF-8, or windows-1252",
			infer: []string{"--encoding", "latin-1"},
			drafted: []string{"which are never public categories", `format: "DD/MM/YYYY"`,
				`categories: ["Cádiz", "León"]`, `"Mujer": ["MUJER"]`},
			decided: []string{`bounds: \[19.*?\].*`, "bounds: [1930-01-01, 2010-12-31]"},
			init:    []string{"--encoding", "latin-1"}, secrets: []string{"Nuñez", "José", "Zoë"},
			released: `\d{2}/\d{2}/(19|20)\d{2},(Mujer|Hombre),(Cádiz|León),\d+`},
		{name: "stays.csv", bytes: stays,
			drafted: []string{"weir init --unit patient_id", "type: datetime",
				`order: ["admitted", "discharged"]`, "type: boolean"},
			decided: []string{`bounds: \[20.*?\].*`, "bounds: [2019-01-01T00:00, 2023-12-31T23:59]"},
			init:    []string{"--unit", "patient_id", "--max-rows", "5", "--template", "claims"}, secrets: []string{"P00"},
			released: `20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d,20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d,(medicine|surgery),[01]`},
	}
}

// germanExport returns a CSV as German software writes it.
func germanExport(t *testing.T, rng *rand.Rand) []byte {
	var b strings.Builder
	b.WriteString("Fall-Nr.;Alter;Klinik;Aufnahme;Entlassung;Betrag (€);CRP;Zuzahlung;erneut\r\n")
	for i := range fiveRows {
		in := time.Date(2020, 1, 2+rng.IntN(1700), 0, 0, 0, 0, time.UTC)
		crp := []string{"", "k. A.", "3,5", "12,0", "0,5", "8,1"}[rng.IntN(6)]
		fmt.Fprintf(&b, "F-10%03d;%d;%s;%s;%s;", i, 18+rng.IntN(80), pick(rng, "Köln", "München"), in.Format("02.01.2006"),
			in.AddDate(0, 0, rng.IntN(20)).Format("02.01.2006"))
		fmt.Fprintf(&b, "%d.%03d,%02d;%s;%d,%d %%;%s\r\n", 1+rng.IntN(8), rng.IntN(1000), rng.IntN(100), crp, rng.IntN(100),
			rng.IntN(10), pick(rng, "ja", "nein"))
	}
	text, err := charmap.Windows1252.NewEncoder().String(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}

// workbook has a sheet of notes, and one whose names stand in the third row, with numbers that are text in some cells.
func workbook(t *testing.T, rng *rand.Rand) []byte {
	book := excelize.NewFile()
	cells := func(row int, values ...any) {
		if err := book.SetSheetRow("Results", fmt.Sprintf("A%d", row), &values); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := book.NewSheet("Results"); err != nil {
		t.Fatal(err)
	}
	cells(1, "Results of ward 3 (confidential)")
	cells(3, "Sample ID", "Drawn", "Analyte", "Value", "Flag", "Age")
	for i := range fiveRows {
		number := float64(20+rng.IntN(70)) / 10
		value, flag := any(number), any(nil)
		switch {
		case i%40 == 9:
			value = "haem."
		case i%3 == 0:
			value = fmt.Sprint(number)
		}
		if number > 7 {
			flag = "H"
		} else if number < 3 {
			flag = "L"
		}
		drawn := time.Date(2023, 1, 1, 0, rng.IntN(525600), 0, 0, time.UTC)
		cells(i+4, fmt.Sprintf("S%05d", i), drawn, pick(rng, "glucose", "potassium"), value, flag, rng.IntN(100))
	}
	var out bytes.Buffer
	if err := book.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// payments returns Parquet with moments of nanoseconds, which this writer marks as UTC, and decimals.
func payments(t *testing.T, rng *rand.Rand) []byte {
	moment := &arrow.TimestampType{Unit: arrow.Nanosecond}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "card_id", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "booked", Type: moment, Nullable: true},
		{Name: "amount", Type: &arrow.Decimal128Type{Precision: 8, Scale: 2}, Nullable: true},
		{Name: "settled", Type: moment, Nullable: true},
		{Name: "disputed", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	for range fiveRows {
		booked := time.Date(2022, 1, 1, 0, rng.IntN(525600), 0, 0, time.UTC)
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("card-%03d", rng.IntN(70)))
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(booked.UnixNano()))
		b.Field(2).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(100 + rng.IntN(40000))))
		if settled := b.Field(3).(*array.TimestampBuilder); rng.IntN(20) == 0 {
			settled.AppendNull()
		} else {
			settled.Append(arrow.Timestamp(booked.Truncate(24*time.Hour).AddDate(0, 0, 1+rng.IntN(4)).UnixNano()))
		}
		b.Field(4).(*array.BooleanBuilder).Append(rng.IntN(5) == 0)
	}
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, nil, pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(b.NewRecord())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// register returns a Spanish table with given names and surnames, in Latin-1, in which sexes have two spellings.
func register(t *testing.T, rng *rand.Rand) []byte {
	var b strings.Builder
	b.WriteString("nombre,apellidos,nacimiento,sexo,provincia,años\n")
	for range fiveRows {
		born := time.Date(1935, 1, 1+rng.IntN(25000), 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&b, "%s,%s %s,%s,%s,%s,%d\n", pick(rng, "José", "Zoë", "Ana"), pick(rng, "Nuñez", "Peña"),
			pick(rng, "Nuñez", "Díaz"), born.Format("02/01/2006"), pick(rng, "Mujer", "Hombre", "MUJER"),
			pick(rng, "Cádiz", "León"), rng.IntN(40))
	}
	text, err := charmap.ISO8859_1.NewEncoder().String(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}

// stays has a row a stay of patients who may have several.
func stays(_ *testing.T, rng *rand.Rand) []byte {
	var b strings.Builder
	b.WriteString("patient_id,admitted,discharged,ward,died\n")
	for i := range fiveRows {
		in := time.Date(2019, 1, 1, 0, 0, rng.IntN(4*365*86400), 0, time.UTC)
		out := in.Add(time.Duration(1+rng.IntN(500000)) * time.Second)
		fmt.Fprintf(&b, "P00%03d,%s,%s,%s,%d\n", i*2/3, in.Format("2006-01-02T15:04:05"), out.Format("2006-01-02T15:04:05"),
			pick(rng, "medicine", "surgery"), rng.IntN(9)/8)
	}
	return []byte(b.String())
}

func pick(rng *rand.Rand, from ...string) string { return from[rng.IntN(len(from))] }
