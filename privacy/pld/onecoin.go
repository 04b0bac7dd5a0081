package pld

import (
	"math"

	"weir/privacy"
)

// precision returns R^2 = sum 1/s_i^2 of Gaussians that share one sample. Together
// they are one Gaussian of multiplier 1/R, also where a release depends on those
// before it: for add_remove and fixed samples that is the composition of their
// unsampled pairs. For an exchange under Poisson sampling it is the following.
//
// Setting. Release i is a sum over the sampled rows plus N(0, s_i^2 I); what a row
// adds is a function of that row and of the releases before, of norm at most 1. One
// row is x in one table and x' in the other; it is in the sample with probability q,
// once for all releases. Claim: at every order a the hockey-stick divergence is at
// most that of the antipodal pair qN(R,1)+(1-q)N(0,1), qN(-R,1)+(1-q)N(0,1).
//
// Proof. (1) Give away which other rows are in the sample; the law of that is the
// same for both tables, and the divergence jointly convex. What those rows add to
// release i is then known from the releases before: take it off and divide by s_i.
// Left is a standard normal vector Z_i, plus nothing where the row is out, u_i where
// x is in, v_i where x' is in; u_i and v_i are functions of the releases before, of
// norm at most r_i = 1/s_i.
//
// (2) Let X_i and Y_i be the likelihood ratios of the first i releases with x in and
// with x' in, over those with the row out, under which the Z_i are independent:
// X_i = X_{i-1} exp(u_i Z_i - |u_i|^2/2), and Y_i likewise with v_i. The divergence is
// E g(X_k, Y_k), g(x, y) = max(0, (1-q)(1-a) + q x - a q y).
//
// (3) Call F good where it is convex in x, convex in y, and F_xy <= 0. g is: a convex
// function of what grows linearly with x and falls linearly with y (where it has a
// kink, as a limit of smooth ones). F(cx, dy) with c, d >= 0 is good where F is, and
// so are mixtures of good functions.
//
// (4) One release. For good F, |u| and |v| at most r, and N standard normal,
// E F(x e^(uZ-|u|^2/2), y e^(vZ-|v|^2/2)) <= F_r(x, y) := E F(x e^(rN-r^2/2), y e^(-rN-r^2/2)).
// For uZ and vZ are normal with variances |u|^2, |v|^2 and covariance uv, on the
// right r^2, r^2 and -r^2. Move from the first covariance to the second on a line
// (Kahane's interpolation): with X and Y the two arguments, E F changes at the rate
//
//	E[(r^2-|u|^2) X^2 F_xx - 2(r^2+uv) XY F_xy + (r^2-|v|^2) Y^2 F_yy] / 2,
//
// in which no term is negative, because uv >= -r^2.
//
// (5) By (4), E[g(X_k, Y_k) | the first k-1] <= g_r(X_{k-1}, Y_{k-1}) with r = r_k, and
// g_r is good by (3): so on to the first release. There E g(e^(M-R^2/2), e^(-M-R^2/2))
// is left with M normal of variance R^2: the divergence of the antipodal pair. Two
// rows that add opposite unit vectors everywhere attain it.
//
// For one release this is the pair of Schuchardt, Stoian, Kosmala and Guennemann 2024
// and twinify's substitute relation.
func precision(e privacy.Event, path string) (float64, error) {
	leaves, err := walk(e, path, 1, privacy.ReplaceOne)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, l := range leaves[0] {
		g, ok := l.event.(privacy.Gaussian)
		if len(leaves) > 1 || !ok {
			return 0, unsupported(path+"."+privacy.Name(e), "only Gaussian events may share one sample")
		}
		sum += math.Max(float64(l.count)/square(g.NoiseMultiplier), math.SmallestNonzeroFloat64)
	}
	return sum, nil
}

func square(x float64) float64 { return x * x }
