package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// contest is an input with the commands that read it in turn. The first one is
// ours, to which the peers are compared.
type contest struct {
	name     string // what -run matches
	input    *input
	commands []*command
	growth   bool  // belongs to the table of growth
	err      error // the input could not be made
}

// command is one way to read the input.
type command struct {
	label   string
	peer    bool
	aim     float64    // how many times as fast as this peer ours should be
	stages  [][]string // programs that run one after the other
	results []string   // files that it writes; they are removed before
	runs    []figure
	digest  [sha256.Size]byte // of what it wrote
	err     error             // it is not installed or failed, and ran no more
}

// run makes the input and measures. It tells whether ours went well.
func (c *contest) run(ctx context.Context, s *settings) bool {
	if c.err = c.input.prepare(); c.err != nil {
		return false
	}
	for round := range s.rounds {
		for _, cmd := range c.commands {
			if cmd.err != nil {
				continue
			}
			fmt.Fprintf(os.Stderr, "bench: %s, round %d of %d: %s\n", c.name, round+1, s.rounds, cmd.label)
			cmd.measure(ctx, s)
		}
	}
	well := true
	for _, cmd := range c.commands {
		well = well && (cmd.peer || cmd.err == nil)
	}
	return well
}

// measure runs the stages once. A failure ends the command's part.
func (cmd *command) measure(ctx context.Context, s *settings) {
	for _, name := range cmd.results {
		if cmd.err = os.RemoveAll(name); cmd.err != nil {
			return
		}
	}
	var sum figure
	for _, stage := range cmd.stages {
		f, err := measure(ctx, stage, s.limit, s.output("messages"))
		if err != nil {
			cmd.err = err
			return
		}
		sum.add(f)
	}
	for _, name := range cmd.results {
		if info, err := os.Stat(name); err == nil && info.Size() == 0 {
			cmd.err = fmt.Errorf("wrote nothing: %s", lastLine(s.output("messages")))
			return
		}
	}
	if !cmd.peer {
		digest, err := digestOf(cmd.results)
		switch {
		case err != nil:
			cmd.err = err
			return
		case len(cmd.runs) > 0 && digest != cmd.digest:
			cmd.err = fmt.Errorf("two runs wrote different bytes")
			return
		}
		cmd.digest = digest
	}
	cmd.runs = append(cmd.runs, sum)
}

func digestOf(names []string) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return sum, err
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return sum, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// tool is one of our commands, as make build leaves it.
func tool(name string) string { return filepath.Join("bin", name) }

// aggregate is sptaggregate on inputs.
func (s *settings) aggregate(label string, args ...string) *command {
	out := s.output("aggregate.spt")
	return &command{label: label, stages: [][]string{append([]string{tool("sptaggregate"), "--quiet", "-o", out}, args...)}, results: []string{out}}
}

// both is sptaggregate with all processors and with one.
func (s *settings) both(args ...string) []*command {
	return []*command{s.aggregate("`sptaggregate`", args...), s.aggregate("`sptaggregate -j1`", append(args, "-j1")...)}
}

// perf is perf with arguments.
func (s *settings) perf(label string, aim float64, args ...string) *command {
	return s.rival(label, aim, "perf", args...)
}

func (s *settings) rival(label string, aim float64, program string, args ...string) *command {
	c := &command{label: label, peer: true, aim: aim}
	path, err := peerPath(program)
	if err != nil {
		c.err = err
	}
	c.stages = [][]string{append([]string{path}, args...)}
	return c
}

// contests lists all, from small to large.
func contests(s *settings) []*contest {
	list := s.growing()
	list = append(list, s.perfKinds()...)
	list = append(list, s.speKinds()...)
	for _, w := range []*input{
		s.windows("windows", "ETL, branch stacks", s.bytes),
		s.windows("windows-packed", fmt.Sprintf("ETL, XPRESS of %s MB", megabytes(s.bytes)), s.bytes, "-compress"),
		s.windows("windows-stacks", "ETL, call stacks", s.bytes/2, "-stacks"),
	} {
		list = append(list, &contest{name: baseName(w), input: w, commands: s.both(w.path)})
	}
	return append(list, s.many(), s.fold(), s.imports(), s.toCompiler())
}

// baseName is the name of an input without its ending.
func baseName(in *input) string {
	name := filepath.Base(in.path)
	return name[:len(name)-len(filepath.Ext(name))]
}

// growing has recordings with branch stacks of an eighth to four times the
// standard size.
func (s *settings) growing() []*contest {
	var list []*contest
	for _, size := range []int64{s.bytes / 8, s.bytes / 2, s.bytes, 4 * s.bytes} {
		if size > s.bytes && !s.largest {
			continue
		}
		in := s.branches(size)
		c := &contest{name: baseName(in), input: in, growth: true}
		switch size {
		case s.bytes / 2:
			c.commands = []*command{s.aggregate("`sptaggregate`", in.path),
				s.perf("`perf script -F ip,brstack`", 10, "script", "-i", in.path, "-F", "ip,brstack")}
		case s.bytes:
			c.commands = append(s.both(in.path), s.walk(in, 1.0/3))
		default:
			c.commands = []*command{s.aggregate("`sptaggregate`", in.path)}
		}
		list = append(list, c)
	}
	return list
}

// walk is what perf needs to go through the records alone.
func (s *settings) walk(in *input, aim float64) *command {
	return s.perf("`perf report --stats`", aim, "report", "--stats", "-i", in.path)
}

func (s *settings) perfKinds() []*contest {
	chains, part := s.chains(s.bytes/2), s.chains(s.bytes/64)
	packed, packedPart := s.packed(s.bytes), s.packed(s.bytes/8)
	return []*contest{
		{name: baseName(chains), input: chains, commands: append(s.both(chains.path), s.walk(chains, 0))},
		{name: baseName(part), input: part, commands: []*command{s.aggregate("`sptaggregate`", part.path),
			s.perf("`perf script -F ip`", 0, "script", "-i", part.path, "-F", "ip")}},
		{name: baseName(packed), input: packed, commands: append(s.both(packed.path), s.walk(packed, 0))},
		{name: baseName(packedPart), input: packedPart, commands: []*command{s.aggregate("`sptaggregate`", packedPart.path),
			s.perf("`perf script -F ip,brstack`", 0, "script", "-i", packedPart.path, "-F", "ip,brstack")}},
	}
}

func (s *settings) speKinds() []*contest {
	whole, part := s.spe(s.bytes/2), s.spe(s.bytes/16)
	return []*contest{
		{name: baseName(whole), input: whole, commands: s.both(whole.path)},
		{name: baseName(part), input: part, commands: []*command{s.aggregate("`sptaggregate`", part.path),
			s.perf("`perf script --itrace=i1i`", 20, "script", "-i", part.path, "--itrace=i1i"),
			s.perf("`perf script --itrace=i1i -F ip`", 0, "script", "-i", part.path, "--itrace=i1i", "-F", "ip")}},
	}
}

// many has small recordings by a list.
func (s *settings) many() *contest {
	in := s.hosts(int(max(4, s.bytes/4_000_000)))
	return &contest{name: baseName(in), input: in, commands: s.both("@" + s.list(in))}
}

func (s *settings) fold() *contest {
	in := s.partials(int(max(4, s.bytes/1_000_000)))
	return &contest{name: baseName(in), input: in, commands: s.both("@" + s.list(in))}
}

// list is where the names of a folder's files are, one a line.
func (s *settings) list(folder *input) string {
	name := folder.path + ".list"
	write := folder.make
	folder.make = func(path string) error {
		if err := write(path); err != nil {
			return err
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) != ".spd" {
				fmt.Fprintln(f, filepath.Join(folder.path, e.Name()))
			}
		}
		return f.Close()
	}
	return name
}

func (s *settings) imports() *contest {
	in := s.wide(s.bytes / 100)
	out := s.output("import.spd")
	return &contest{name: baseName(in), input: in, commands: []*command{{label: "`spdconvert`", results: []string{out}, stages: [][]string{
		{tool("spdconvert"), "--quiet", "-o", out, filepath.Join(in.path, "app.spd"), filepath.Join(in.path, "arcs.spt")}}}}}
}

// toCompiler makes an LLVM profile of a recording.
func (s *settings) toCompiler() *contest {
	in, binary := s.known(s.bytes / 4)
	samples, profile, llvm := s.output("known.spt"), s.output("known.spd"), s.output("known.prof")
	ours := &command{label: "`sptaggregate`, `spdconvert`, `/export:llvm`", results: []string{samples, profile, llvm}, stages: [][]string{
		{tool("sptaggregate"), "--quiet", "/etl", in.path, "--image-path", filepath.Dir(binary), "/binary:" + filepath.Base(binary), "-o", samples},
		{tool("spdconvert"), "--quiet", "--image", binary, profile, samples},
		{tool("spdconvert"), "--quiet", "/export:llvm", "--image", binary, profile, llvm},
	}}
	theirs := s.output("peer.out")
	rival := func(label string, aim float64, program string, args ...string) *command {
		c := s.rival(label, aim, program, args...)
		c.results = []string{theirs}
		return c
	}
	return &contest{name: baseName(in), input: in, commands: []*command{ours,
		rival("`llvm-profgen`", 10, "llvm-profgen", "--binary="+binary, "--perfdata="+in.path, "--output="+theirs),
		rival("`perf2bolt`", 0, "perf2bolt", "-p", in.path, "-o", theirs, binary),
		rival("`create_llvm_prof --format=text`", 0, "create_llvm_prof", "--binary="+binary, "--profile="+in.path, "--out="+theirs, "--format=text"),
	}}
}
