package main

import (
	"fmt"
	"math/rand/v2"
)

// chance draws all choices of one case, which its number alone decides.
type chance struct{ *rand.Rand }

func chanceOf(seed, number uint64) chance { return chance{rand.New(rand.NewPCG(seed, number))} }

// yes is true with probability p.
func (c chance) yes(p float64) bool { return c.Float64() < p }

// between is a whole number from least to most.
func (c chance) between(least, most int) int { return least + c.IntN(most-least+1) }

func pick[T any](c chance, list ...T) T { return list[c.IntN(len(list))] }

// some are at least n of a list, in its order; all of it where it has fewer.
func some[T any](c chance, list []T, n int) []T {
	share := c.Float64()
	var chosen []T
	for i, x := range list {
		if len(list)-i <= n-len(chosen) || c.yes(share) {
			chosen = append(chosen, x)
		}
	}
	return chosen
}

// number is one of very different sizes, spelled as a person would.
func (c chance) number() float64 {
	return pick(c, 0, 1, -1, 2, 0.5, 10, 100, -50, 1e3, float64(c.between(-20, 200)))
}

func count(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
