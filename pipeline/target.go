package pipeline

// Predictor is a stage that judges rows by how well a column is predicted from them.
type Predictor interface {
	// Predicts names the column.
	Predicts() string
}

// Aimed is a stage that knows which column its rows will be used to predict. Where a
// spec leaves the setting `target` out, it is what a Predictor of the same spec names:
// filled in when the spec is read, so that it is part of the canonical form, and with
// it of seed, cache and charge, like any other setting.
type Aimed interface {
	// AimAt is where the setting stands: a column, NoTarget, or "" where it was left out.
	AimAt() *string
}

// NoTarget is the setting `target` of a stage that prefers no column.
const NoTarget = "none"
