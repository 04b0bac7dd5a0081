package anomaly

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/stages/prep"
)

// Remove takes out rows by the scores of a released detector: one that was trained as such,
// or a model that tells how probable a row is.
//
// pre is before a model. The detector s is released, so that given s the stage is a fixed
// function of the rows; what comes after composes with the detector's charge as any two
// mechanisms do of which the second is chosen by what the first released.
//
// above: whether a row goes depends on that row alone. So one row that comes, goes or is
// exchanged is one row here, of the same unit and in the same shard: stability stays, and
// rows of a unit stay its own. How many are left is private.
//
// remove: the N rows that rank highest go, all where there are fewer. Let rows be ordered by
// s, and where s is equal by their contents, so that ties are between equal rows and the
// kept rows are, as a multiset, a function K of the multiset T of all rows. Add a row r to
// T. With fewer than N rows in T nothing is kept before or after. Else let m be the least of
// the N highest of T. If r is above m, r takes a place among the N highest and m is kept:
// K(T+r) = K(T)+m. If not, the N highest stay: K(T+r) = K(T)+r. So one row comes and none
// goes. Read backwards, a row that goes takes at most one with it. Under add_remove c changed
// rows are thus at most c here, and rows(c) stays rows(c). Under replace_one T and T' are
// the rows that they have in common and at most c more each, so that K(T) and K(T') are
// the rows of K for the common rows and at most c more each: rows(c) again. The number of rows that
// are left is the public one less N. But m is a row of another unit (OwnRows is false), at
// another place and in another shard: a stage of kind shard does not confine that, and a
// table in shards is refused, since a change inside one shard, of any size, would exchange
// rows of all others.
//
// That no order shows, kept rows stay in the order of the table; whatever comes after
// treats a table whose rows are not their unit's own as a multiset (stages/prep/split.go).
//
// post is after: drawn rows and the detector are released, and so is what is left of them.
type Remove struct {
	Placement string   `yaml:"placement" json:"placement" required:"true" enum:"pre|post|mid" doc:"pre: of the rows that a model learns from. post: of drawn rows, of which so many more are drawn before. mid, inside the loop of a model that learns in batches, is not a stage: there detector and remove_anomalies are given to the stage that trains."`
	Rows      *int64   `yaml:"remove,omitempty" json:"remove,omitempty" min:"1" max:"1000000000" doc:"The highest scores go, so many: a public number."`
	Above     *float64 `yaml:"above,omitempty" json:"above,omitempty" min:"0" doc:"Rows with a score above this public number go; how many are left is private."`
}

func removeAnomaliesKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "remove_anomalies", Version: 2, Called: "less anomalies",
		// of rows that were drawn, which are released too
		Doc: "Takes out the rows to which a released detector gives the highest scores. They are a fixed number of them, " +
			"or all " +
			"above a fixed score. " +
			"A model of marginals or a mixture is a detector too, whose score is minus log2 of the row's probability, in " +
			"bits; a row that it never draws has the highest. " +
			"Use it before a model (placement: pre), where one changed row stays one, or after sample (placement: post): draw " +
			"n + extra rows and remove: extra; both tables are then in the release. " +
			"Removal by number needs a table without shards, and none may follow; removal above a score goes with both.",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "The table, as it is before encode."},
			{Name: "detector", Form: pipeline.FormDetector, Or: pipeline.FormModel, Scoring: true,
				Doc: "A released detector of the same columns; or a released model of them that tells how probable a row is, " +
					"such as one of marginals or a mixture."}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "The rows that are left, in their order."}},
		New: func() pipeline.Stage { return &Remove{} },
	}
}

// Plan implements pipeline.Stage.
func (s *Remove) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h, detector := in["in"], in["detector"]
	var ps schema.Problems
	s.check(h, detector, &ps)
	artifact.SameColumns(h.Domain, detector.Domain, "from", &ps)
	out := s.header(h, detector)
	var write []string
	if s.Placement == "post" {
		write = []string{pipeline.UsualFormats}
	}
	return pipeline.Work{Out: pipeline.Headers{"out": out}, Write: write, Findings: s.findings(h, detector),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			d, err := artifact.Read[artifact.Scorer](ctx, in["detector"], env.Readers)
			if err != nil {
				return nil, err
			}
			t, err := s.remaining(ctx, in["in"], out, d)
			return pipeline.Tables{"out": t}, err
		}}, ps.Err()
}

func (s *Remove) check(h, detector pipeline.Header, ps *schema.Problems) {
	free := h.Terms.NoPrivacy
	switch {
	case s.Rows == nil && s.Above == nil:
		ps.Add("remove", "missing", "a number of rows, or above: a score")
	case s.Rows != nil && s.Above != nil:
		ps.Add("remove", fmt.Sprint(*s.Rows)+", and above is given too", "one of the two")
	case s.Rows != nil && h.Rows > 0 && *s.Rows >= h.Rows:
		ps.Add("remove", fmt.Sprintf("%d of %d rows", *s.Rows, h.Rows), "fewer than there are")
	}
	switch {
	case s.Placement == "mid":
		ps.Add("placement", "mid, which is inside the loop of a model", s.insteadOfMid())
	case s.Placement == "pre" && h.Class == pipeline.Released && !free:
		ps.Add("placement", "pre, of a released table", "post")
	case s.Placement == "post" && h.Class == pipeline.Private && !free:
		ps.Add("placement", "post, of a private table", "pre")
	}
	if s.Rows != nil && h.Shards > 0 {
		ps.Refuse("W22", "remove", "given on a table in shards, where a change in one would exchange rows of others",
			"above: a score, or a stage before shard that has one")
	}
	if detector.Class == pipeline.Private && !free && h.Terms.Claims != pipeline.ClaimsPublished {
		ps.Refuse("W04", "detector", "fitted on private rows without a charge",
			"a released detector, such as anomaly_detector")
	}
}

// findings warn of a detector that nobody paid for, which claims: published allows.
func (s *Remove) findings(h, detector pipeline.Header) []pipeline.Finding {
	if detector.Class != pipeline.Private || h.Terms.NoPrivacy {
		return nil
	}
	return []pipeline.Finding{{Rule: "W04", Level: pipeline.LevelWarning, Message: "rows are removed by a detector that " +
		"is fitted on private rows without a charge: one row may change which of all others go",
		Fix: "a released detector, such as anomaly_detector without program"}}
}

// insteadOfMid returns the two lines to write for mid.
func (s *Remove) insteadOfMid() string {
	n := "how many rows of each batch"
	if s.Rows != nil {
		n = fmt.Sprintf("%d, or another number of rows of each batch", *s.Rows)
	}
	return "pre or post; for mid leave this stage out and write two lines in the stage that trains (a GAN, pate_gan, " +
		"dp_vae or dp_syn): detector: (the one named here), and remove_anomalies: (" + n + ")"
}

// header returns the header of the rows that are left; the comment of Remove has the proof.
func (s *Remove) header(h, detector pipeline.Header) pipeline.Header {
	h.Domain = h.Domain.Clone()
	h.Domain.LiftTotals()
	switch {
	case s.Rows == nil:
		h.Rows = 0
	case h.Rows > 0:
		h.Rows -= *s.Rows
	}
	switch {
	case detector.Class == pipeline.Private:
		h.Stability, h.OwnRows = pipeline.Unbounded(), false
	case s.Rows != nil && h.Class == pipeline.Private:
		h.OwnRows = false
	}
	h.Class = h.Class.Join(detector.Class)
	return h
}

// remaining returns the table without the rows that go.
func (s *Remove) remaining(ctx context.Context, t pipeline.Table, out pipeline.Header,
	d artifact.Scorer) (pipeline.Table, error) {
	if s.Rows == nil {
		return t.Map(out, func(r arrow.Record) (arrow.Record, error) {
			scores, err := scoresOf(ctx, t.Header, r, d)
			if err != nil {
				return nil, err
			}
			return keep(r, func(i int) bool { return scores[i] <= *s.Above })
		}), nil
	}
	worst, err := highest(ctx, t, d, int(*s.Rows))
	return pipeline.Table{Header: out, Open: func(ctx context.Context) pipeline.Batches {
		pos := int64(0)
		return t.Map(out, func(r arrow.Record) (arrow.Record, error) {
			from := pos
			pos += r.NumRows()
			return keep(r, func(i int) bool { return !worst[from+int64(i)] })
		}).Open(ctx)
	}}, err
}

// keep returns a record of the rows that stay.
func keep(r arrow.Record, stays func(row int) bool) (arrow.Record, error) {
	var rows []int
	for i := range int(r.NumRows()) {
		if stays(i) {
			rows = append(rows, i)
		}
	}
	return prep.TakeRows(r, rows)
}

// scoresOf returns the scores of the rows of a record.
func scoresOf(ctx context.Context, h pipeline.Header, r arrow.Record, d artifact.Scorer) ([]float64, error) {
	h.Rows = r.NumRows()
	f, err := columns.Read(ctx, pipeline.FromRecords(h, r))
	if err != nil {
		return nil, err
	}
	return d.Scores(f)
}

// ranked is a row with its score, one of the highest so far.
type ranked struct {
	at       int64 // place in the table
	score    float64
	contents []byte
}

// byRank puts the highest first: by score, then by contents, so that only equal rows
// tie. Which of these goes is by place, and all the same: they are equal.
func byRank(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), bytes.Compare(b.contents, a.contents), cmp.Compare(a.at, b.at))
}

// highest returns the places of the n rows that rank highest, all of a table that has fewer.
func highest(ctx context.Context, t pipeline.Table, d artifact.Scorer, n int) (map[int64]bool, error) {
	var top []ranked // the n highest so far, in order
	pos := int64(0)
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		scores, err := scoresOf(ctx, t.Header, rec, d)
		if err != nil {
			return nil, err
		}
		full := len(top) == n
		for i, score := range scores {
			if full && score < top[n-1].score {
				continue
			}
			values, err := contents(rec, i)
			if err != nil {
				return nil, err
			}
			top = append(top, ranked{pos + int64(i), score, values})
		}
		slices.SortFunc(top, byRank)
		top = top[:min(n, len(top))]
		pos += rec.NumRows()
	}
	places := map[int64]bool{}
	for _, r := range top {
		places[r.at] = true
	}
	return places, nil
}

// contents returns the values of a row as bytes, equal where the rows are: a byte that tells
// whether there is a value, and the value, a text with its length.
func contents(r arrow.Record, row int) ([]byte, error) {
	var b []byte
	for i := range int(r.NumCols()) {
		if r.Column(i).IsNull(row) {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		switch a := r.Column(i).(type) {
		case *array.Float64:
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(a.Value(row)))
		case *array.Float32:
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(a.Value(row)))
		case *array.Int64:
			b = binary.BigEndian.AppendUint64(b, uint64(a.Value(row)))
		case *array.Int32:
			b = binary.BigEndian.AppendUint32(b, uint32(a.Value(row)))
		case *array.String:
			b = binary.BigEndian.AppendUint64(b, uint64(len(a.Value(row))))
			b = append(b, a.Value(row)...)
		default:
			return nil, fmt.Errorf("column %s: has the Arrow type %s, must be a number or text", r.ColumnName(i), a.DataType())
		}
	}
	return b, nil
}
