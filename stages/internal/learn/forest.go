package learn

import (
	"context"
	"math"
	"math/rand/v2"

	"weir/train/parallel"
)

// Forest averages trees. Zero values: 100 trees, root of p features a split.
//
//	random forest: Bootstrap (RandomForestClassifier, RandomForestRegressor with AllFeatures)
//	extra trees:   Growth.RandomThreshold (ExtraTreesClassifier)
//	bagging:       Bootstrap and AllFeatures, 10 trees (BaggingClassifier)
type Forest struct {
	Growth
	Trees       int
	Bootstrap   bool
	AllFeatures bool
}

func (f Forest) growth(features int, criterion Criterion) Growth {
	g := f.Growth
	if g.Criterion == "" {
		g.Criterion = criterion
	}
	if !f.AllFeatures && g.MaxFeatures == 0 {
		g.MaxFeatures = max(1, int(math.Sqrt(float64(features))))
	}
	return g
}

func (f Forest) size() int {
	if f.Trees == 0 {
		return 100
	}
	return f.Trees
}

// Fit implements Classifier.
func (f Forest) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	r, g := rank(x, run.Workers), f.growth(len(x.Cols), Gini)
	list, err := f.grow(ctx, run, func() *grower { return newClassGrower(g, r, y.Classes) }, func(rng *rand.Rand) []item {
		if !f.Bootstrap {
			return classItems(y, nil)
		}
		return bootstrapClasses(y, rng)
	})
	return &trees{list, len(x.Cols), run.Workers}, err
}

// fitNumbers fits a target of numbers.
func (f Forest) fitNumbers(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	r, g := rank(x, run.Workers), f.growth(len(x.Cols), MSE)
	list, err := f.grow(ctx, run, func() *grower { return newNumberGrower(g, r) }, func(rng *rand.Rand) []item {
		if !f.Bootstrap {
			return numberItems(y, nil)
		}
		return numberItems(y, counts(len(y), rng))
	})
	return &meanTrees{list, run.Workers}, err
}

// RegressionForest is a Forest of regression trees.
type RegressionForest struct{ Forest }

// Fit implements Regressor.
func (f RegressionForest) Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	return f.fitNumbers(ctx, x, y, run)
}

// counts draws n rows with replacement and returns how often each came.
func counts(n int, rng *rand.Rand) []int32 {
	c := make([]int32, n)
	for range n {
		c[rng.IntN(n)]++
	}
	return c
}

func bootstrapClasses(y Labels, rng *rand.Rand) []item {
	c := counts(len(y.Y), rng)
	items := make([]item, 0, len(c)*2/3)
	for i, n := range c {
		if n > 0 {
			items = append(items, item{int32(i), int32(y.Y[i]), float64(n)})
		}
	}
	return items
}

// grow grows the trees side by side. Each has its own generator, seeded in order,
// so that no tree depends on which worker grows it.
func (f Forest) grow(ctx context.Context, run Run, scratch func() *grower, rows func(*rand.Rand) []item) ([]*Tree,
	error) {
	list, seeds := make([]*Tree, f.size()), make([][2]uint64, f.size())
	for i := range seeds {
		seeds[i] = [2]uint64{run.Rand.Uint64(), run.Rand.Uint64()}
	}
	growers := make(chan *grower, max(1, run.Workers))
	for range cap(growers) {
		growers <- scratch()
	}
	parallel.Do(run.Workers, len(list), func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		g, rng := <-growers, rand.New(rand.NewPCG(seeds[i][0], seeds[i][1]))
		list[i], _ = g.grow(ctx, rows(rng), rng) // an error is the context's, returned below
		growers <- g
	})
	return list, ctx.Err()
}
