package record

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"
)

// private lists the fields of a record that may not leave, and why.
func private() map[string]string {
	return map[string]string{
		"Run.Status":       "a release is of a run that is done",
		"Run.Error":        "may count rows",
		"Run.Started":      "times tell how many rows there are",
		"Run.Finished":     "times tell how many rows there are",
		"Run.Dir":          "how the owner's machine is laid out",
		"Run.Spec":         "names paths and places; its owner may put it into a bundle",
		"Run.Stages":       "seconds tell how many rows there are",
		"Run.KeyKept":      "says where to look for the key",
		"Run.Internal":     "sizes count rows",
		"Run.Metrics":      "computed from real rows",
		"Run.Notes":        "of metrics",
		"Dataset.Former":   "how the owner's machine is laid out",
		"Dataset.Ledger":   "how the owner's machine is laid out",
		"Run.InsecureSeed": "a test is no release",
	}
}

// TestPublicIsDecidedFieldByField: a field that is added to a record is decided on, either here or in Public; and what
// is public comes through.
func TestPublicIsDecidedFieldByField(t *testing.T) {
	full := &Run{Started: time.Unix(7, 0)}
	fill(reflect.ValueOf(full).Elem())
	full.Plan, full.Terms.Budget = json.RawMessage(`{"stages":null,"findings":null,"dataset":{"rows_public":0,`+
		`"columns":0,"budget":null,"rows_stay_in":""},"epsilon_by_addition":null,"public_files":null}`), 1.0
	public, err := full.Public()
	if err != nil {
		t.Fatal(err)
	}
	back, err := public.Record()
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]reflect.Value{
		"Run":     {reflect.ValueOf(*full), reflect.ValueOf(*back)},
		"Dataset": {reflect.ValueOf(full.Dataset), reflect.ValueOf(back.Dataset)},
	} {
		for i := range pair[0].NumField() {
			field := name + "." + pair[0].Type().Field(i).Name
			same := reflect.DeepEqual(pair[0].Field(i).Interface(), pair[1].Field(i).Interface())
			if _, hidden := private()[field]; hidden == same && field != "Run.Dataset" {
				t.Errorf("%s: comes through: %v, is listed as private: %v", field, same, hidden)
			}
		}
	}
}

// fill gives every field that tests can a value other than zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && !slices.Contains([]string{"Budget"}, v.Type().Field(i).Name) {
				fill(v.Field(i))
			}
		}
	}
}
