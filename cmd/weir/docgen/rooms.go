package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"weir/pipeline"
)

// policyFile holds the policy of imports, as a test, relative to the folder in which docgen runs.
const policyFile = "../deps_test.go"

const roomsHead = generated + `# Rooms

Who may import whom, from the tables of ` + "`deps_test.go`" + `, which fails where this is broken. A folder belongs to
the innermost room that it lies in. A room inside another one is closed to all that do not name it; every room may
import ` + "`internal/bitmath`" + `. [The design](design.md) says why the folders are cut so.

| room | what it holds | may import | why |
| --- | --- | --- | --- |
`

// room is a line of the policy: a folder, what it may import of ours, and the reason where one is given.
type room struct {
	folder, reason string
	imports        []string
}

// roomsPage writes a line for each room of the policy.
func roomsPage(*pipeline.Registry) ([]byte, error) {
	rooms, err := policy()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(roomsHead)
	for _, r := range rooms {
		content, err := synopsis(path.Join("..", r.folder))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.folder, content, quoted(r.imports), r.reason)
	}
	return []byte(b.String()), nil
}

// policy reads the rooms of the whole project, then those inside runtime, in the order of the file.
func policy() ([]room, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, policyFile, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var all []room
	for _, table := range []struct{ name, under string }{{"allowed", ""}, {"runtimeRooms", "runtime"}} {
		rooms, err := tableOf(fset, file, table.name, table.under)
		if err != nil {
			return nil, err
		}
		all = append(all, rooms...)
	}
	return all, nil
}

// tableOf reads the map that a function of the policy returns. Its folders and imports are relative to under.
func tableOf(fset *token.FileSet, file *ast.File, name, parent string) (rooms []room, err error) {
	var fn *ast.FuncDecl
	if o := file.Scope.Lookup(name); o != nil {
		fn, _ = o.Decl.(*ast.FuncDecl)
	}
	if fn == nil {
		return nil, fmt.Errorf("%s: %s is not a function, must be one that returns the policy", policyFile, name)
	}
	table := fn.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.CompositeLit)
	last := fset.Position(table.Lbrace).Line
	for _, e := range table.Elts {
		entry := e.(*ast.KeyValueExpr)
		line := fset.Position(entry.Pos()).Line
		r := room{folder: path.Join(parent, text(entry.Key)), reason: commentsBetween(fset, file, last, line)}
		for _, v := range entry.Value.(*ast.CompositeLit).Elts {
			r.imports = append(r.imports, path.Join(parent, text(v)))
		}
		rooms, last = append(rooms, r), fset.Position(entry.End()).Line
	}
	return rooms, nil
}

// text returns the string of a literal or of the constant bitmath.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil {
			return s
		}
	case *ast.Ident:
		return text(e.Obj.Decl.(*ast.ValueSpec).Values[0])
	}
	return ""
}

// commentsBetween joins the comments that begin after one line and up to another.
func commentsBetween(fset *token.FileSet, file *ast.File, after, limit int) string {
	var words []string
	for _, group := range file.Comments {
		if line := fset.Position(group.Pos()).Line; line > after && line <= limit {
			words = append(words, strings.Fields(group.Text())...)
		}
	}
	return strings.Join(words, " ")
}

// synopsis returns the first sentence of a package's comment without its subject; "" for a folder without a package.
func synopsis(folder string) (string, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return "", err
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return "", err
		}
		if file.Doc == nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		words := strings.Fields(new(doc.Package).Synopsis(file.Doc.Text()))
		return strings.TrimSuffix(strings.Join(words[min(2, len(words)):], " "), "."), nil
	}
	return "", nil
}

// quoted lists folders as code; "nothing" for none.
func quoted(folders []string) string {
	if len(folders) == 0 {
		return "nothing"
	}
	return "`" + strings.Join(folders, "`, `") + "`"
}
