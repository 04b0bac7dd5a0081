package payment

import (
	"testing"

	"weir/pipeline/domain"
)

// TestReadingOfTimesIsPartOfTheRecipe: a stored NaT is missing since it is 1, so recipes from before are of other rows,
// where there are times; recipes of other tables are as they were.
func TestReadingOfTimesIsPartOfTheRecipe(t *testing.T) {
	for kind, want := range map[domain.ColumnType]int{domain.Datetime: 1, domain.Time: 1, domain.Date: 0,
		domain.Integer: 0, domain.Text: 0} {
		d := &domain.Domain{Columns: []domain.Column{{Name: "n", Type: domain.Integer}, {Name: "x", Type: kind, Step: 1}}}
		if got := timesOf(d); got != want {
			t.Errorf("%s: %d, must be %d", kind, got, want)
		}
	}
}
