package weir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unequal lists functions whose last bits depend on the processor: they are assembly
// on some, and have fused sums on others (docs/design/bits.md). A package without names
// is listed whole.
func unequal() map[string][]string {
	return map[string][]string{
		"math": {"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Cbrt", "Cos", "Cosh", "Erf", "Erfc", "Erfcinv",
			"Erfinv", "Exp",
			"Exp2", "Expm1", "Gamma", "Hypot", "J0", "J1", "Jn", "Lgamma", "Log", "Log10", "Log1p", "Log2", "Pow", "Sin",
			"Sincos", "Sinh",
			"Tan", "Tanh", "Y0", "Y1", "Yn"},
		// A matrix of gonum may hold numbers, and not compute with them.
		matrices:                         {"Dot", "Inner", "Norm", "Sum", "Det", "LogDet", "Cond"},
		"math/cmplx":                     nil,
		"gonum.org/v1/gonum/dsp/fourier": nil,
		"gonum.org/v1/gonum/blas/blas32": nil,
		"gonum.org/v1/gonum/blas/blas64": nil,
		"gonum.org/v1/gonum/floats":      nil,
		"gonum.org/v1/gonum/lapack":      nil,
		"gonum.org/v1/gonum/mathext":     nil,
		"gonum.org/v1/gonum/optimize":    nil,
		"gonum.org/v1/gonum/stat":        nil,
		"gonum.org/v1/gonum/stat/distuv": nil,
	}
}

const matrices = "gonum.org/v1/gonum/mat"

// computing returns the methods of matrices that add products.
func computing() []string {
	return []string{"Factorize", "Mul", "MulVec", "RankOne", "SymRankOne", "SymRankK", "SymOuterK", "Outer", "Solve",
		"SolveTo", "SolveVec", "SolveVecTo",
		"AddScaledVec", "Inverse", "Product"}
}

// TestBitsAreOurs: what a run leaves is computed with internal/bitmath.
func TestBitsAreOurs(t *testing.T) {
	seen := 0
	for _, path := range sources(t) {
		if within(path, []string{bitmath + "/", "internal/stattest/", "pipeline/pipelinetest/",
			"train/internal/kernel/gen/"}) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for _, name := range unequalUses(f) {
			t.Errorf("%s uses %s, whose last bits depend on the processor", path, name)
		}
	}
	if seen < 50 {
		t.Errorf("only %d files were read", seen)
	}
}

// unequalUses lists what a file uses of unequal, whatever it calls the packages.
func unequalUses(f *ast.File) (found []string) {
	local := map[string]string{}
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		names, listed := unequal()[path]
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		switch {
		case listed && (names == nil || name == "."):
			found = append(found, path)
		case listed:
			local[name] = path
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := ast.Unparen(s.X).(*ast.Ident); ok && slices.Contains(unequal()[local[x.Name]], s.Sel.Name) {
				found = append(found, local[x.Name]+"."+s.Sel.Name)
			}
		}
		return true
	})
	for _, call := range methods(f, "NormFloat64", "ExpFloat64") {
		found = append(found, "math/rand/v2."+call)
	}
	if slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(matrices) }) {
		for _, call := range methods(f, computing()...) {
			found = append(found, matrices+"."+call)
		}
	}
	return found
}

// methods lists which of the names a file selects of anything.
func methods(f *ast.File, names ...string) (found []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(names, s.Sel.Name) {
			found = append(found, s.Sel.Name)
		}
		return true
	})
	return found
}

func TestUnequalUsesAreSeen(t *testing.T) {
	for _, source := range []string{
		"import \"math\"; var x = math.Exp(1)",
		"import m \"math\"; var f = (m).Pow",
		"import . \"math\"; var x = Exp(1)",
		"import \"gonum.org/v1/gonum/blas/blas64\"; var x = blas64.Dot",
		"import \"gonum.org/v1/gonum/mat\"; func f(q *mat.QR, a *mat.Dense) { q.Factorize(a) }",
		"import \"gonum.org/v1/gonum/mat\"; var x = mat.Inner(a, b, c)",
		"import \"math/rand/v2\"; func f(r *rand.Rand) float64 { return r.NormFloat64() }",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+source, 0)
		if err != nil || len(unequalUses(f)) == 0 {
			t.Errorf("%s: the check is blind (%v)", source, err)
		}
	}
}
