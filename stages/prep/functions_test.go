package prep

import (
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// stays has two date-times, a date and a time: 2020-02-29T23:30 (a Saturday, second 1583019000 by date -u) with
// 2020-03-02T01:15 (a Monday, second 1583111700), and days before 1970: 1969-12-28 is a Sunday, day -4.
func stays() pipelinetest.Input {
	bounds := &[2]float64{-4 * secondsOfDay, 1583111700}
	return table([]domain.Column{
		{Name: "came", Type: domain.Datetime, Step: 60, Bounds: bounds, Nullable: true},
		{Name: "out-of", Type: domain.Datetime, Step: 60, Bounds: &[2]float64{0, 1583111700}},
		{Name: "born", Type: domain.Date, Bounds: &[2]float64{-4, 18293}}, {Name: "shift", Type: domain.Time, Step: 60},
		{Name: "stamp", Type: domain.Datetime, Step: 1, Zone: "UTC"}, {Name: "age", Type: domain.Integer},
	}, []any{1583019000, -4 * secondsOfDay, nil}, []any{1583111700, 60, 0}, []any{-4, 18292, 0}, []any{0, 86340, 45000},
		[]any{0, 0, 0}, []any{1, 2, 3})
}

// TestPartsOfDates: expected values by date -u, of which %u is the weekday. From 2020-02-29T23:30 to 2020-03-02T01:15
// there are two midnights and 25.75 hours; from 1969-12-28T00:00 to 1970-01-01T00:01 four, and 96 hours and a minute.
func TestPartsOfDates(t *testing.T) {
	nan := (*float64)(nil)
	for formula, want := range map[string][]*float64{
		`year(came)`:                         {pointer(2020), pointer(1969), nan},
		`month(came)`:                        {pointer(2), pointer(12), nan},
		`day(came)`:                          {pointer(29), pointer(28), nan},
		`weekday(came)`:                      {pointer(6), pointer(7), nan},
		`hour(came)`:                         {pointer(23), pointer(0), nan},
		`minute(came)`:                       {pointer(30), pointer(0), nan},
		`days_between(came, col("out-of"))`:  {pointer(2), pointer(4), nan},
		`hours_between(came, col("out-of"))`: {pointer(25.75), pointer(96 + 1./60), nan},
		`year(col("out-of"))`:                {pointer(2020), pointer(1970), pointer(1970)},
		`weekday(born)`:                      {pointer(7), pointer(5), pointer(4)},
		`hour(shift)`:                        {pointer(0), pointer(23), pointer(12)},
		`minute(shift)`:                      {pointer(0), pointer(59), pointer(30)},
		`days_between(born, came)`:           {pointer(18321 + 4), pointer(-4 - 18292), nan},
		`hour(came) >= 12 ? 1 : 0`:           {pointer(1), pointer(0), nan},
		`missing(came) ? -1 : hour(came)`:    {pointer(23), pointer(0), nan}, // every column named counts
		`minutes_between(shift,shift)`:       {pointer(0), pointer(0), pointer(0)},
		`hours_between(born, came) / 24`:     {pointer(18321 + 4 + 23.5/24), pointer(-4 - 18292), nan},
	} {
		t.Run(formula, func(t *testing.T) {
			out := pipelinetest.After(t, stays(), &Derive{Columns: []Derived{{Name: "x", Formula: formula, Type: domain.Numeric,
				Bounds: &[2]float64{-1e9, 1e9}}}})
			compare(t, "x", tolerance{Rel: 1e-14}, listed(t, columnNamed(out, "x")), want)
		})
	}
	out := pipelinetest.After(t, stays(), &Select{Columns: []string{"came", "out-of"}})
	compare(t, "the table itself", tolerance{}, listed(t, columnNamed(out, "came")), []*float64{pointer(1583019000),
		pointer(-4 * secondsOfDay), nan})
}

// TestBoundsOfPartsFollow: bounds of what is derived come from the bounds of the columns and the calendar, and not from
// rows: rows outside the bounds of their column are held to them.
func TestBoundsOfPartsFollow(t *testing.T) {
	for formula, want := range map[string]*[2]float64{
		`year(came)`: {1969, 2020}, `month(came)`: {1, 12}, `weekday(born)`: {1, 7}, `hour(shift)`: {0, 23},
		`days_between(born, came)`: {-4 - 18293, 18323 + 4}, `minutes_between(shift, shift)`: {-86399. / 60, 86399. / 60},
		`hours_between(came, stamp)`: nil, `year(came) + 1`: nil, `age`: nil,
	} {
		kind, in := domain.Integer, stays()
		if strings.HasPrefix(formula, "hours") || strings.HasPrefix(formula, "minutes") {
			kind = domain.Numeric
		}
		if strings.Contains(formula, "stamp") {
			in.Header.Domain.Columns[4].Zone = ""
		}
		work, err := (&Derive{Columns: []Derived{{Name: "x", Formula: formula, Type: kind}}}).Plan(pipeline.Headers{
			"in": in.Header})
		if err != nil {
			t.Fatal(err)
		}
		got := work.Out["out"].Domain.Column("x").Bounds
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: bounds %v, must be %v", formula, got, want)
		}
	}
	in := table([]domain.Column{{Name: "at", Type: domain.Date, Bounds: &[2]float64{0, 364}}}, []any{-400, 100, 4000})
	out := pipelinetest.After(t, in, &Derive{Columns: []Derived{{Name: "x", Formula: "year(at)", Type: domain.Integer}}})
	compare(t, "years outside the bounds", tolerance{}, listed(t, columnNamed(out, "x")), []*float64{pointer(1970),
		pointer(1970), pointer(1970)})
}

// TestPartsOfOthersAreRefused before any row.
func TestPartsOfOthersAreRefused(t *testing.T) {
	for formula, want := range map[string]string{
		`hour(born)`:                 "asking for the hour of born, which is date",
		`year(shift)`:                "asking for the year of shift, which is time",
		`weekday(age)`:               "asking for the weekday of age, which is integer",
		`days_between(born, age)`:    "asking for the days of age, which is integer",
		`hours_between(shift, came)`: "a difference of shift and came, which are of no common clock",
		`hours_between(stamp, came)`: "a difference of stamp and came, which are of no common clock",
		`year(nobody)`:               "nobody",
		`century(came)`:              "year, month, day, weekday, hour or minute(column)",
		`days_between(came)`:         "a call of the unknown function \"days_between\"",
	} {
		_, err := (&Derive{Columns: []Derived{{Name: "x", Formula: formula, Type: domain.Integer}}}).Plan(pipeline.Headers{
			"in": stays().Header})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must hold %q", formula, err, want)
		}
	}
}
