package pipeline

// Claims says which epsilon a spec stands for (docs/design.md section 4).
type Claims string

const (
	ClaimsProven    Claims = "proven"    // refuse what has no proven bound
	ClaimsPublished Claims = "published" // run as the paper did, show both numbers
	ClaimsNone      Claims = "none"      // no privacy is claimed
)
