package bundle

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"weir/record"
	"weir/runtime/store"
	"weir/runtime/table"
)

// described is what both descriptions for catalogues state of a run.
type described struct {
	name, text, date, license string
}

// describing words public facts for catalogues.
func (p Predicate) describing() described {
	began, _ := store.Began(p.Run)
	text := "Released by weir from a private table. " + p.Promise() + " " + statementName + " lists what it rests on, " +
		releaseDir + privacyName + " says what it means."
	if p.Dataset.Invented != "" {
		text = "MADE UP: " + p.Dataset.Invented + " drew the source rows, which describe nobody. " + text
	}
	if s := p.StaysIn(); s != "" {
		text += " The private rows stayed in " + s + ", which counted them."
	}
	return described{p.Name, strings.ReplaceAll(text, "`", ""), began.Format("2006-01-02"),
		cmp.Or(p.License, "Not known to weir; the owner of the data has to name it.")}
}

// Promise says what the release promises, in one sentence.
func (p Predicate) Promise() string {
	t := p.Terms
	switch {
	case p.Insecure:
		return record.NotPrivate
	case t.Claims == "none" && t.Proven == nil:
		return "No privacy is claimed, and nothing that was computed from private rows was released."
	case t.Proven == nil:
		return "No epsilon is proven (claims: " + t.Claims + ")."
	}
	return fmt.Sprintf("Differentially private with epsilon = %s (proven) at delta = %g, adjacency %s, privacy unit: %s.",
		record.Bound(*t.Proven), t.Delta, t.Adjacency, p.Dataset.Unit)
}

// croissant describes the release for catalogues of machine learning (Croissant 1.0, docs.mlcommons.org/croissant).
func (b *Bundle) croissant() ([]byte, error) {
	p := b.Statement.Predicate
	d := p.describing()
	files := []any{}
	for _, m := range b.release() {
		files = append(files, map[string]any{"@type": "cr:FileObject", "@id": m.name, "name": m.name,
			"contentUrl": releaseDir + m.name, "contentSize": fmt.Sprintf("%d B", m.size),
			"encodingFormat": mediaType(m.name), "sha256": m.sha256})
	}
	sets := []any{}
	for _, t := range p.Tables {
		if file := b.tableOf(t.Stage); file != "" {
			sets = append(sets, recordSet(t, file))
		}
	}
	return written(map[string]any{"@context": croissantContext(), "@type": "sc:Dataset", "name": d.name,
		"conformsTo": "http://mlcommons.org/croissant/1.0", "description": d.text, "datePublished": d.date,
		"license": d.license, "version": "1.0.0", "url": "urn:weir:run:" + p.Run, "distribution": files, "recordSet": sets})
}

// tableOf returns the file that holds the table of a stage, of a format that states its types where there is one.
func (b *Bundle) tableOf(stage string) (file string) {
	for _, m := range b.release() {
		if kind, err := b.names.classify(b.Statement.Predicate.Public, m.name); err == nil && kind == tableFile &&
			stageOf(m.name) == stage && (file == "" || isText(file)) {
			file = m.name
		}
	}
	return file
}

// isText reports whether a file holds a table as text.
func isText(name string) bool {
	w := writerOf(name)
	return w != nil && w.Text()
}

// writerOf returns the format of a table by the ending that its name has in a release; nil of other files.
func writerOf(name string) table.Writer {
	for _, w := range table.Writers() {
		if path.Ext(name) == "."+w.Name() {
			return w
		}
	}
	return nil
}

// recordSet lists the columns of a table.
func recordSet(t record.Table, file string) map[string]any {
	fields := []any{}
	for _, c := range t.Columns {
		fields = append(fields, map[string]any{"@type": "cr:Field", "@id": t.Stage + "/" + c.Name, "name": c.Name,
			"description": cmp.Or(c.Doc, "Column "+c.Name+"."), "dataType": dataType(c.Type, file),
			"source": map[string]any{"fileObject": map[string]string{"@id": file},
				"extract": map[string]string{"column": c.Name}}})
	}
	return map[string]any{"@type": "cr:RecordSet", "@id": t.Stage, "name": t.Stage,
		"description": "Rows of the stage " + t.Stage + "; each is synthetic or released, and describes no real person.",
		"field":       fields}
}

// dataType returns the type of a column in Croissant; categories are text, however they are spelled, and so are
// booleans in a file of text.
func dataType(kind, file string) string {
	switch {
	case kind == "integer":
		return "sc:Integer"
	case kind == "numeric":
		return "sc:Float"
	case kind == "date" || kind == "datetime":
		return "sc:Date"
	case kind == "boolean" && !isText(file):
		return "sc:Boolean"
	}
	return "sc:Text"
}

// mediaType returns the type of a member.
func mediaType(name string) string {
	if w := writerOf(name); w != nil {
		return w.MediaType()
	}
	types := map[string]string{".md": "text/markdown", ".txt": "text/plain", ".yaml": "application/yaml",
		".json": "application/json", ".jsonl": "application/jsonl", ".svg": "image/svg+xml", ".png": "image/png",
		".html": "text/html", ".model": "application/zip", ".detector": "application/zip"}
	return cmp.Or(types[path.Ext(name)], "application/octet-stream")
}

// croissantContext maps all terms of the specification, so that readers which compare the context know this one.
func croissantContext() map[string]any {
	c := map[string]any{"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
		"cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
		"dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo",
		"data":     map[string]string{"@id": "cr:data", "@type": "@json"},
		"examples": map[string]string{"@id": "cr:examples", "@type": "@json"},
		"dataType": map[string]string{"@id": "cr:dataType", "@type": "@vocab"}}
	for _, term := range strings.Fields("citeAs column equivalentProperty extract field fileObject fileProperty fileSet " +
		"format includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace " +
		"samplingRate separator source subField transform") {
		c[term] = "cr:" + term
	}
	return c
}

// crate describes the bundle for research repositories (RO-Crate 1.1, w3id.org/ro/crate/1.1).
func (b *Bundle) crate() ([]byte, error) {
	p := b.Statement.Predicate
	d := p.describing()
	id := func(name string) map[string]string { return map[string]string{"@id": name} }
	parts, files := []any{}, []any{}
	for _, m := range b.members {
		if m.name == crateName {
			continue
		}
		parts = append(parts, id(m.name))
		files = append(files, map[string]any{"@id": m.name, "@type": "File", "name": m.name,
			"contentSize": strconv.FormatInt(m.size, 10), "encodingFormat": mediaType(m.name)})
	}
	parts = append(parts, id(statementName)) // no size: it holds the digest of this file
	files = append(files, map[string]any{"@id": statementName, "@type": "File", "name": statementName,
		"encodingFormat": "application/json", "description": "in-toto statement with the SHA-256 of every file"})
	graph := []any{
		map[string]any{"@id": crateName, "@type": "CreativeWork", "about": id("./"),
			"conformsTo": id("https://w3id.org/ro/crate/1.1")},
		map[string]any{"@id": "./", "@type": "Dataset", "name": d.name, "description": d.text, "datePublished": d.date,
			"license": d.license, "identifier": "urn:weir:run:" + p.Run, "hasPart": parts, "mentions": id("#run")},
		map[string]any{"@id": "#run", "@type": "CreateAction", "name": "Run of " + p.Name, "instrument": id("#weir"),
			"result": results(b)},
		map[string]any{"@id": "#weir", "@type": "SoftwareApplication", "name": "weir", "softwareVersion": p.Weir},
	}
	return written(map[string]any{"@context": "https://w3id.org/ro/crate/1.1/context",
		"@graph": slices.Concat(graph, files)})
}

// results lists the files of the release.
func results(b *Bundle) []any {
	list := []any{}
	for _, m := range b.release() {
		list = append(list, map[string]string{"@id": releaseDir + m.name})
	}
	return list
}
