package metric

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"weir/internal/stattest"
)

// goldenCase is one case of schema golden-metrics/1 (testdata/golden/METRICS.md section 2).
type goldenCase struct {
	ID, Kind      string
	Params, Input json.RawMessage
	Expected      map[string]any
	Tol           tolerance
	TolFields     map[string]tolerance `json:"tol_fields"`
}

type tolerance struct{ Abs, Rel float64 }

// handler computes what a case of one kind expects.
type handler func(t *testing.T, c goldenCase) map[string]any

// handlers returns all kinds of the files that these tests own.
func handlers() map[string]map[string]handler {
	return map[string]map[string]handler{
		"marginals_1way.json": {
			"categorical_distance": categoricalDistance, "numeric_distance": numericDistance,
			"discrete_distance": discreteDistance,
			"ks":                ksCase, "wasserstein": wassersteinCase,
		},
		"marginals_kway.json": {
			"counts": outsideCounts, "kway_marginal": kWay, "marginal_workload": workload, "bin_index": binIndex,
		},
		"associations.json": {
			"correlation_matrix": correlationMatrix, "categorical_association": categoricalAssociation,
			"mutual_information":        mutualInformation,
			"mutual_information_binned": mutualInformationBinned, "correlation_ratio": correlationRatio,
			"association_matrix": associationMatrix,
			"matrix_difference":  matrixDifference, "correlation_undefined": correlationUndefined,
		},
		"projection_pca.json": {"pca": pcaCase},
		"distinguish_privacy.json": {
			"covariance_distance": covarianceDistance, "pmse": pmse, "discriminator": discriminator,
			"nearest_neighbour": goldenNearest,
			"identical_match":   identical, "nearest_neighbour_small": nearestSmall, "percentile": percentiles,
		},
	}
}

// ignored reports whether a field is one of those that nothing has to reproduce (METRICS.md sections 2 and 7): traps,
// figures of one release of a library, and SciPy's asymptotic p-value, of which
// METRICS.md says to pick one: weir gives the exact one, and the limit where the
// exact one is out of reach. Yates' correction documents a difference (METRICS.md
// section 12, item 17); odds ratio and Fisher's test are no figures of that page.
// No kind gives a goodness of fit, or weighs the values of a Wasserstein distance.
func ignored(field string) bool {
	switch field {
	case "chi2_yates", "p_value_yates", "odds_ratio", "fisher_p", "ks_p_asymptotic_scipy", "library_message",
		"chi2_goodness_of_fit", "weighted":
		return true
	}
	return strings.HasPrefix(field, "trap_") || strings.Contains(field, "scikit_learn_1_2_1") || strings.Contains(field,
		"_pandas_")
}

func TestGolden(t *testing.T) {
	for file, kinds := range handlers() {
		t.Run(file, func(t *testing.T) {
			var set struct{ Cases []goldenCase }
			stattest.LoadGolden(t, file, &set)
			checkCases(t, set.Cases, kinds)
		})
	}
}

// TestKept runs the reference cases that are copied from testdata/golden, each
// under its file, so that a fresh clone is tested.
func TestKept(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var sets map[string][]goldenCase
	if err := json.Unmarshal(data, &sets); err != nil {
		t.Fatal(err)
	}
	for file, cases := range sets {
		t.Run(file, func(t *testing.T) { checkCases(t, cases, handlers()[file]) })
	}
}

func checkCases(t *testing.T, cases []goldenCase, kinds map[string]handler) {
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			f := kinds[c.Kind]
			if f == nil {
				t.Fatalf("nobody handles cases of kind %s", c.Kind)
			}
			got := f(t, c)
			c.compare(t, "", c.Tol, c.Expected, plainMap(got))
		})
	}
}

// compare holds got against want, field by field.
func (c goldenCase) compare(t *testing.T, path string, tol tolerance, want, got any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s: is %v, must be %v", path, got, want)
			return
		}
		for field, v := range w {
			if ignored(field) {
				continue
			}
			inner := tol
			if special, ok := c.TolFields[field]; ok {
				inner = special
			}
			if _, ok := g[field]; !ok {
				t.Errorf("%s.%s: is not computed", path, field)
				continue
			}
			c.compare(t, path+"."+field, inner, v, g[field])
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			t.Errorf("%s: has the form of %v, must be that of %v", path, got, want)
			return
		}
		for i := range w {
			c.compare(t, path, tol, w[i], g[i])
		}
	case float64:
		g, ok := got.(float64)
		if !ok || !(math.Abs(g-w) <= tol.Abs+tol.Rel*math.Abs(w)) {
			t.Errorf("%s: is %v, must be %v within %v", path, got, want, tol)
		}
	default:
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: is %v, must be %v", path, got, want)
		}
	}
}

func plainMap(m map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = plain(reflect.ValueOf(v))
	}
	return out
}

// plain returns v in the types that JSON decodes to: null for NaN, a word for an
// infinite number.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Invalid:
		return nil
	case reflect.Interface:
		return plain(v.Elem())
	case reflect.Map:
		m := map[string]any{}
		for _, k := range v.MapKeys() {
			m[k.String()] = plain(v.MapIndex(k))
		}
		return m
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	case reflect.Int, reflect.Int64:
		return float64(v.Int())
	case reflect.Float64:
		return number(v.Float())
	}
	return v.Interface()
}

func number(x float64) any {
	switch {
	case math.IsNaN(x):
		return nil
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return x
}

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
