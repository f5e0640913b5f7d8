package cli

import (
	"strings"

	"github.com/spgo-tools/spgo/internal/diag"
)

// suggest has the next step of an error about an unknown option name the known
// one that is nearest, where one is near.
func suggest(e *diag.Error, arg string, table map[string]option) *diag.Error {
	word := strings.ToLower(strings.TrimLeft(arg, "-/"))
	if n := strings.IndexAny(word, ":="); n >= 0 {
		word = word[:n]
	}
	nearest, least := "", 1+len(word)/4 // a longer word can have more slips
	for name := range table {
		if len(name) < 3 || max(len(word)-len(name), len(name)-len(word)) > least {
			continue // too short to be meant, or too far away in any case
		}
		if d := distance(word, name); d < least || d == least && (nearest == "" || name < nearest) {
			nearest, least = name, d
		}
	}
	if nearest == "" {
		return e
	}
	dashes := "--"
	if strings.HasPrefix(arg, "/") {
		dashes = "/"
	}
	return e.Do("Did you mean %s%s? %s", dashes, nearest, e.Next)
}

// distance is the least number of bytes to insert, delete or replace, or of
// neighbours to swap, that makes b of a.
func distance(a, b string) int {
	var before []int // the row before the last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
