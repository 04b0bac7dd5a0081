package ask

// What can be asked.
const (
	Count      = "count"
	Mean       = "mean"
	Quantile   = "quantile"
	Histogram  = "histogram"
	Covariance = "covariance"
)

// Question is one question of a spec, about the rows that meet all of Where.
type Question struct {
	Name     string      `yaml:"name" json:"name" required:"true" minLength:"1" doc:"What the answer is called; unique in the list."`
	Ask      string      `yaml:"ask" json:"ask" required:"true" enum:"count|mean|quantile|histogram" doc:"The number of rows, the mean or a quantile of a bounded column, or rows by category or bin of a column."`
	Column   string      `yaml:"column,omitempty" json:"column,omitempty" format:"column" doc:"The column that is asked about; a count has none."`
	Quantile float64     `yaml:"quantile,omitempty" json:"quantile,omitempty" exclusiveMin:"0" exclusiveMax:"1" doc:"Which quantile: 0.5 is the median."`
	Edges    []float64   `yaml:"edges,omitempty" json:"edges,omitempty" minItems:"2" doc:"Edges of a histogram's bins of a number, ascending: each bin holds its lower edge, the last one both. Values outside are counted in no bin."`
	Where    []Condition `yaml:"where,omitempty" json:"where,omitempty" doc:"Conditions on the rows that are asked about; a row has to meet all."`
}

// Condition is met by rows whose value of a column is one of In, or lies from From to To.
// A missing value meets none.
type Condition struct {
	Column string   `yaml:"column" json:"column" required:"true" format:"column" doc:"The column that decides."`
	In     []string `yaml:"in,omitempty" json:"in,omitempty" minItems:"1" unique:"true" doc:"Categories that meet the condition."`
	From   *float64 `yaml:"from,omitempty" json:"from,omitempty" doc:"Least number that meets the condition."`
	To     *float64 `yaml:"to,omitempty" json:"to,omitempty" doc:"Greatest number that meets the condition."`
}

// Asked is a question with the public facts that its answer rests on, so that it can be
// asked of any table that has its columns.
type Asked struct {
	Question
	Columns []string     `json:"columns,omitempty"` // of a covariance
	Bounds  [][2]float64 `json:"bounds,omitempty"`  // of Column, or of each of Columns; categories of a covariance are 0 and 1
	Step    float64      `json:"step,omitempty"`    // between the values that a quantile is picked from
	Cells   []string     `json:"cells,omitempty"`   // of a histogram, in the order of their counts
	Missing bool         `json:"missing,omitempty"` // the last cell counts missing values
	Rows    int64        `json:"rows,omitempty"`    // of the table, where that is public and is not asked; else 0
}
