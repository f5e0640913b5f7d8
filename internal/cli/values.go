package cli

import (
	"strconv"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"github.com/spgo-tools/spgo/internal/diag"
)

// checkValues refuses values that urfave/cli would not read, whose errors are
// those of its parser and do not say what is allowed. The arguments are as
// normalize returns them.
func (c *Command) checkValues(normal []string, flags []urfave.Flag) error {
	byName := make(map[string]urfave.Flag)
	for _, f := range flags {
		byName[f.Names()[0]] = f
	}
	for _, arg := range normal {
		if arg == "--" {
			break
		}
		name, value, attached := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		f := byName[name]
		if !attached || f == nil {
			continue
		}
		var err error
		var want string
		switch f.(type) {
		case *urfave.IntFlag:
			want = "a whole number"
			_, err = strconv.ParseInt(value, 0, strconv.IntSize)
		case *urfave.Uint64Flag:
			want = "a whole number from 0 on"
			_, err = strconv.ParseUint(value, 0, 64)
		case *urfave.DurationFlag:
			want = "a time with its unit (ms, s, m or h)"
			_, err = time.ParseDuration(value)
		}
		if err != nil {
			what, usage := usageOf(f)
			return diag.New(diag.BadValue, "--%s takes %s, not %q", name, want, value).
				Do("Give a value as /help says: /%s:%s, %s.", name, what, strings.ReplaceAll(usage, "\n", " "))
		}
	}
	return nil
}
