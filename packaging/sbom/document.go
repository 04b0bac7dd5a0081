package main

import (
	"errors"
	"fmt"
	"path"
	"runtime/debug"
	"strings"

	"github.com/package-url/packageurl-go"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// program is a built program: the name and the SHA-256 of its file, and what its compiler noted.
type program struct {
	name, digest string
	info         *debug.BuildInfo
}

// noAssertion is SPDX's word for what a document does not say.
const noAssertion = "NOASSERTION"

// document returns the bill of materials, as SPDX 2.3 defines it. It is a function of the program's bytes: its date is
// of the commit, and its namespace has the digest.
func (p program) document() (*v2_3.Document, error) {
	created := p.setting("vcs.time")
	if created == "" {
		return nil, errors.New("does not name its commit: must be built in a checkout, with -buildvcs=true")
	}
	doc := &v2_3.Document{SPDXVersion: v2_3.Version, DataLicense: v2_3.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: p.name, DocumentNamespace: "https://spdx.org/spdxdocs/" + p.name + "-" + p.digest,
		CreationInfo: &v2_3.CreationInfo{Created: created,
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "weir/packaging/sbom"}}}}
	main := p.main()
	doc.Packages = append(doc.Packages, main)
	relate(doc, doc.SPDXIdentifier, common.TypeRelationshipDescribe, main)
	for i, m := range p.modules() {
		linked := describe(m)
		linked.PackageSPDXIdentifier = common.ElementID(fmt.Sprintf("Package-%d", i+1))
		doc.Packages = append(doc.Packages, linked)
		relate(doc, main.PackageSPDXIdentifier, common.TypeRelationshipDependsOn, linked)
	}
	return doc, nil
}

// main describes the program itself.
func (p program) main() *v2_3.Package {
	main := describe(&p.info.Main)
	main.PackageSPDXIdentifier = "Package-0"
	main.PackageFileName = p.name
	main.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: p.digest}}
	main.PackageLicenseDeclared = "Apache-2.0"
	main.PrimaryPackagePurpose = "APPLICATION"
	main.PackageSourceInfo = fmt.Sprintf("commit %s, built by %s for %s/%s", p.setting("vcs.revision"), p.info.GoVersion,
		p.setting("GOOS"), p.setting("GOARCH"))
	return main
}

// modules returns the linked modules in the order of the compiler, a replaced one as what replaces it, and Go's own
// library last, under the name by which vulnerability databases know it.
func (p program) modules() []*debug.Module {
	var list []*debug.Module
	for _, m := range p.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, m)
	}
	release, _, _ := strings.Cut(strings.TrimPrefix(p.info.GoVersion, "go"), " ") // behind a blank: experiments
	return append(list, &debug.Module{Path: "stdlib", Version: release})
}

func (p program) setting(key string) string {
	for _, s := range p.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// describe describes a module, without an identifier. Its go.sum checksum is of a listing of its files, no digest
// that SPDX knows, so it stands as text.
func describe(m *debug.Module) *v2_3.Package {
	p := &v2_3.Package{PackageName: m.Path, PackageVersion: m.Version, PackageDownloadLocation: noAssertion,
		PackageLicenseConcluded: noAssertion, PackageLicenseDeclared: noAssertion,
		PackageExternalReferences: []*v2_3.PackageExternalReference{{Category: common.CategoryPackageManager,
			RefType: common.TypePackageManagerPURL, Locator: locator(m)}}}
	if m.Sum != "" {
		p.PackageSourceInfo = "go.sum " + m.Sum
	}
	return p
}

// locator returns the package URL of a module.
func locator(m *debug.Module) string {
	folder, name := path.Split(m.Path)
	return packageurl.NewPackageURL(packageurl.TypeGolang, strings.TrimSuffix(folder, "/"), name, m.Version, nil,
		"").ToString()
}

// relate adds that one element of the document stands in a relation to a package.
func relate(doc *v2_3.Document, from common.ElementID, how string, to *v2_3.Package) {
	doc.Relationships = append(doc.Relationships, &v2_3.Relationship{RefA: common.MakeDocElementID("", string(from)),
		Relationship: how, RefB: common.MakeDocElementID("", string(to.PackageSPDXIdentifier))})
}
