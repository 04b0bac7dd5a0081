package schema

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxSuggest is the longest word that is compared: edit distance costs the product of both lengths.
const maxSuggest = 64

// Suggest returns the accepted word nearest to word by edit distance (case ignored), or "" when none is
// within a third of its length (at least one edit). Of equally near words the first accepted one wins.
func Suggest(word string, accepted []string) string {
	best, least := "", len([]rune(word))/3+1
	if len(word) < 3 {
		least = 1 // two letters are near to everything: only their case may differ
	}
	if len(word) > maxSuggest {
		return ""
	}
	low := strings.ToLower(word)
	for _, a := range accepted {
		if len(a) > maxSuggest || a == word {
			continue
		}
		if d := levenshtein.ComputeDistance(low, strings.ToLower(a)); d < least {
			best, least = a, d
		}
	}
	return best
}

func didYouMean(word string, accepted []string) string {
	if s := Suggest(word, accepted); s != "" {
		return "did you mean " + s + "?"
	}
	return ""
}
