// Package pay is where privacy is spent: ledgers and their caps, charges, the noise key, and
// the payers that alone hand out noise. It sees plans, names and keys, never a row.
package pay
