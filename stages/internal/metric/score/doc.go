// Package score holds the scores of predictions, as sklearn.metrics 1.2.1 defines
// them unless a comment says otherwise. A score that is not defined for its
// input is NaN; Reason* and the comments say when.
package score
