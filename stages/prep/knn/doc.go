// Package knn fills missing values from the nearest rows, as
// sklearn.impute.KNNImputer (metric nan_euclidean) defines it:
//
//	d(a,b) = sqrt(p/|C| * sum over C of (a_j-b_j)^2)
//
// with p columns and C those observed in both rows. A missing cell of column c
// takes the mean, or the mean weighted by 1/d, of c over the nearest donors,
// the rows of the fitted table that observe c. Distances use the original
// values, never imputed ones. Where scikit-learn leaves a choice open: of
// equally near donors the lower row comes first; a donor without a common
// column is no neighbour (its rule since pull request 29135); a column without
// any donor becomes 0 (keep_empty_features).
//
// Donors are grouped by their pattern of missing values; within a group the
// factor p/|C| is one number for each receiver, so that each group is a k-d
// tree whose boxes bound the distance from below; rows of rare patterns are
// scanned. All distances, and all box
// bounds, are summed in one order, and every rounding is monotone, so pruning
// never changes the result: it is that of the full scan, bit for bit, on any
// number of workers.
package knn
