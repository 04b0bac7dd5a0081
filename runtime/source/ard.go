package source

import (
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
)

// ardRows follow the model of a study of the shape of the one in Jälkö et al. 2021: 208,148 women and
// 226,372 men, about half of them treated for diabetes, followed until they die or the
// study ends; which of them die an alcohol-related death (ARD). Published are the numbers
// of rows and of deaths by sex, the cases by drug, and the coefficients of the drugs (their
// table, column "original"), which are the truth here. Shares of drugs follow from
// cases and coefficients. All else, marked ours, is made up so that
// adjusting matters: the drugs go with age, and so does death.
//
// Deaths of either cause come at constant rates per follow-up, so that the first one ends a
// row's duration and the likelihood is the likelihood of a Poisson regression of ard on the covariates
// with offset log(duration): the coefficients below are what such a regression estimates,
// but for duration being rounded up to thousandths. Structural zeros: who is alive has no
// ARD and the whole duration, 1; men have no g03.
const ardRows = 208_148 + 226_372

const firstYear, lastYear = 1998, 2008

func ardDomain(int64) *domain.Domain {
	flag := func(name, doc string) domain.Column { return coded(name, domain.Boolean, doc, "0", "1") }
	duration := domain.Column{Name: "duration", Type: domain.Numeric, Bounds: bounds(0.001, 1), Step: 0.001,
		Source: "public",
		Doc:    "Time until death or the end of the study, as a share of the time left at entry; 1 for who is alive."}
	return &domain.Domain{Columns: []domain.Column{
		coded("sex", domain.Categorical, "", "female", "male"),
		flag("dead", "Died during the study."),
		coded("drug", domain.Categorical, "Diabetes drugs: none, oral (OAD), oral and insulin, insulin.", "none", "oad",
			"oad_insulin", "insulin"),
		coded("age", domain.Ordinal, "Age group at entry, years.", "under_40", "40_49", "50_59", "60_69", "70_79",
			"80_and_over"),
		whole("year", firstYear, lastYear, "Year of entry."),
		flag("statin", "Buys statins."),
		flag("g03", "Buys sex hormones (ATC group G03); women only."),
		flag("cancer", "Has had cancer."),
		duration,
		flag("ard", "Died an alcohol-related death."),
	}}
}

// ardSex is what the model has for one sex.
type ardSex struct {
	share     float64
	drugs     [4]float64 // shares of drugs
	effect    [4]float64 // log rate ratios of ARD: the published coefficients
	intercept float64    // of the log rate of ARD
	other     float64    // of the log rate of other deaths
}

// ardSexes: cases by drug are 137, 254, 12, 117 women and 714, 1052, 66, 480 men, of whom those
// without drugs are the published 520 and 2312 less the others. Shares and intercepts are the
// solution at which the expected cases are those and 40,391 women and 44,789 men die.
func ardSexes() [2]ardSex {
	return [2]ardSex{
		{208_148. / ardRows, [4]float64{.4409, .4645, .0170, .0775}, [4]float64{0, .657, .873, 1.68}, -6.083, -1.835},
		{226_372. / ardRows, [4]float64{.4306, .4495, .0235, .0964}, [4]float64{0, .435, .582, 1.209}, -4.554, -1.866},
	}
}

// hazard is the log rate of a cause of death less its intercept: by age group, per year
// after firstYear, by flags, and for any drug. Both are ours.
type hazard struct {
	age                                   [6]float64
	perYear, statin, g03, cancer, treated float64
}

func (h *hazard) log(age int, years, statin, g03, cancer, treated float64) float64 {
	return h.age[age] + float64(h.perYear*years) + float64(h.statin*statin) + float64(h.g03*g03) +
		float64(h.cancer*cancer) + float64(h.treated*treated)
}

// hazards returns the hazards of ARD, to which the effect of the drug comes, and of other deaths.
func hazards() (ard, other hazard) {
	return hazard{[6]float64{-0.4, 0.2, 0.4, 0, -0.7, -1.6}, -0.03, -0.5, -0.3, 0.1, 0},
		hazard{[6]float64{-2.4, -1.7, -1, 0, 0.9, 1.7}, -0.02, -0.2, -0.1, 0.6, 0.3}
}

func drawARD() func(r *rand.Rand, _, _ int64, v []float64) {
	sexes := ardSexes()
	byARD, byOther := hazards()
	return func(r *rand.Rand, _, _ int64, v []float64) {
		man := chance(r, sexes[1].share)
		s := &sexes[int(man)]
		drug := pick(s.drugs[:], r.Float64())
		treated := float64(min(1, drug))
		age := pick(ageShares(drug), r.Float64())
		years := math.Floor(float64((lastYear - firstYear + 1) * r.Float64()))
		statin := chance(r, 0.15+float64(0.25*treated))
		g03 := float64((1 - man) * chance(r, [6]float64{0.1, 0.25, 0.35, 0.2, 0.1, 0.05}[age]))
		cancer := chance(r, 0.02+float64(0.02*float64(age)))
		rate := bitmath.Exp(s.intercept + s.effect[drug] + byARD.log(age, years, statin, g03, cancer, treated))
		other := bitmath.Exp(s.other + byOther.log(age, years, statin, g03, cancer, treated))
		dead, duration, ard := 0.0, -bitmath.Log(1-float64(r.Float64()))/(rate+other), 0.0
		if u := r.Float64(); duration < 1 {
			dead = 1
			if float64(u*(rate+other)) < rate {
				ard = 1
			}
		}
		duration = max(0.001, math.Ceil(float64(1000*min(1, duration)))/1000)
		copy(v, []float64{man, dead, float64(drug), float64(age), firstYear + years, statin, g03, cancer, duration, ard})
	}
}

// ageShares returns the shares of age groups by drug, ours: insulin alone is for the young too.
func ageShares(drug int) []float64 {
	return [4][]float64{{8, 12, 21, 26, 23, 10}, {4, 11, 24, 29, 24, 8}, {3, 11, 26, 31, 23, 6},
		{25, 18, 18, 17, 15, 7}}[drug]
}
