package pipeline

// Class says who may see an artifact.
type Class string

const (
	Public   Class = "public"   // no private data went in
	Released Class = "released" // output of paid mechanisms, or computed from such outputs and public data
	Private  Class = "private"  // everything else
)

// Join returns the class of something computed, without a mechanism, from inputs of
// classes a and b.
func (a Class) Join(b Class) Class {
	switch {
	case a == Private || b == Private:
		return Private
	case a == Released || b == Released:
		return Released
	}
	return Public
}
