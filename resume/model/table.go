package model

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// A rule is one row of the table. It covers all names with the same prefix.
type rule struct {
	name       string // lower case, without provider; Claude's names have hyphens for dots
	vendor     string
	window     int // tokens
	input      int // how many of them a request may use; 0 for all
	long       int // window if the name ends in "[1m]"; 0 for the same as window
	claudeCode int // window in Claude Code without "[1m]"; 0 for the same as window
	count      counting
	source     string // of window and input
}

// counting compares a vendor's tokens with those of o200k_base.
type counting struct {
	exact  bool
	factor float64
	source string
}

//go:embed models.tsv
var modelRows string

//go:embed counts.tsv
var countRows string

// rules returns the rows of models.tsv. An empty number is 0.
var rules = sync.OnceValue(func() (all []rule) {
	counts := map[string]counting{}
	for row := range rows(countRows) {
		factor, _ := strconv.ParseFloat(row[2], 64)
		counts[row[0]] = counting{row[1] == "exact", factor, row[3]}
	}
	for row := range rows(modelRows) {
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(row[2+i])
		}
		all = append(all, rule{row[0], row[1], n[0], n[1], n[2], n[3], counts[row[6]], row[7]})
	}
	return all
})

// rows iterates over the rows of a table, skipping comments.
func rows(table string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			if !strings.HasPrefix(line, "#") && !yield(strings.Split(strings.TrimSuffix(line, "\n"), "\t")) {
				return
			}
		}
	}
}
