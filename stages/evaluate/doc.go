// Package evaluate holds the kinds that judge a synthetic table against real
// rows. What they return is private, whatever went in besides: no metric is
// published without a mechanism.
package evaluate
