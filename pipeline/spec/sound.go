package spec

import "weir/schema"

// What is not known of a spec with problems, so that no further problem is reported
// that only follows from them.

// KnowsSource tells whether the header of the dataset is what the spec says.
func (s *Spec) KnowsSource() bool { return !s.badSource }

// KnowsTerms tells whether the privacy terms are what the spec says.
func (s *Spec) KnowsTerms() bool { return !s.badTerms }

// Sound tells whether nothing is wrong with the settings of a stage.
func (s *Stage) Sound() bool { return len(s.wrong) == 0 }

// Given tells whether the spec gives a value to a setting of a stage, named by its
// path in the stage, and nothing is wrong with it.
func (s *Spec) Given(stage *Stage, setting string) bool {
	path := schema.Path("stages", stage.ID) + "." + setting
	for _, wrong := range stage.wrong {
		if related(wrong, path) {
			return false
		}
	}
	return setting != "" && s.doc.Has(path)
}

// defaulted tells whether every setting with a problem has a default instead: none
// is required, and none an input.
func (s *Stage) defaulted(path string) bool {
	shape, err := StageSchema(s.Kind)
	if err != nil {
		return false
	}
	for _, setting := range shape.Settings() {
		for _, wrong := range s.wrong {
			if (setting.Required || s.Kind.InByKey(setting.Path) != nil) && related(wrong, path+"."+setting.Path) {
				return false
			}
		}
	}
	return true
}

// related tells whether one path lies at or below the other.
func related(a, b string) bool { return schema.Within(a, b) || schema.Within(b, a) }

// Unread tells whether the kind of a stage is unknown, and with it its ports.
func (s *Stage) Unread() bool { return s.Stage == nil && s.Kind.New == nil }
