package report

import (
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance and contrast are the relative luminance and the contrast ratio of
// WCAG 2.1.
func luminance(r, g, b uint8) float64 {
	linear := func(v uint8) float64 {
		c := float64(v) / 255
		if c <= 0.03928 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a.R, a.G, a.B), luminance(b.R, b.G, b.B)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// scheme reads the colours of the n-th :root block of the style.
func scheme(t *testing.T, n int) map[string]color.NRGBA {
	t.Helper()
	blocks := regexp.MustCompile(`:root\{([^}]*)\}`).FindAllStringSubmatch(pageStyle, -1)
	colours := map[string]color.NRGBA{}
	for _, m := range regexp.MustCompile(`--([a-z-]+):#([0-9a-f]+)`).FindAllStringSubmatch(blocks[n][1], -1) {
		digits := m[2]
		if len(digits) == 3 {
			digits = strings.Join([]string{digits[:1], digits[:1], digits[1:2], digits[1:2], digits[2:], digits[2:]}, "")
		}
		v, err := strconv.ParseUint(digits, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		colours[m[1]] = color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
	}
	return colours
}

// TestContrast: text 4.5 to 1 (AA), lines and bars 3 to 1, light, dark, print.
func TestContrast(t *testing.T) {
	for n, name := range []string{"light", "dark", "print"} {
		c := scheme(t, n)
		for _, ink := range []string{"ink", "dim", "link", "good", "mid", "bad"} {
			for _, paper := range []string{"page", "soft"} {
				if got := contrast(c[ink], c[paper]); got < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f, must be 4.5", name, ink, paper, got)
				}
			}
		}
		if got := contrast(c["warn-ink"], c["warn"]); got < 4.5 {
			t.Errorf("%s: the banner has a contrast of %.2f", name, got)
		}
		for _, ink := range []string{"real", "synthetic", "slate", "teal", "plum"} {
			if got := contrast(c[ink], c["page"]); got < 3 {
				t.Errorf("%s: %s has a contrast of %.2f, must be 3", name, ink, got)
			}
		}
	}
	for v := -1.0; v <= 1; v += 0.05 {
		if got := contrast(color.NRGBA{0x11, 0x11, 0x11, 0xFF}, shade(v)); got < 4.5 {
			t.Errorf("the number in a cell of %.2f has a contrast of %.2f", v, got)
		}
	}
}

// TestColoursFollowTheScheme: no colour of a drawing stays as on white paper,
// but for heat maps and the pie, which read on both.
func TestColoursFollowTheScheme(t *testing.T) {
	d := full().drawings(40)
	for _, p := range append(append(append([]*Picture{}, d.columns...), d.scatter...), d.curves...) {
		svg, err := p.Inline()
		if err != nil {
			t.Fatal(err)
		}
		if fixed := regexp.MustCompile(`#[0-9A-F]{6}`).FindAllString(svg, -1); len(fixed) > 0 {
			t.Errorf("%s keeps the colours %v", p.title, fixed)
		}
		if !strings.Contains(svg, "var(--synthetic)") || strings.Contains(svg, "<?xml") {
			t.Errorf("%s is not in the colours of the page: %.200s", p.title, svg)
		}
	}
}

func TestTicksAreRound(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{0, 1, 6, "0 0.2 0.4 0.6 0.8 1.0"}, {-0.013, 0.31, 5, "0 0.1 0.2 0.3"}, {6575, 36525, 6, "10k 15k 20k 25k 30k 35k"},
		{7, 7, 5, "7"}, {0, 3e-6, 3, "0 1e-06 2e-06 3e-06"},
	} {
		var got []string
		for _, tick := range (ticks{c.n}).Ticks(c.lo, c.hi) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("ticks from %g to %g: %v, must be %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestDates(t *testing.T) {
	c := Column{Type: "date"}
	// 2020-01-01 is 18262 days after 1970-01-01: 50 years with 12 leap days (1972 to 2016).
	for x, want := range map[float64]string{0: "1970-01-01", 18262: "2020-01-01", 18262.7: "2020-01-01", -1: "1969-12-31",
		1e9: "1e+09"} {
		if got := c.Show(x); got != want {
			t.Errorf("day %g is %s, must be %s", x, got, want)
		}
	}
	if got := c.Show(math.NaN()); got != "–" {
		t.Errorf("no day is %s", got)
	}
	for _, s := range []struct {
		of   string
		sd   float64
		want string
	}{{"date", 238.5, "238.5 days"}, {"datetime", 37497600, "434 days"}, {"datetime", 5400, "1.5 hours"},
		{"time", 90, "1.5 minutes"}, {"numeric", 5400, "5400"}, {"date", math.NaN(), "–"}} {
		if got := (Column{Type: s.of}).Spread(s.sd); got != s.want {
			t.Errorf("a deviation of %g in a column of type %s is %s, must be %s", s.sd, s.of, got, s.want)
		}
	}
}
