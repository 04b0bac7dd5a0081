// Package runtime carries out a plan: it opens the data, orders the stages,
// runs independent ones side by side, stores their outputs by content, pays the
// ledger, and leaves a record. It never imports stages.
package runtime
