// Package domain holds what is publicly known of a table: its columns, their bounds, categories and
// spellings, and the rules between them. Check judges a domain, whether a person declared it, a program
// drafted it or a model brought it along.
//
// ReadRules reads the rules: which rows keep them, whether any row can, and what they leave possible inside
// given sets of values. Values of a row are numbers there: categories by their place in the column's list, dates
// by day, NaN where one is missing.
package domain
