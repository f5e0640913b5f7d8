package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shell is a command that a shell runs.
func shell(label, script string, results ...string) *command {
	return &command{label: label, stages: [][]string{{"sh", "-c", script}}, results: results}
}

func rival(label, script string) *command {
	c := shell(label, script)
	c.peer = true
	return c
}

func tables(list []*contest, rounds int) string {
	var out bytes.Buffer
	printSpeed(&out, list)
	printRatios(&out, list, rounds)
	printGrowth(&out, list)
	printWorkers(&out, list)
	return out.String()
}

func testSettings(t *testing.T) *settings {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	s := &settings{rounds: 3, limit: time.Minute, dir: t.TempDir()}
	if err := os.Mkdir(s.output(""), 0o777); err != nil {
		t.Fatal(err)
	}
	return s
}

func text(dir, name, content string) *input {
	return &input{title: name, path: filepath.Join(dir, name), make: func(path string) error { return os.WriteFile(path, []byte(content), 0o666) }}
}

func expect(t *testing.T, got string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(got) {
			t.Errorf("nothing matches %q in\n%s", p, got)
		}
	}
}

func TestTables(t *testing.T) {
	s := testSettings(t)
	out := s.output("out")
	missing := rival("absent", "")
	missing.err = errors.New("not installed")
	c := &contest{name: "c", growth: true, input: text(s.dir, "in", strings.Repeat("x", 12_000_000)), commands: []*command{
		shell("ours", "echo same >"+out, out), shell("ours -j1", "echo same >"+out, out),
		rival("peer", "echo message >&2"), rival("broken", "echo first >&2; echo last '|' words >&2; exit 3"), missing}}
	if !c.run(context.Background(), s) {
		t.Error("failures of peers count as ours")
	}
	got := tables([]*contest{c}, s.rounds)
	number := ` \d+\.\d\d \|`
	expect(t, got,
		`\| in \| 12 \| ours \|`+number+` \d+ \|`+number, `\| in \| 12 \| broken: exit status 3: last / words \|`, `\| in \| 12 \| absent: not installed \|`,
		`\| in \| 12 \| peer \|`+strings.Repeat(number, 4)+`  \|`+number, `\n\| 12 \|`+number, `\| yes \|`)
	if strings.Count(got, "broken") != 1 || strings.Count(got, "absent") != 1 {
		t.Errorf("a peer that failed is compared:\n%s", got)
	}
}

func TestFailures(t *testing.T) {
	s := testSettings(t)
	out := s.output("out")
	for name, tc := range map[string]struct {
		script, want string
	}{
		"no output":       {"true", "no such file"},
		"different bytes": {"echo $$ >" + out, "two runs wrote different bytes"},
	} {
		c := &contest{input: text(s.dir, "in", "x"), commands: []*command{shell("ours", tc.script, out), rival("peer", "true")}}
		if c.run(context.Background(), s) {
			t.Errorf("%s: no failure", name)
		}
		expect(t, tables([]*contest{c}, s.rounds), "ours: .*"+tc.want)
	}
	broken := &contest{input: &input{title: "none", path: filepath.Join(s.dir, "none"), make: func(path string) error {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			return err
		}
		return errors.New("disk full")
	}}}
	if broken.run(context.Background(), s) {
		t.Error("an input that could not be made counts as success")
	}
	expect(t, tables([]*contest{broken}, s.rounds), `\| none \|  \| failed: disk full \|`)
	if _, err := os.Stat(broken.input.path); err == nil {
		t.Error("half an input is left")
	}
}
