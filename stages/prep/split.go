package prep

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	mathbits "math/bits"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"
)

// Split cuts a table into training, validation and test rows.
type Split struct {
	Train      float64 `yaml:"train" json:"train" min:"0" max:"1" doc:"Share of the rows for training."`
	Validation float64 `yaml:"validation" json:"validation" min:"0" max:"1" doc:"Share of the rows for validation."`
	Test       float64 `yaml:"test" json:"test" min:"0" max:"1" doc:"Share of the rows for testing."`
	Stratify   string  `yaml:"stratify,omitempty" json:"stratify,omitempty" format:"column" doc:"Column whose categories keep the same shares in all parts."`
	// Together is nil where each row, or privacy unit, goes its own way.
	Together *Together `yaml:"together,omitempty" json:"together,omitempty" doc:"Rows that go one way, such as pieces of one recording, where each row is a privacy unit of its own: else a model is judged on rows that it nearly saw."`
}

// parts are the outputs in order.
var parts = [3]string{"train", "validation", "test"}

func splitKind() pipeline.Kind {
	out := make([]pipeline.Port, len(parts))
	for i, name := range parts {
		out[i] = pipeline.Port{Name: name, Form: pipeline.FormTable, Doc: "the " + name + " rows"}
	}
	return pipeline.Kind{
		Name: "split", Version: 1, Late: true, In: tableIn(), Out: out,
		Doc: "Puts each row into one of train, validation and test; all rows of a privacy unit go one way. Use it before a " +
			"model, to judge " +
			"synthetic rows on rows that no model saw. An independent draw for each unit keeps stability, and sizes are near " +
			"the shares; " +
			"with one row a unit, replace_one and a public row count, sizes are exact and public. A stratified split has " +
			"exact shares in " +
			"each class (a class of one row goes where rounding puts it), and then one row can move others: rows(c) becomes " +
			"rows(2c) for " +
			"train and test, rows(3c) for validation. With together, rows that agree in a value go one way: a draw for each " +
			"value, " +
			"which keeps stability, and sizes near the shares, which are private.",
		New: func() pipeline.Stage { return &Split{Train: 0.8, Test: 0.2} },
	}
}

// splitting is the planned stage.
type splitting struct {
	h        pipeline.Header
	unit     int // place of the unit's column, or -1
	strata   int // place of the column to stratify by, or -1
	group    int // place of the column whose values go one way, or -1
	after    string
	secret   bool
	exact    bool       // sizes are public and exact
	ends     [3]float64 // cumulated shares
	out      pipeline.Headers
	findings []pipeline.Finding
}

// Plan implements pipeline.Stage.
func (s *Split) Plan(in pipeline.Headers) (pipeline.Work, error) {
	p, err := s.plan(in["in"])
	return pipeline.Work{Out: p.out, Lazy: p.strata < 0, Secret: p.secret, Findings: p.findings, Elsewhere: keyedDraws(),
		Run: p.run}, err
}

// keyedDraws says why rows have to come to draws: a secret key may not stand in SQL, which servers log, and rows have
// no places there, by which public draws go.
func keyedDraws() pipeline.Statement {
	return needsRows("draws by a key, or by places of rows, which SQL does not have")
}

func (s *Split) plan(h pipeline.Header) (*splitting, error) {
	var ps schema.Problems
	p := &splitting{h: h, unit: unitColumn(&ps, h), strata: -1, group: -1, out: pipeline.Headers{}}
	s.shares(&ps, p)
	if s.Stratify != "" {
		p.strata = s.stratum(&ps, h.Domain)
		if p.unit >= 0 {
			ps.Add("stratify", "set for a table whose privacy unit has several rows",
				"absent: rows of one unit may be of several classes and must stay together")
		}
	}
	if s.Together != nil {
		s.together(&ps, p)
	}
	positions := publicPositions(h) || h.Class != pipeline.Private
	byValue := p.unit >= 0 || p.group >= 0
	p.exact = p.strata < 0 && !byValue && positions && h.Rows > 0
	p.secret = !byValue && !positions
	s.headers(p)
	return p, ps.Err()
}

func (s *Split) shares(ps *schema.Problems, p *splitting) {
	sum := 0.0
	for i, share := range [3]float64{s.Train, s.Validation, s.Test} {
		if !(share >= 0 && share <= 1) {
			ps.Add(parts[i], fmt.Sprint(share), "between 0 and 1")
		}
		sum += share
		p.ends[i] = sum
	}
	if !(math.Abs(sum-1) < 1e-9) {
		ps.Add("", fmt.Sprintf("given shares that sum to %g", sum), "given train, validation and test that sum to 1")
	}
	p.ends[2] = 1
}

func (s *Split) stratum(ps *schema.Problems, d *domain.Domain) int {
	index := d.Index(s.Stratify)
	if index < 0 {
		ps.Unknown("stratify", "column of the table", s.Stratify, d.Names())
	} else if d.Columns[index].ArrowType().ID() != arrow.INT32 {
		ps.Add("stratify", s.Stratify+", which is "+describe(&d.Columns[index]),
			"a column with categories (discretize makes them of numbers)")
	}
	return index
}

// headers plans class, stability and public size of the parts.
//
// Independent draws keep stability: couple the draws of all units but the one
// that changes (by position where positions are public; by the hash of the unit,
// which depends on nothing else; else by a secret sequence whose law is the same
// with and without it). Exact sizes by position likewise: who goes where depends
// on positions alone. Who draws by unit or by row says where only its own row goes,
// whoever's row it is that changes, so that c changed rows stay c in every part (a
// part may lose one that another gains, as a filter may lose it), and rows of one
// unit stay so. That the unit's column names the unit is needed for what is
// promised beside stability: that all rows of a unit go one way.
//
// By a value (Together): the part is a function of the row's own value and of a public
// key, so that the draw is a filter by a public rule, under either adjacency: a row takes
// no other along, and one whose value changes leaves one part for another.
//
// Stratified: each row has an independent tag; the rows of a class, in order of
// tags, are cut after round(F_j n) of its n rows, with F_j the cumulated shares.
// Take one row away, at whatever place: each cut moves by 0 or 1 rows (0 <= F_j <= 1)
// and the rows behind the gap by one place, so at most one other row crosses
// each cut. Train and test have one cut, validation has two: beside the row
// itself at most 1, or 2, rows of the part differ. Adding is the reverse;
// replacing is both, in two classes or one, and counted as replaced rows is
// again 2, or 3. So rows(c) becomes rows(2c), rows(3c), and what crosses belongs to
// other units. The tags are public where positions are (each row keeps its tag) and
// secret elsewhere (couple the tags of the other rows). Across shards a change of
// any size moves any number of rows.
func (s *Split) headers(p *splitting) {
	begin := int64(0)
	for i, name := range parts {
		h := p.h
		h.Rows = 0
		if p.exact {
			end := int64(math.Round(float64(p.h.Rows) * p.ends[i]))
			h.Rows, begin = end-begin, end
		}
		if p.strata >= 0 && h.Class == pipeline.Private {
			h.Stability, h.OwnRows = stratified(h.Stability, name), false
		}
		p.out[name] = h
	}
	if p.unit >= 0 && p.h.Domain.Columns[p.unit].Nullable {
		name := p.h.Domain.Columns[p.unit].Name
		p.findings = []pipeline.Finding{{Rule: "W44", Level: pipeline.LevelNote,
			Message: "rows whose " + name + " is missing all go to one part, though each is a unit of its own: with many of " +
				"them the parts have other sizes than their shares",
			Fix: "a filter before the split (keep: not missing(" + name + ")), or a value of " + name + " for every row"}}
	}
	if p.strata >= 0 && p.h.Class == pipeline.Private && p.h.Stability.Spread != pipeline.SpreadUnbounded {
		p.findings = []pipeline.Finding{{Rule: "W05", Level: pipeline.LevelNote,
			Message: "a stratified split lets one row move others between the parts: stability becomes " +
				p.out["train"].Stability.String() +
				" (validation " + p.out["validation"].Stability.String() + ")",
			Fix: "leave out stratify: independent draws keep stability"}}
	}
}

func stratified(s pipeline.Stability, part string) pipeline.Stability {
	switch {
	case s.Spread != pipeline.SpreadRows:
		return pipeline.Unbounded()
	case part == "validation":
		return pipeline.Rows(3 * s.N)
	}
	return pipeline.Rows(2 * s.N)
}

func (p *splitting) run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	var rng source64
	if p.secret {
		rng = env.Secret("split")
	} else {
		rng = env.Rand("split")
	}
	t := in["in"]
	assign, err := p.assigner(ctx, t, keyFrom(rng))
	if err != nil {
		return nil, err
	}
	out := pipeline.Tables{}
	for i, name := range parts {
		out[name] = chosen(t, p.out[name], assign, uint8(i))
	}
	return out, nil
}

// Together names what rows have in common that go one way in a split.
type Together struct {
	Column string `yaml:"column" json:"column" required:"true" format:"column" doc:"Column whose values say which rows belong together; rows without a value do."`
	After  string `yaml:"after,omitempty" json:"after,omitempty" doc:"Of a column of text: only what stands behind the first of this text counts, as V1.791 of X21.V1.791 after a full stop. A text without it counts whole."`
}

// together finds the column, which no rule on the units of the table may stand beside.
func (s *Split) together(ps *schema.Problems, p *splitting) {
	d, subject := p.h.Domain, s.Together
	if p.unit >= 0 {
		ps.Add("together", "set for a table whose privacy unit has several rows",
			"absent: the rows of a unit go one way already")
	}
	if s.Stratify != "" {
		ps.Add("together", "set together with stratify", "one of the two: rows that go together may be of several classes")
	}
	index := d.Index(subject.Column)
	if index < 0 {
		ps.Unknown("together.column", "column of the table", subject.Column, d.Names())
		return
	}
	if subject.After != "" && d.Columns[index].Type != domain.Text {
		ps.Add("together.after", "set for "+subject.Column+", which is "+describe(&d.Columns[index]),
			"absent, or a mark in a column of text")
	}
	p.group, p.after = index, subject.After
}

// source64 is where a stage takes the key of its draws: public or secret.
type source64 interface{ Uint64() uint64 }

// key is the seed of draws that have to be the same at each opening of a table.
type key [32]byte

func keyFrom(rng source64) key {
	var k key
	for i := 0; i < len(k); i += 8 {
		binary.LittleEndian.PutUint64(k[i:], rng.Uint64())
	}
	return k
}

// sequence returns a fresh run of the draws of k, one for each row in order.
func (k key) sequence() *rand.Rand { return rand.New(rand.NewChaCha8(k)) }

// units draws one number for each privacy unit: SHA-256 of the unit
// under the key, so that rows of a unit agree wherever they stand, and units are
// independent.
// Rows without a unit draw one number together: that is what a function of the
// value can do (see Shard.Plan for whose shard must be its own). Of texts with the mark
// after, only what stands behind the first of it counts.
func (k key) units(a arrow.Array, after string) ([]uint64, error) {
	out := make([]uint64, a.Len())
	var text func(i int) []byte
	switch a := a.(type) {
	case *array.String:
		text = func(i int) []byte {
			whole := a.Value(i)
			if _, rest, marked := strings.Cut(whole, after); marked && after != "" {
				return []byte(rest)
			}
			return []byte(whole)
		}
	case *array.Int64:
		text = func(i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(a.Value(i))) }
	default:
		values, err := floats(a)
		if err != nil {
			return nil, err
		}
		text = func(i int) []byte { return fmt.Append(nil, values[i]) }
	}
	known := present(a)
	for i := range out {
		out[i] = k.unit(known.has(i), text(i))
	}
	return out, nil
}

// unit hashes key || known || text || key: the key on both sides, as in an
// envelope MAC.
func (k key) unit(known bool, text []byte) uint64 {
	h := sha256.New()
	h.Write(k[:])
	if known {
		h.Write([]byte{1})
		h.Write(text)
	} else {
		h.Write([]byte{0})
	}
	h.Write(k[:])
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// uniformBelow maps 64 uniform bits to 0 .. n-1; its bias, n/2^64, is nothing.
func uniformBelow(u uint64, n int) int {
	high, _ := mathbits.Mul64(u, uint64(n))
	return int(high)
}

// unitColumn returns the place of the privacy unit's column: -1 where each row is a
// unit of its own, and a problem where the column is gone, or holds anything but
// a function of the unit.
func unitColumn(ps *schema.Problems, h pipeline.Header) int {
	name := h.Terms.Unit.Column
	if name == "" || h.Class != pipeline.Private {
		return -1
	}
	index := h.Domain.Index(name)
	switch {
	case index < 0:
		ps.Refuse("W35", "", "given a table without the column "+name+" of the privacy unit",
			"given that column too, so that all rows of a unit go one way (drop it afterwards)")
	case !h.Domain.Columns[index].OfUnit:
		ps.Refuse("W35", "", "given a table whose column "+name+" does not name the privacy unit: a stage before overwrote "+
			"it, or under replace_one changed its values, or csv.unknown: missing made several units one",
			"before that stage, or given the column as it was (leave it out of that stage's columns; a dropped column cannot "+
				"be made anew; declared with type: text it takes any value)")
	}
	return index
}

// ofUnit says whether what is computed of the values of column c alone, without
// random numbers, still names the privacy unit. Under add_remove it is enough that
// the rows of a unit agree: a unit that comes or goes changes what is under its own
// value, whoever shares that value. Under replace_one two units that share a value
// cannot have draws of their own, which the exchange of one for the other needs;
// so any change of values ends it.
func ofUnit(c domain.Column, h pipeline.Header) bool {
	return c.OfUnit && h.Terms.Adjacency == privacy.AddRemove
}

// publicPositions reports whether every row keeps its place when another is
// replaced: the adjacency replaces, the row count is public, one row is all that
// changes, and it is the replaced one (another's that came back would shift others).
func publicPositions(h pipeline.Header) bool {
	return h.Terms.Adjacency == replaceOne && h.Rows > 0 && h.Stability == pipeline.Rows(1) && h.OwnRows
}
