// Package table reads tables of the domain's types from CSV, TSV, Parquet and
// Arrow files, and writes them back. Reading streams: memory is that of a few
// batches and does not grow with the file. No error quotes a cell.
package table
