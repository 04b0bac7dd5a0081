// Package show words plans and kinds for people: text, Markdown, Mermaid, Graphviz.
package show
