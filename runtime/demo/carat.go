package demo

import (
	"fmt"
	"math/rand/v2"

	"weir/internal/portable"
	"weir/pipeline"
)

// The model of a table of installed apps of the shape of Carat as Jälkö et al. 2021 use it:
// 66,754 users by 96 apps, the 100 most popular ones left out. The covariance is planted
// (see appCovariance), since theirs is private: popularity falls with rank from a tenth
// to a hundredth of users; apps of one of eight clusters come together in users who
// have its taste, and all apps are rarer in half of the users.
const (
	caratRows    = 66_754
	apps         = 96
	clusters     = 8
	tasteShare   = 0.2 // of users who have the taste of a cluster
	tasteRatio   = 3   // how much more frequent its apps are in them than in all
	appSpread    = 0.4 // of frequencies between the two halves of users
	mostPopular  = 0.1
	leastPopular = 0.01
)

func caratDomain(int64) *pipeline.Domain {
	d := &pipeline.Domain{Columns: make([]pipeline.Column, apps)}
	for j := range d.Columns {
		d.Columns[j] = coded(fmt.Sprintf("app_%02d", j+1), pipeline.Boolean, "", "0", "1")
	}
	return d
}

// popularity is the share of users with app j: log-linear in its rank.
func popularity(j int) float64 {
	fall := portable.Log(leastPopular / mostPopular)
	return float64(mostPopular * portable.Exp(float64(fall*float64(j))/(apps-1)))
}

// taste returns the shares of app j in users with and without the taste of its cluster
// j mod clusters; their mean over users is popularity(j).
func taste(j int) (with, without float64) {
	p := popularity(j)
	return float64(tasteRatio * p), float64(p*(1-tasteShare*tasteRatio)) / (1 - tasteShare)
}

// appCovariance is the planted truth: a user has each taste with probability tasteShare, is
// in the half of either activity a = 1 - appSpread, 1 + appSpread, and then has app j with
// probability a times that of taste, independently. Activity has mean 1 and mean square 1 +
// appSpread², so that E[x_j x_k] is the latter times the mean of the product of shares.
func appCovariance(j, k int) float64 {
	pj, pk := popularity(j), popularity(k)
	if j == k {
		return float64(pj * (1 - pj))
	}
	both := float64(pj * pk)
	if j%clusters == k%clusters {
		wj, oj := taste(j)
		wk, ok := taste(k)
		both += float64(float64(tasteShare*(1-tasteShare)*(wj-oj)) * (wk - ok))
	}
	return float64((1+appSpread*appSpread)*both) - float64(pj*pk)
}

func drawCarat() func(r *rand.Rand, _, _ int64, v []float64) {
	var with, without [apps]float64
	for j := range apps {
		with[j], without[j] = taste(j)
	}
	return func(r *rand.Rand, _, _ int64, v []float64) {
		activity := 1 - appSpread + 2*float64(appSpread*chance(r, 0.5))
		var has [clusters]bool
		for g := range has {
			has[g] = r.Float64() < tasteShare
		}
		for j := range v {
			p := without[j]
			if has[j%clusters] {
				p = with[j]
			}
			v[j] = chance(r, activity*p)
		}
	}
}
