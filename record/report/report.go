// Package report draws the report of a run: plain figures go in, one page of
// HTML with its plots in line and the same plots as SVG and PNG come out. It is
// pure: equal input gives equal bytes, and nothing is read from anywhere.
package report

import (
	"weir/pipeline"
	"weir/privacy"
	"weir/record"
)

// Report is everything that the page shows.
type Report struct {
	Name       string // of the pipeline
	Source     string // the dataset, in words
	Compared   bool   // two files, of which the page says neither what made them nor under which epsilon
	Sample     int64  // real rows behind figures and plots at most, where others may not leave a database; 0: all
	Insecure   bool   // noise from a seed: the epsilons hold for nobody
	Privacy    Privacy
	Findings   []record.Finding
	Released   []Artifact
	Groups     []Group
	Columns    []Column
	Variation  string       // how the total variation of the columns is measured
	Tables     *Tables      // nil: no tables to compare
	Relations  *Relations   // nil: no association matrices
	Shares     []Point      // share of each category: X real, Y synthetic
	SharesPair string       // title of the figures (pipeline.Figure.Pair) that Shares shows too
	Projection *Projection  // nil: no principal components
	Curves     []Classifier // ROC and precision-recall
	Groupings  []Grouping   // rows by the categories of columns
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
	Declared    pipeline.Figures // by the kind; a figure that is not declared is a plain number
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
	Name, Type, Doc         string  // Doc: what is publicly known of it
	TotalVariation          float64 // of all its values, not of the bars that are drawn; NaN where undefined
	Labels                  []string
	Edges                   []float64
	Real, Synthetic         []float64 // shares; empty where no row has a value
	Beyond                  int       // values outside the edges, counted in the end bins
	RealMissing             float64   // share of rows; NaN without rows
	SyntheticMissing        float64
	RealSummary, SynSummary Summary
	Spike                   *Spike        // nil: every value is in a bin
	Linear                  float64       // 0: an even axis; else x stands at asinh(x/Linear), logarithmic beyond it
	Distribution            *Distribution // of a long tail; nil: none is drawn
}

// Spike is a value that so many rows have that the bins, which leave it out, would show nothing beside it.
type Spike struct{ Value, Real, Synthetic float64 } // shares of the rows that have a value

// Distribution holds the shares of values of both tables that are at most At, ascending; empty for a table
// without values.
type Distribution struct{ At, Real, Synthetic []float64 }

// Summary of a column of numbers; NaN where undefined.
type Summary struct{ Mean, SD, Least, Median, Greatest float64 }

// Relations holds the association of each pair of columns in both tables, NaN
// where undefined.
type Relations struct {
	Measure         string
	Names           []string
	Real, Synthetic [][]float64
	Beyond          [][]bool // whether a pair changed by more than fresh real rows would; nil where that is not known
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
	Low, High      float64 // interval of the AUROC; both 0 where there is none
}
