package source

import (
	"fmt"
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
)

// The model of a table of installed apps of the shape of Carat as Jälkö et al. 2021 use it:
// 66,754 users by 96 apps, the 100 most popular ones left out. The covariance is planted,
// since theirs is private: popularity falls with rank from a tenth to a hundredth of
// users; apps of one of eight clusters come together in users who have its taste, and all
// apps are rarer in half of the users, by activity a = 1 -+ appSpread. A user has app j with
// probability a times the one that taste gives, all apart from that independent: the covariance of
// j and k of one cluster is (1+appSpread²)(p_j p_k + t(1-t) d_j d_k) - p_j p_k, where t is
// tasteShare and d how much the taste adds to the share; without the d between clusters.
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

func caratDomain(int64) *domain.Domain {
	d := &domain.Domain{Columns: make([]domain.Column, apps)}
	for j := range d.Columns {
		d.Columns[j] = coded(fmt.Sprintf("app_%02d", j+1), domain.Boolean, "", "0", "1")
	}
	return d
}

// popularity returns the share of users with app j: log-linear in its rank.
func popularity(j int) float64 {
	fall := bitmath.Log(leastPopular / mostPopular)
	return float64(mostPopular * bitmath.Exp(float64(fall*float64(j))/(apps-1)))
}

// taste returns the shares of app j in users with and without the taste of its cluster
// j mod clusters; their mean over users is popularity(j).
func taste(j int) (with, without float64) {
	p := popularity(j)
	return float64(tasteRatio * p), float64(p*(1-tasteShare*tasteRatio)) / (1 - tasteShare)
}

func drawCarat() func(r *rand.Rand, _, _ int64, v []float64) {
	var including, excluded [apps]float64
	for j := range apps {
		including[j], excluded[j] = taste(j)
	}
	return inGroups(including[:], excluded[:], clusters, tasteShare, appSpread)
}
