package source

import (
	"fmt"
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
)

// The model of a table of diagnoses of the shape of MIMIC-III as Choi et al. 2017 and
// Tantipongpipat et al. 2021 use it: 46,520 patients by 1,071 codes, of which 146 never
// occur, 706 more in less than 1 % of patients, and 219, 127 and 64 in at least 1, 2.5
// and 5 %. Codes of one group come together in patients who have its condition, and all
// codes are rarer in half of the patients; groups and how strong they bind are ours.
const (
	patientRows = 46_520
	codes       = 1071
	usedCodes   = 925
	groups      = 12
	groupShare  = 0.15 // of patients who have the condition of a group
	groupRatio  = 4    // how much more frequent its codes are in them
	spread      = 0.5  // of frequencies between the two halves of patients
)

func diagnosesDomain(int64) *domain.Domain {
	d := &domain.Domain{Columns: make([]domain.Column, codes)}
	for j := range d.Columns {
		d.Columns[j] = coded(fmt.Sprintf("code_%04d", j+1), domain.Boolean, "", "0", "1")
	}
	return d
}

// frequency returns the share of patients with code j: log-linear in its rank between the
// published counts, from .4 to 2 in 10,000.
func frequency(j int) float64 {
	ranks := []float64{0, 63.5, 126.5, 218.5, usedCodes - 1}
	logs := []float64{bitmath.Log(0.4), bitmath.Log(0.05), bitmath.Log(0.025), bitmath.Log(0.01), bitmath.Log(2e-4)}
	if j >= usedCodes {
		return 0
	}
	pos := 1
	for float64(j) > ranks[pos] {
		pos++
	}
	u := (float64(j) - ranks[pos-1]) / (ranks[pos] - ranks[pos-1])
	return bitmath.Exp(logs[pos-1] + float64(u*(logs[pos]-logs[pos-1])))
}

// drawDiagnoses draws one patient. The frequencies of a code over patients with and
// without its condition, and over both halves, have the mean frequency(j).
func drawDiagnoses() func(r *rand.Rand, _, _ int64, v []float64) {
	within, excluded := make([]float64, codes), make([]float64, codes)
	for j := range codes {
		p := frequency(j)
		ratio := math.Min(groupRatio, 0.95/(float64((1+spread)*p)+1e-9))
		within[j] = float64(p * ratio)
		excluded[j] = float64(p*(1-float64(groupShare*ratio))) / (1 - groupShare)
	}
	return inGroups(within[:], excluded[:], groups, groupShare, spread)
}
