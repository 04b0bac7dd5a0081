package weir_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
)

// mostOfPicture is how many bytes a picture of README.md may have, so that the page comes up at once.
const mostOfPicture = 200 << 10

// TestPicturesOfReadme: the page has a recording and a picture, each small and with words for who cannot see it. The
// recording is whole without motion, loads nothing and runs nothing.
func TestPicturesOfReadme(t *testing.T) {
	byName := regexp.MustCompile(`!\[([^\]]*)\]\(([^)]+)\)`).FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(byName) < 2 {
		t.Errorf("README.md has %d pictures, must have a recording and a report", len(byName))
	}
	recordings := 0
	for _, m := range byName {
		data := read(t, m[2])
		if len(m[1]) < 30 || len(data) > mostOfPicture {
			t.Errorf("%s has %d bytes and is described as %q, must be at most %d bytes with a sentence", m[2], len(data), m[1],
				mostOfPicture)
		}
		if strings.HasSuffix(m[2], ".svg") {
			recordings++
			for _, problem := range faultsOfRecording(data) {
				t.Errorf("%s %s", m[2], problem)
			}
		}
	}
	if recordings == 0 {
		t.Error("README.md has no recording")
	}
	for _, bad := range []string{"<svg>", "<svg><script/></svg>", `<svg><image href="https://a.example/b.png"/></svg>`,
		"<svg><style>@font-face{src:url(a.woff)}</style></svg>"} {
		if len(faultsOfRecording(bad)) < 2 {
			t.Errorf("the check does not see %s", bad)
		}
	}
}

// faultsOfRecording lists what a recording must not have, or lacks.
func faultsOfRecording(svg string) (faults []string) {
	d := xml.NewDecoder(strings.NewReader(svg))
	var err error
	for err == nil {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) {
		faults = append(faults, fmt.Sprintf("is not well-formed: %v", err))
	}
	loads := regexp.MustCompile(`(?i)<script|<image|<foreignobject|\son[a-z]+=|href=|url\(|@import|@font-face`)
	if found := loads.FindString(svg); found != "" {
		faults = append(faults, "would load or run something: "+found)
	}
	if !strings.Contains(svg, "@media (prefers-reduced-motion:no-preference){") || strings.Contains(svg, "infinite") {
		faults = append(faults, "moves for those who ask for rest, or without end")
	}
	if !strings.Contains(svg, `<text class="last"`) {
		faults = append(faults, "has no text that stays")
	}
	return faults
}
