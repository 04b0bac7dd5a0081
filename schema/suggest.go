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
		if d := distance(low, strings.ToLower(a)); d < least {
			best, least = a, d
		}
	}
	return best
}

// distance is the edit distance, where swapping two neighbours is one edit.
func distance(a, b string) int {
	for i := 0; i+1 < len(a) && len(a) == len(b); i++ {
		if a[i] != b[i] {
			if a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
				return 1
			}
			break
		}
	}
	return levenshtein.ComputeDistance(a, b)
}

// asking begins the hint of a name that may be meant.
const asking = "did you mean "

// DidYouMean words Suggest as a hint, "" where there is none.
func DidYouMean(word string, accepted []string) string {
	if s := Suggest(word, accepted); s != "" {
		return asking + s + "?"
	}
	return ""
}
