package table

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
)

// TestExactNumbers: two spellings are one number exactly if they are to package big, and
// parseInt reads those that are whole and of 64 bits.
func TestExactNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	digits := func(most int) string {
		var b strings.Builder
		for range rng.IntN(most + 1) {
			b.WriteByte("0001239"[rng.IntN(7)])
		}
		return b.String()
	}
	near := []string{"9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"}
	seen := map[string]exact{}
	for range 20_000 {
		v := []string{"", "-", "+"}[rng.IntN(3)] + "1" + digits(3)
		if rng.IntN(3) == 0 {
			v = near[rng.IntN(len(near))]
		}
		if rng.IntN(2) == 0 {
			v += "." + digits(3)
		}
		if rng.IntN(2) == 0 {
			v += fmt.Sprint("e", rng.IntN(9)-4)
		}
		want, ok := new(big.Rat).SetString(v)
		got, read := exactNumber([]byte(v))
		if !ok || !read {
			t.Fatalf("%s: read %t, package big reads it: %t", v, read, ok)
		}
		if before, is := seen[want.String()]; is && before != got {
			t.Fatalf("%s is %+v and was %+v", v, got, before)
		}
		seen[want.String()] = got
		n, whole := parseInt([]byte(v))
		if fits := want.IsInt() && want.Num().IsInt64(); whole != fits || fits && n != want.Num().Int64() {
			t.Fatalf("%s: parseInt reads %d, %t, must be %s", v, n, whole, want)
		}
	}
	keys := map[exact]string{}
	for text, n := range seen {
		if other, is := keys[n]; is {
			t.Fatalf("%s and %s are both %+v", text, other, n)
		}
		keys[n] = text
	}
	for _, v := range []string{"", "-", "+-1", ".", "e5", "1e", "1e5.0", "0x10", "1_000", "inf", "NaN", "1,5", "1e99999999999"} {
		if n, ok := exactNumber([]byte(v)); ok {
			t.Errorf("%q is read as %+v", v, n)
		}
	}
}

// TestWideIntegersAreNotMissing: what a float64 rounds is a problem of the file, whatever
// stands for missing.
func TestWideIntegersAreNotMissing(t *testing.T) {
	for _, name := range []string{"", "NaN"} {
		d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Numeric, Nullable: true, Missing: []string{name}}}}
		c := newConverter(d, &dialect{}, layout{0})
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues([]int64{1 << 53, -1 << 53, 1<<53 + 1}, nil)
		p := &problems{}
		r := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil), []arrow.Array{b.NewArray()}, 3)
		if c.record(r, 1, p); len(p.list) != 1 || p.list[0].Line != 3 || p.list[0].Rule != ruleWide {
			t.Errorf("with %q for missing the problems are %v, must be that of row 3: %s", name, p.list, ruleWide)
		}
	}
}
