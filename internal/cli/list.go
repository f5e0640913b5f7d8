package cli

import (
	"os"
	"strings"
)

// Names splits comma lists. Every value of values may hold several names.
func Names(values []string) []string {
	var names []string
	for _, v := range values {
		for _, n := range strings.Split(v, ",") {
			if n = strings.TrimSpace(n); n != "" {
				names = append(names, n)
			}
		}
	}
	return names
}

// Files splits comma lists of files. A value that names an existing file is
// that file, even if its name has commas.
func Files(values []string) []string {
	var files []string
	for _, v := range values {
		if _, err := os.Stat(v); err == nil {
			files = append(files, v)
			continue
		}
		files = append(files, Names([]string{v})...)
	}
	return files
}
