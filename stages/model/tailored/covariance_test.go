package tailored

import (
	"math"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
)

// TestPublishedCovarianceIsCharged: the noise of one query of T is the printed one, and the
// event is the event of T Gaussian releases whose sensitivity has the diagonal: for d = 3 the
// published one is sqrt(3), the true one sqrt(6) (and 4 units of 2^16 for rounding).
func TestPublishedCovarianceIsCharged(t *testing.T) {
	s := covarianceOf(func(s *Covariance) { s.Mechanism, s.Queries = "published", 5 })().(*Covariance)
	w, err := s.Plan(pipeline.Headers{"in": ward(40).Header})
	must(t, err)
	const scale = 7.0
	g := w.Spends[0].Mechanism(scale).Event(privacy.ReplaceOne).(privacy.Gaussian)
	mu := 2 / g.NoiseMultiplier
	if want := math.Sqrt(5) * math.Sqrt(6./3) / scale; math.Abs(mu/want-1) > 1e-4 || mu < want {
		t.Errorf("mu of all queries is %.9g, must be %.9g or a little more", mu, want)
	}
	eps, err := w.Pricing.Published.Epsilon(scale, 1e-5)
	must(t, err)
	if want := 5 * math.Sqrt(2*math.Log(1.25/1e-5)) / scale; math.Abs(eps-want) > 1e-12 {
		t.Errorf("the published epsilon is %g, must be %g", eps, want)
	}
}

// TestCovarianceSettings: all that is wrong is told at once, of public facts alone.
func TestCovarianceSettings(t *testing.T) {
	in := ward(40)
	in.Header.Rows, in.Header.Terms.Claims = 0, pipeline.ClaimsProven
	s := covarianceOf(func(s *Covariance) {
		s.Columns, s.Mechanism = []string{"age", "dose", "region", "score", "agee"}, "published"
	})()
	_, err := s.Plan(pipeline.Headers{"in": in.Header})
	if err == nil {
		t.Fatal("is accepted")
	}
	for _, want := range []string{"columns[1]: is dose, which may be missing",
		"columns[2]: is region, which may be missing", "columns[3]: is score, a number without bounds",
		`columns[4]: is "agee", an unknown column of the table`, "claims: proven", "number of rows is private"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "40") {
		t.Errorf("the private number of rows is told: %v", err)
	}
}

// TestCovarianceOfAllColumns: without a list it is the covariance of all columns in their order, and a column
// that has no place in one is told by its name.
func TestCovarianceOfAllColumns(t *testing.T) {
	in, all := ward(40), []string{}
	for _, c := range in.Header.Domain.Columns {
		all = append(all, c.Name)
	}
	describe := func(names []string) string {
		_, err := covarianceOf(func(s *Covariance) { s.Columns = names })().(*Covariance).Plan(pipeline.Headers{
			"in": in.Header})
		if err == nil {
			t.Fatal("columns that may be missing are accepted")
		}
		return err.Error()
	}
	if got, want := describe(nil), describe(all); got != want || !strings.Contains(got, "region, which may be missing") {
		t.Errorf("without a list it is\n%s\nmust be\n%s", got, want)
	}
}
