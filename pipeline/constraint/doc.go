// Package constraint reads the rules of a domain (pipeline.Constraint): which rows keep
// them, whether any row can, and what they leave possible inside given sets of values.
//
// Values of a row are numbers: categories by their place in the column's list, dates by
// day, NaN where one is missing.
package constraint
