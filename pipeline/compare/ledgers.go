package compare

import "fmt"

// Charges are the lines of a ledger and what they add up to.
type Charges struct {
	Dataset string
	Lines   []Charge
	Total   LedgerTotal
}

// LedgerTotal is what the charges add up to, as weir ledger show says it.
type LedgerTotal struct {
	Epsilon    *float64 `json:"epsilon"` // nil: no finite bound
	Delta      float64  `json:"delta"`
	Adjacency  string   `json:"adjacency"`
	Unit       string   `json:"unit"`
	Accountant string   `json:"accountant"`
	Charges    int      `json:"charges"`
	Left       *float64 `json:"left,omitempty"` // of the dataset's budget, by its filter
}

// Charge is one line. Its identity stays when a merge moves it; its hash does not.
type Charge struct {
	Identity string `json:"-"`
	Hash     string `json:"hash"`
	Line     int    `json:"line"`
	Time     string `json:"time"`
	Run      string `json:"run"`
	Stage    string `json:"stage"`
	Name     string `json:"name,omitempty"`
	Event    string `json:"event"`
}

// LedgerMoves is how two ledgers differ.
type LedgerMoves struct {
	Relation string      `json:"relation"`
	Common   int         `json:"common_lines"` // from the first on, the same chain
	Both     int         `json:"charges_in_both"`
	OnlyA    []Charge    `json:"only_a"`
	OnlyB    []Charge    `json:"only_b"`
	A        LedgerTotal `json:"a"`
	B        LedgerTotal `json:"b"`
}

const same = "the same chain"

func ledgers(a, b Charges) LedgerMoves {
	m := LedgerMoves{OnlyA: lacking(a.Lines, b.Lines), OnlyB: lacking(b.Lines, a.Lines), A: a.Total, B: b.Total}
	for m.Common < min(len(a.Lines), len(b.Lines)) && a.Lines[m.Common].Hash == b.Lines[m.Common].Hash {
		m.Common++
	}
	m.Both = len(a.Lines) - len(m.OnlyA)
	m.Relation = relation(a, b, m)
	return m
}

// relation words how the chains lie. A fork is no fault: it is what two branches of a
// repository make, and merging loses no charge.
func relation(a, b Charges, m LedgerMoves) string {
	switch n := m.Common; {
	case a.Dataset != b.Dataset && len(a.Lines) > 0 && len(b.Lines) > 0:
		return fmt.Sprintf("of two datasets, %s and %s", a.Dataset, b.Dataset)
	case n == len(a.Lines) && n == len(b.Lines):
		return same
	case n == len(a.Lines):
		return fmt.Sprintf("B goes on after line %d, the last of A", n)
	case n == len(b.Lines):
		return fmt.Sprintf("A goes on after line %d, the last of B: B lacks charges", n)
	case len(m.OnlyA) == 0:
		return fmt.Sprintf("B holds every charge of A, moved by a merge after line %d", n)
	case len(m.OnlyB) == 0:
		return fmt.Sprintf("A holds every charge of B, moved by a merge after line %d", n)
	default:
		return fmt.Sprintf("forked after line %d: each holds charges that the other lacks; weir ledger merge A B joins them", n)
	}
}

func lacking(lines, other []Charge) []Charge {
	known, out := map[string]bool{}, []Charge{}
	for _, c := range other {
		known[c.Identity] = true
	}
	for _, c := range lines {
		if !known[c.Identity] {
			out = append(out, c)
		}
	}
	return out
}
