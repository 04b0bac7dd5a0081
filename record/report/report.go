// Package report draws the report of a run: plain figures go in, one page of
// HTML with its plots in line and the same plots as SVG and PNG come out. It is
// pure: equal input gives equal bytes, and nothing is read from anywhere.
package report

import (
	"math"

	"weir/privacy"
	"weir/record"
)

// Report is everything that the page shows.
type Report struct {
	Name       string // of the pipeline
	Source     string // the dataset, in words
	Insecure   bool   // noise from a seed: the epsilons hold for nobody
	Privacy    Privacy
	Findings   []record.Finding
	Released   []Artifact
	Groups     []Group
	Columns    []Column
	Tables     *Tables      // nil: no tables to compare
	Relations  *Relations   // nil: no association matrices
	Shares     []Point      // share of each category: X real, Y synthetic
	Projection *Projection  // nil: no principal components
	Curves     []Classifier // ROC and precision-recall
	LeftOut    []string     // parts of the page that are not there, each with its reason
}

// Privacy is the plan's bill.
type Privacy struct {
	Proven, Published *float64 // epsilon; nil: no such number
	Reason            string   // why nothing is proven
	Budget            float64  // epsilon asked for; +Inf: no privacy
	Delta             float64
	Adjacency         string
	Unit              string
	Accountant        string
	Claims            string
	ByAddition        *float64 // sum of the stages' own epsilons
	Spends            []Spend
}

// Spend is a mechanism with its stage and, on the stage's first line, what the stage costs.
type Spend struct {
	Stage string
	privacy.Line
	privacy.Cost
}

// Artifact is an output that may leave: a table, a model, files.
type Artifact struct {
	Name, Form, Class string
	Rows              int64 // 0: not known beforehand
	Columns           int
}

// Group is the figures of one stage.
type Group struct {
	Stage, Kind string
	Figures     []Figure
}

// Figure is one metric. NaN is undefined, and Note says why.
type Figure struct {
	Name, Column string
	Value        float64
	Note         string
}

// Tables says what was compared.
type Tables struct {
	RealRows, SyntheticRows int
	Real, Synthetic         string // names of the stages
}

// Column is one column of both tables, as shares of the rows that have a value.
// Labels name categories; without labels, Edges are the len(Real)+1 edges of
// bins.
type Column struct {
	Name, Type, Doc         string // Doc: what is publicly known of it
	Labels                  []string
	Edges                   []float64
	Real, Synthetic         []float64 // shares; empty where no row has a value
	Beyond                  int       // values outside the edges, counted in the end bins
	RealMissing             float64   // share of rows; NaN without rows
	SyntheticMissing        float64
	RealSummary, SynSummary Summary
}

// Summary of a column of numbers; NaN where undefined.
type Summary struct{ Mean, SD, Least, Median, Greatest float64 }

// Distance is the total variation between the bars, missing values being a bar
// of their own: 0 where they are equal, 1 where they are disjoint. NaN where a
// table has no rows.
func (c Column) Distance() float64 {
	if math.IsNaN(c.RealMissing) || math.IsNaN(c.SyntheticMissing) {
		return math.NaN()
	}
	sum := math.Abs(c.RealMissing - c.SyntheticMissing)
	for i := range max(len(c.Real), len(c.Synthetic)) {
		sum += math.Abs(at(c.Real, i)*(1-c.RealMissing) - at(c.Synthetic, i)*(1-c.SyntheticMissing))
	}
	return sum / 2
}

func at(x []float64, i int) float64 {
	if i < len(x) {
		return x[i]
	}
	return 0
}

// Relations holds the association of each pair of columns in both tables, NaN
// where undefined.
type Relations struct {
	Measure         string
	Names           []string
	Real, Synthetic [][]float64
}

// Point is a pair of values with what it stands for.
type Point struct {
	X, Y  float64
	Label string
}

// Projection is both tables on the first two principal components of the real
// one.
type Projection struct {
	Explained       [2]float64 // shares of variance
	Real, Synthetic []Point
	Note            string
}

// Classifier is one learner tested on real rows.
type Classifier struct {
	Name           string // such as "trained on synthetic rows"
	FPR, TPR       []float64
	Precision      []float64
	Recall         []float64
	AUROC, Average float64 // area under ROC; average precision
}
