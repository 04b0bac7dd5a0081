package noise

import "math/bits"

// wide is an unsigned integer of 128 bits, hi*2^64 + lo.
type wide struct{ hi, lo uint64 }

func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return wide{hi, lo}
}

func (a wide) twice() wide { return wide{a.hi<<1 | a.lo>>63, a.lo << 1} }

// Bernoulli returns true with probability exactly p, which must be in [0, 1]:
// above 1 is always true, a denominator of 0 always false.
func (st *Stream) Bernoulli(p Rational) bool { return st.bernoulli(wide{lo: p.Num}, wide{lo: p.Den}) }

// bernoulli returns true with probability exactly num/den, den < 2^127: it
// compares a uniform number with num/den bit by bit, in binary, until they
// differ, which takes two bits on average.
func (st *Stream) bernoulli(num, den wide) bool {
	if !num.less(den) {
		return den != wide{}
	}
	for {
		word := st.Uint64()
		for range 64 {
			num = num.twice()
			bit := uint64(0)
			if !num.less(den) {
				num, bit = num.minus(den), 1
			}
			if word&1 != bit {
				return word&1 < bit
			}
			word >>= 1
		}
	}
}

// BernoulliExp returns true with probability exactly exp(-x); false where x has
// no denominator. Num and Den must be below 2^63.
func (st *Stream) BernoulliExp(x Rational) bool {
	return x.Den != 0 && st.bernoulliExp(wide{lo: x.Num}, wide{lo: x.Den})
}

// bernoulliExp returns true with probability exactly exp(-num/den), by integers
// only (Canonne, Kamath, Steinke 2020, algorithm 1).
func (st *Stream) bernoulliExp(num, den wide) bool {
	for den.less(num) {
		if !st.bernoulliExpUnit(den, den) {
			return false
		}
		num = num.minus(den)
	}
	return st.bernoulliExpUnit(num, den)
}

// bernoulliExpUnit is bernoulliExp for num <= den: the index of the first
// failure among Bernoulli(x/1), Bernoulli(x/2), ... is odd with probability
// exp(-x). A coin of x/k is one of x and one of 1/k.
func (st *Stream) bernoulliExpUnit(num, den wide) bool {
	k := uint64(1)
	for st.bernoulli(num, den) && (k == 1 || st.Uint64n(k) == 0) {
		k++
	}
	return k&1 == 1
}

// wideQuotient returns floor((a + b) / s), at most 2^62.
func wideQuotient(a wide, b, s uint64) int64 {
	lo, carry := bits.Add64(a.lo, b, 0)
	hi := a.hi + carry
	if hi >= s {
		return 1 << 62
	}
	q, _ := bits.Div64(hi, lo, s)
	return int64(min(q, 1<<62))
}
