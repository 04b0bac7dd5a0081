package pld

import (
	"math"
	"sort"

	"weir/internal/bitmath"
	"weir/privacy"
)

// atom is an outcome with mass p under P and q under Q; loss is ln(p/q). The
// three are kept apart because p or q may underflow where the loss does not.
type atom struct{ p, q, loss float64 }

// pair is a pair of distributions (P, Q) with finitely many outcomes, in
// ascending order of loss. In the upper mode its hockey-stick divergence is at
// least the divergence of the mechanism at every order (it dominates, Zhu, Dong and Wang
// 2022, definition 7); in the lower mode it is a post-processing of the
// mechanism's pair, so its divergence is at most that.
type pair struct {
	atoms     []atom
	inf       float64 // mass of P where Q has none: infinite loss
	gap       float64 // mass of Q where P has none
	bound     float64 // the largest finite loss of the mechanism, +Inf where none
	lattice   float64 // atoms worth a grid point are multiples of it; 0 where none
	exact     bool    // all atoms are
	symmetric bool    // (Q, P) has the same divergence as (P, Q)

	// moment, where set, bounds ln E[e^(t loss)] of the mechanism below what the
	// atoms say, in both directions: for pairs that no one mechanism attains at every
	// order.
	moment func(t float64) float64
}

// swap returns (Q, P).
func (p *pair) swap() *pair {
	if p.symmetric {
		return p
	}
	s := &pair{inf: p.gap, gap: p.inf, bound: math.Inf(1), lattice: p.lattice, exact: p.exact, moment: p.moment}
	s.atoms = make([]atom, len(p.atoms))
	for i, a := range p.atoms {
		s.atoms[len(p.atoms)-1-i] = atom{a.q, a.p, -a.loss}
	}
	if !math.IsInf(p.bound, 1) {
		s.bound = s.largest()
	}
	return s
}

func (p *pair) largest() float64 {
	if len(p.atoms) == 0 {
		return 0
	}
	return p.atoms[len(p.atoms)-1].loss
}

// mixed returns ln(1 - q + q e^t), precise for small q and for large t. The form for
// large t subtracts -ln q from t: it serves only where more than 1 is left of it, or
// losses of 1e-40 would drown in 1e-14 of rounding and come out in no order.
func mixed(q, t float64) float64 {
	switch {
	case q == 0:
		return 0
	case t > 30 && t+bitmath.Log(q) > 1:
		return bitmath.Log(q) + t + bitmath.Log1p((1-q)/q*bitmath.Exp(-t))
	case t > 30: // q e^t is at most e, where e^t itself may be too large for a float
		return bitmath.Log1p(bitmath.Exp(t+bitmath.Log(q)) - q)
	}
	return bitmath.Log1p(q * bitmath.Expm1(t))
}

// mixP returns (qP + (1-q)Q, Q): the pair of removal under Poisson sampling at
// rate q of a mechanism with pair (P, Q) (Zhu, Dong and Wang 2022, theorem 11).
func (p *pair) mixP(q float64) *pair {
	m := &pair{inf: q * p.inf, bound: mixed(q, p.bound), moment: p.sampledMoment(q)}
	if math.IsInf(p.bound, 1) {
		m.bound = p.bound
	}
	if p.gap > 0 {
		m.atoms = append(m.atoms, atom{(1 - q) * p.gap, p.gap, bitmath.Log1p(-q)})
	}
	for _, a := range p.atoms {
		m.atoms = append(m.atoms, atom{float64(q*a.p) + float64((1-q)*a.q), a.q, mixed(q, a.loss)})
	}
	return m
}

// sampledMoment returns moment for a sample at rate q: the moment is jointly convex over
// the coin that both tables share.
func (p *pair) sampledMoment(q float64) func(float64) float64 {
	if p.moment == nil {
		return nil
	}
	return func(t float64) float64 { return mixed(q, p.moment(t)) }
}

// symmetrise returns the pair whose divergence is p's at orders of at
// least 1 and the divergence of (Q, P) below 1: the profile to compose where a neighbour
// may be on either side (Zhu, Dong and Wang 2022, section 5).
func (p *pair) symmetrise() *pair { return p.coupled(1) }

// coupled returns the symmetrised pair of a Poisson sample at rate q of any
// mechanism with pair p for a replacement: both tables share the coin, with 1-q the
// outputs are alike, so that at orders of at least 1 the divergence is at most q
// times the divergence of p.
func (p *pair) coupled(q float64) *pair {
	s := &pair{inf: q * p.inf, gap: q * p.inf, bound: p.bound, symmetric: true, moment: p.sampledMoment(q)}
	rest := 1 - s.inf
	var up []atom
	for _, a := range p.atoms {
		if a.loss > 0 {
			a.p, a.q = float64(q*a.p), float64(q*a.q)
			up = append(up, a)
			rest -= a.p + a.q
		}
	}
	for i := len(up) - 1; i >= 0; i-- {
		s.atoms = append(s.atoms, atom{up[i].q, up[i].p, -up[i].loss})
	}
	if rest > 0 {
		s.atoms = append(s.atoms, atom{rest, rest, 0})
	}
	s.atoms = append(s.atoms, up...)
	if len(up) == 1 {
		s.lattice, s.exact = up[0].loss, true
	}
	return s
}

// maxOf returns a pair that dominates every one of ps: the chords of the largest
// of their divergences between the atoms of all. Only for the upper mode.
func maxOf(ps []*pair) *pair {
	var losses []float64
	m := &pair{symmetric: true}
	for _, p := range ps {
		for _, a := range p.atoms {
			losses = append(losses, a.loss)
		}
		m.bound = math.Max(m.bound, p.bound)
		m.symmetric = m.symmetric && p.symmetric
	}
	sort.Float64s(losses)
	eps := losses[:0]
	for _, l := range losses {
		if len(eps) == 0 || l > eps[len(eps)-1]+1e-12 {
			eps = append(eps, l)
		}
	}
	delta := make([]float64, len(eps))
	for _, p := range ps {
		for i, d := range p.divergences(eps) {
			delta[i] = math.Max(delta[i], d)
		}
	}
	m.atoms, m.inf = hull(eps, delta)
	return m
}

// divergences returns sum (p - e^eps q)+ at each of the ascending eps.
func (p *pair) divergences(eps []float64) []float64 {
	out := make([]float64, len(eps))
	j, a, b := len(p.atoms)-1, p.inf, 0.0
	for i := len(eps) - 1; i >= 0; i-- {
		for j >= 0 && p.atoms[j].loss > eps[i] {
			a, b, j = a+p.atoms[j].p, b+p.atoms[j].q, j-1
		}
		out[i] = math.Max(0, a-float64(b*bitmath.Exp(eps[i])))
	}
	return out
}

// precision returns R^2 = sum 1/s_i^2 of Gaussians that share one sample. Together
// they are one Gaussian of multiplier 1/R, also where a release depends on those
// before it: for add_remove and fixed samples that is the composition of their
// unsampled pairs. For an exchange under Poisson sampling it is the following.
//
// Setting. Release i is a sum over the sampled rows plus N(0, s_i^2 I); what a row
// adds is a function of that row and of the releases before, of norm at most 1. One
// row is x in one table and x' in the other; it is in the sample with probability q,
// once for all releases. Claim: at every order a the hockey-stick divergence is at
// most the divergence of the antipodal pair qN(R,1)+(1-q)N(0,1), qN(-R,1)+(1-q)N(0,1).
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
