package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"weir/internal/plaintext"
	"weir/runtime/store"
)

const noteLong = `Write a note on a run, which the list of runs shows below it; another one replaces it,
and an empty one ('') removes it. It stays in the run's internal folder.

` + namesRun + `

Exit codes: 0 done; 2 usage, or no such run.`

const tagLong = `Give a run tags, which the list of runs shows below it and weir runs --tag selects by;
--remove takes them away. They stay in the run's internal folder.

` + namesRun + `

Exit codes: 0 done; 2 usage, or no such run.`

// Lengths that keep a list of runs a list.
const (
	mostOfNote = 1000
	mostOfTag  = 40
)

func runsNoteCommand(s streams) *cobra.Command {
	var place runPlace
	c := &cobra.Command{
		Use:     "note RUN TEXT",
		Short:   "Write a note on a run",
		Long:    noteLong,
		Example: "  weir runs note latest 'tails are right, pairs are not'\n  weir runs note 20261121-052215-74fe39 ''",
		Args:    exactly(2, "RUN TEXT"),
		RunE: func(c *cobra.Command, args []string) error {
			if text := args[1]; !plaintext.Printable(text) || len(text) > mostOfNote {
				return usage(c, fmt.Errorf("TEXT: is %d bytes, must be one line of at most %d, %s", len(text), mostOfNote,
					plaintext.Accepted))
			}
			return place.write(c, s, args[0], func(n *store.Notes) { n.Note = strings.TrimSpace(args[1]) })
		},
	}
	place.add(c, "out")
	return c
}

func runsTagCommand(s streams) *cobra.Command {
	var place runPlace
	var remove bool
	c := &cobra.Command{
		Use:     "tag RUN WORD...",
		Short:   "Give a run tags",
		Long:    tagLong,
		Example: "  weir runs tag latest paper\n  weir runs tag latest paper --remove",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exactly(2, "RUN WORD")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			for _, word := range args[1:] {
				if !isTag(word) {
					return usage(c, fmt.Errorf("WORD: is %q, must be one word of at most %d bytes, %s", word, mostOfTag,
						plaintext.Accepted))
				}
			}
			return place.write(c, s, args[0], func(n *store.Notes) { n.Tags = tagged(n.Tags, args[1:], remove) })
		},
	}
	place.add(c, "out")
	c.Flags().BoolVar(&remove, "remove", false, "take the tags away")
	return c
}

func isTag(word string) bool {
	return word != "" && len(word) <= mostOfTag && plaintext.Printable(word) && !strings.ContainsFunc(word, unicode.IsSpace)
}

// tagged returns tags with further ones, or without them; each once, in order.
func tagged(tags, words []string, remove bool) []string {
	tags = slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return slices.Contains(words, t) })
	if !remove {
		tags = append(tags, words...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// write changes the notes on the run that an argument names.
func (p runPlace) write(c *cobra.Command, s streams, arg string, change func(*store.Notes)) error {
	dir, err := p.find(arg)
	if err != nil {
		return err
	}
	if _, err := readRun(dir); err != nil {
		return err
	}
	if err := (store.RunDir{Path: dir, Disk: diskOf(c, s)}).ChangeNotes(change); err != nil {
		return err
	}
	n, err := store.ReadNotes(dir)
	if err != nil {
		return err
	}
	words := strings.Join(append(hashed(n.Tags), n.Note), " ")
	_, err = fmt.Fprintln(plainly(s.out), strings.TrimRight(dir+": "+words, " :"))
	return err
}

// hashed marks words as tags.
func hashed(tags []string) (list []string) {
	for _, t := range tags {
		list = append(list, "#"+t)
	}
	return list
}
