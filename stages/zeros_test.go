package stages

import (
	"reflect"
	"strings"
	"testing"
)

// TestStatedZerosAreKept: a setting that is left out of a rendered spec where it is zero has no
// other default, or a zero that was stated comes back as that default, and a replay differs.
func TestStatedZerosAreKept(t *testing.T) {
	for _, k := range Kinds() {
		zerosAreKept(t, k.Name, reflect.ValueOf(k.New()))
	}
	wrong := &struct {
		Average float64 `yaml:"average,omitempty" min:"0"`
	}{0.5}
	if !lostZero(reflect.TypeOf(*wrong).Field(0), reflect.ValueOf(*wrong).Field(0)) {
		t.Error("a default of 0.5 that is left out where it is 0 must be found")
	}
}

func zerosAreKept(t *testing.T, where string, v reflect.Value) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		if lostZero(f, v.Field(i)) {
			t.Errorf("%s.%s: its default is %v, and a stated zero is left out where the spec is rendered", where, f.Name,
				v.Field(i))
		}
		zerosAreKept(t, where+"."+f.Name, v.Field(i))
	}
}

// lostZero: where zero is not a value that can be stated, nothing is lost.
func lostZero(f reflect.StructField, v reflect.Value) bool {
	_, above := f.Tag.Lookup("exclusiveMin")
	_, listed := f.Tag.Lookup("enum")
	return strings.Contains(f.Tag.Get("yaml"), "omitempty") && !v.IsZero() && !above && !listed && f.Tag.Get("min") != "1"
}
