// Package compare says how two specs, plans, runs or ledgers differ. Data goes in and data
// comes out, with its wording as text and as Markdown: it opens nothing, compiles nothing
// and knows no kind, so that what another version of weir wrote can be compared too.
package compare
