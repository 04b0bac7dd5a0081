// Package spec reads specs: YAML over the defaults of their kinds, checked, with the
// canonical form that their digest is of. It opens no data.
package spec
