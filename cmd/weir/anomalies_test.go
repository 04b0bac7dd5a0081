package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// anomalyStudy returns a study of n rows of four numbers, each 2 around its mean of 30 in bounds
// of 0 and 100, and a flag; row 17 lies 20 deviations away in every number where it is
// planted.
func anomalyStudy(t *testing.T, n int, epsilon float64, planted bool, stages string) study {
	s := study{t, t.TempDir()}
	b := &strings.Builder{}
	b.WriteString("a,b,c,d,flag\n")
	for i := range n {
		far := 0
		if planted && i == 17 {
			far = 40
		}
		for j := range 4 {
			fmt.Fprintf(b, "%d,", 30+far+[]int{-2, 2}[(i*7919+j*101)/(j+1)%2])
		}
		fmt.Fprintf(b, "%d\n", i%2)
	}
	s.write("data.csv", b.String())
	domain := "columns:\n"
	for _, name := range []string{"a", "b", "c", "d"} {
		domain += "  - {name: " + name + ", type: integer, bounds: [0, 100]}\n"
	}
	s.write("domain.yaml", domain+"  - {name: flag, type: boolean}\n")
	s.write("spec.yaml", fmt.Sprintf("weir: 1\nname: study\ndataset: {file: data.csv, domain: domain.yaml, rows_public: "+
		"%d}\n", n)+
		fmt.Sprintf("privacy: {epsilon: %g, delta: 1e-6, accountant: rdp, adjacency: replace_one, acknowledge: "+
			"{W33: the paper has this epsilon}, "+
			"split: {detector: 0.1, train: 0.9}}\nseed: 3\nstages:\n", epsilon)+
		"  detector: {kind: anomaly_detector, expected_batch_size: 100, steps: 100}\n"+stages)
	return s
}

// placements returns control, pre and post: in each the release has n rows.
func placements(n int) map[string]string {
	return map[string]string{
		"control": fmt.Sprintf("  train: {kind: independent, from: dataset, bins: 10}\n  left: {kind: sample, rows: %d}\n",
			n),
		"pre": fmt.Sprintf("  normal: {kind: remove_anomalies, from: dataset, detector: detector, placement: pre, "+
			"remove: 10}\n  train: {kind: independent, bins: 10}\n  left: {kind: sample, rows: %d}\n", n),
		"post": fmt.Sprintf("  train: {kind: independent, from: dataset, bins: 10}\n  drawn: {kind: sample, rows: %d}\n "+
			" left: {kind: remove_anomalies, detector: detector, placement: post, remove: 10}\n", n+10),
	}
}

// farAway counts the released rows with a number more than ten deviations from its mean.
func farAway(t *testing.T, csv string) (rows, far int) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(csv), "\n")[1:] {
		rows++
		for _, cell := range strings.Split(line, ",")[:4] {
			v, err := strconv.Atoi(cell)
			if err != nil {
				t.Fatal(err)
			}
			if v > 50 {
				far++
				break
			}
		}
	}
	return rows, far
}

// TestPlantedAnomalyIsRemoved, at an epsilon so large that one row shows in what is released: of a row 20 deviations
// away in each of four numbers, more released rows are far away than of a table without it, under the same noise. With
// removal before the model it changes nothing, and with removal after it none is left, those
// that noise made included. Noise follows from a seed, so this cannot flake.
func TestPlantedAnomalyIsRemoved(t *testing.T) {
	t.Parallel()
	for placement, stages := range placements(400) {
		var far [2]int
		for i, planted := range []bool{false, true} {
			var rows int
			s := anomalyStudy(t, 400, 300, planted, stages)
			if rows, far[i] = farAway(t, released(t, s.result("--insecure-noise-seed", "5"), "left.csv")); rows != 400 {
				t.Errorf("%s: %d rows, must be 400", placement, rows)
			}
		}
		t.Logf("%s: %d rows are far away without the planted one, %d with it", placement, far[0], far[1])
		if influence := far[1] - far[0]; influence > 0 != (placement == "control") || influence < 0 || placement == "post" &&
			far[0] > 0 {
			t.Errorf("%s: %d rows are far away without the planted one, %d with it", placement, far[0], far[1])
		}
	}
}

// TestShardsBehindRemovalByNumber are refused with what confines no change and what would: removal above a score.
func TestShardsBehindRemovalByNumber(t *testing.T) {
	stages := func(by string) string {
		return "  normal: {kind: remove_anomalies, from: dataset, detector: detector, placement: pre, " + by + "}\n" +
			"  shard: {kind: shard, shards: 20}\n  encode: {kind: encode}\n  train: {kind: pate_gan, steps: 5}\n  left: " +
			"{kind: sample, rows: 10}\n"
	}
	s := anomalyStudy(t, 400, 1, false, stages("remove: 10"))
	code, _, errs := s.weir("check", s.path("spec.yaml"))
	if code != exitPrivacy || !strings.Contains(errs,
		"since the stage shard, where one unit changes rows of other units") || !strings.Contains(errs,
		"remove anomalies above a score") {
		t.Errorf("exit %d: %s", code, errs)
	}
	s = anomalyStudy(t, 400, 1, false, stages("above: 0.5"))
	if code, _, errs := s.weir("check", s.path("spec.yaml")); code != exitDone {
		t.Errorf("above a score: exit %d: %s", code, errs)
	}
}
