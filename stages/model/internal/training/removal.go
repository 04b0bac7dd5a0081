package training

import (
	"fmt"

	"weir/pipeline"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/stages/prep"
)

// Removal leaves anomalies out of the batches of a training (the GANAD thesis, where it is called
// mid): the rows that a released detector finds least like others, of the real ones and of the
// generated ones of each batch.
//
// Input: what the training reads, and a detector that is released (paid for by its own stage).
// Mechanism: that of the training. Given the detector, one row more brings one row to what is kept of a batch and
// takes none away, so that sensitivity, sampling and bill stay what they are: the proof is the comment
// of train.Worst. Detector and training compose like any two mechanisms of which the second is
// chosen by what the first released.
type Removal struct {
	RemoveAnomalies int `yaml:"remove_anomalies,omitempty" json:"remove_anomalies,omitempty" min:"1" max:"1000000" doc:"Rows that each batch leaves out, of those that detector finds least like others: so many of the real ones, and so many of the generated ones where there are such. It costs nothing beside the detector."`
}

// DetectorPort is the input of a kind that has a Removal.
func DetectorPort() pipeline.Port {
	return pipeline.Port{Name: "detector", Form: pipeline.FormDetector, Or: pipeline.FormModel, Optional: true, Scoring: true,
		Doc: "For remove_anomalies: a released detector that was trained on the table that encode reads, or a model of that table that tells how probable a row is."}
}

// Batch is a setting that says, in public, how many rows a batch has.
type Batch struct {
	Setting string
	Rows    float64
}

// CheckRemoval adds what keeps anomalies from being left out of batches of an encoded table of
// header h: in has its detector, if one is given.
func (r *Removal) CheckRemoval(in pipeline.Headers, ps *schema.Problems, batches ...Batch) {
	h, detector := in["in"], in["detector"]
	given := detector.Form != ""
	switch {
	case !given && r.RemoveAnomalies == 0:
		return
	case !given:
		ps.Add("detector", "missing beside remove_anomalies", "a stage that releases a detector of the table that encode reads, such as one of kind anomaly_detector")
	case r.RemoveAnomalies == 0:
		ps.Add("remove_anomalies", "missing beside detector", "how many rows each batch leaves out, such as 5")
	}
	for _, b := range batches {
		if float64(r.RemoveAnomalies) >= b.Rows {
			ps.Add("remove_anomalies", fmt.Sprintf("%d, of %s %g", r.RemoveAnomalies, b.Setting, b.Rows), "fewer than a batch has")
		}
	}
	if !given {
		return
	}
	if r.unpaid(in) && h.Terms.Claims != pipeline.ClaimsPublished {
		ps.Refuse("W04", "detector", "fitted on private rows without a charge", "a released detector, such as anomaly_detector")
	}
	if detector.Domain == nil || len(*ps) > 0 {
		return
	}
	decoded, err := prep.DecodedHeader(h)
	if err != nil {
		return // what is no encoded table has been told
	}
	var other schema.Problems
	artifact.SameColumns(decoded.Domain, detector.Domain, "detector", &other)
	for _, p := range other {
		p.Hint = "a detector is trained on the table that encode reads"
		*ps = append(*ps, p)
	}
}

func (r *Removal) unpaid(in pipeline.Headers) bool {
	return in["detector"].Class == pipeline.Private && !in["in"].Terms.NoPrivacy
}

// UnprovenBeside is that of a stage, or what an unpaid detector breaks.
func (r *Removal) UnprovenBeside(in pipeline.Headers, stage pipeline.Unproven) pipeline.Unproven {
	if !r.unpaid(in) || stage.Rule != "" {
		return stage
	}
	return pipeline.Unproven{Rule: "W04", Why: "rows are left out of batches by a detector that nobody paid for, so that one row may change which of all others are"}
}
