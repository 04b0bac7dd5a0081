package score

import "weir/internal/bitmath"

// EpsilonMachine is the epsilon of sklearn's log_loss since 1.2; before, 1e-15.
const EpsilonMachine = 0x1p-52

// LogLoss is the mean of -ln p(true class), probabilities of class 1 clipped to
// [eps, 1-eps]. NaN without rows.
func LogLoss(y []bool, p []float64, eps float64) float64 {
	sum := 0.0
	for i, v := range p {
		if v = clip(v, eps); !y[i] {
			v = 1 - v
		}
		sum -= bitmath.Log(v)
	}
	return sum / float64(len(p))
}

// clip takes the maximum first.
func clip(v, eps float64) float64 { return min(max(v, eps), 1-eps) }

// Brier is the mean of (p-y)^2 (brier_score_loss).
func Brier(y []bool, p []float64) float64 {
	sum := 0.0
	for i, v := range p {
		if y[i] {
			v--
		}
		sum += float64(v * v)
	}
	return sum / float64(len(p))
}

// LogLossMulti is the mean of -ln of the true class's share of its row, shares
// clipped to [eps, 1-eps] and then normalised. p holds a row of K probabilities
// for each label.
func LogLossMulti(y []int, p [][]float64, eps float64) float64 {
	sum := 0.0
	for i, row := range p {
		total := 0.0
		for _, v := range row {
			total += clip(v, eps)
		}
		sum -= bitmath.Log(clip(row[y[i]], eps) / total)
	}
	return sum / float64(len(p))
}

// Average says how the scores of classes become one.
type Average string

const (
	Macro    Average = "macro"
	Micro    Average = "micro"
	Weighted Average = "weighted" // by the rows of each class
)

// AUROCOneVsRest averages the AUROC of each class against all others. NaN where
// a class of 0..K-1 has no rows.
func AUROCOneVsRest(y []int, p [][]float64, classes int, a Average) float64 {
	sum, weight := 0.0, 0.0
	for k := range classes {
		is, s, n := make([]bool, len(y)), make([]float64, len(y)), 0
		for i := range y {
			is[i], s[i] = y[i] == k, p[i][k]
			if is[i] {
				n++
			}
		}
		w := 1.0
		if a == Weighted {
			w = float64(n)
		}
		sum, weight = sum+float64(w*AUROC(is, s)), weight+w
	}
	return sum / weight
}

// AUROCOneVsOne averages over pairs of classes the mean of the two AUROCs that
// each class's probability gives among the rows of the pair (Hand and Till
// 2001); Weighted weighs a pair by its rows. NaN where a class has no rows.
func AUROCOneVsOne(y []int, p [][]float64, classes int, a Average) float64 {
	sum, weight := 0.0, 0.0
	for j := range classes {
		for k := j + 1; k < classes; k++ {
			auc, n := pairAUROC(y, p, j, k)
			w := 1.0
			if a == Weighted {
				w = float64(n)
			}
			sum, weight = sum+float64(w*auc), weight+w
		}
	}
	return sum / weight
}

func pairAUROC(y []int, p [][]float64, j, k int) (auc float64, rows int) {
	var is, not []bool
	var sj, sk []float64
	for i, c := range y {
		if c == j || c == k {
			is, not = append(is, c == j), append(not, c == k)
			sj, sk = append(sj, p[i][j]), append(sk, p[i][k])
		}
	}
	return (AUROC(is, sj) + AUROC(not, sk)) / 2, len(is)
}
