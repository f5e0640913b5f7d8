package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// megabytes are 1,000,000 bytes each.
func megabytes(n int64) string {
	if n < 10_000_000 {
		return fmt.Sprintf("%.1f", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f", float64(n)/1e6)
}

// resident is a peak in megabytes of 1,048,576 bytes, as tools show memory.
func resident(n int64) string {
	if n == 0 {
		return "?"
	}
	return fmt.Sprintf("%.0f", float64(n)/(1<<20))
}

// cell is an error as a table shows it.
func cell(err error) string {
	text := []rune(strings.NewReplacer("|", "/", "\n", " ").Replace(err.Error()))
	const longest = 160
	return string(text[:min(longest, len(text))])
}

// head begins a table; columns that end in a colon are numbers.
func head(w io.Writer, title string, columns ...string) {
	fmt.Fprintf(w, "\n**%s**\n\n|", title)
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", strings.TrimSuffix(c, ":"))
	}
	fmt.Fprint(w, "\n|")
	for _, c := range columns {
		if strings.HasSuffix(c, ":") {
			fmt.Fprint(w, "---:|")
		} else {
			fmt.Fprint(w, "---|")
		}
	}
	fmt.Fprintln(w)
}

func row(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

func seconds(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// printSpeed prints the median run of each command.
func printSpeed(w io.Writer, list []*contest) {
	head(w, "Speed and memory", "input", "MB:", "command", "wall s:", "MB/s:", "CPU s:", "peak RSS MB:")
	for _, c := range list {
		if c.err != nil {
			row(w, c.input.title, "", "failed: "+cell(c.err), "", "", "", "")
			continue
		}
		for _, cmd := range c.commands {
			if cmd.err != nil {
				row(w, c.input.title, megabytes(c.input.size), cmd.label+": "+cell(cmd.err), "", "", "", "")
				continue
			}
			m := median(cmd.runs)
			row(w, c.input.title, megabytes(c.input.size), cmd.label, seconds(m.wall.Seconds()),
				fmt.Sprintf("%.0f", float64(c.input.size)/1e6/m.wall.Seconds()), seconds(m.cpu.Seconds()), resident(m.peak))
		}
	}
}

// printRatios prints how many times as fast as a peer ours was, round by
// round, and how many times less processor time it took.
func printRatios(w io.Writer, list []*contest, rounds int) {
	columns := []string{"input", "MB:", "peer"}
	for k := range rounds {
		columns = append(columns, fmt.Sprintf("round %d:", k+1))
	}
	head(w, "Times as fast as peers, in the same round", append(columns, "median:", "aim:", "CPU, median:")...)
	for _, c := range list {
		if c.err != nil {
			continue
		}
		ours := c.commands[0]
		for _, cmd := range c.commands {
			if !cmd.peer || cmd.err != nil || ours.err != nil {
				continue
			}
			cells := []string{c.input.title, megabytes(c.input.size), cmd.label}
			var wall, cpu []float64
			for k := range cmd.runs {
				wall = append(wall, cmd.runs[k].wall.Seconds()/ours.runs[k].wall.Seconds())
				cpu = append(cpu, cmd.runs[k].cpu.Seconds()/ours.runs[k].cpu.Seconds())
				cells = append(cells, fmt.Sprintf("%.2f", wall[k]))
			}
			slices.Sort(wall)
			slices.Sort(cpu)
			aim := ""
			if cmd.aim > 0 {
				aim = fmt.Sprintf("%.2f", cmd.aim)
			}
			row(w, append(cells, fmt.Sprintf("%.2f", wall[len(wall)/2]), aim, fmt.Sprintf("%.2f", cpu[len(cpu)/2]))...)
		}
	}
}

// printGrowth prints how time and memory grow with the input.
func printGrowth(w io.Writer, list []*contest) {
	head(w, "Growth with the input", "perf.data, branch stacks, MB:", "wall s:", "wall s per GB:", "CPU s per GB:", "peak RSS MB:")
	growing := slices.DeleteFunc(slices.Clone(list), func(c *contest) bool { return !c.growth || c.err != nil || c.commands[0].err != nil })
	slices.SortFunc(growing, func(a, b *contest) int { return cmp.Compare(a.input.size, b.input.size) })
	for _, c := range growing {
		m, gigabytes := median(c.commands[0].runs), float64(c.input.size)/1e9
		row(w, megabytes(c.input.size), seconds(m.wall.Seconds()), seconds(m.wall.Seconds()/gigabytes), seconds(m.cpu.Seconds()/gigabytes), resident(m.peak))
	}
}

// printWorkers compares one worker with one for each processor.
func printWorkers(w io.Writer, list []*contest) {
	head(w, "One worker and one for each processor", "input", "MB:", "-j1 wall s:", "all wall s:", "times as fast:", "-j1 CPU s:", "all CPU s:",
		"-j1 RSS MB:", "all RSS MB:", "same bytes")
	for _, c := range list {
		if c.err != nil || len(c.commands) < 2 || c.commands[1].peer || c.commands[0].err != nil || c.commands[1].err != nil {
			continue
		}
		all, one := median(c.commands[0].runs), median(c.commands[1].runs)
		same := "yes"
		if c.commands[0].digest != c.commands[1].digest {
			same = "NO"
		}
		row(w, c.input.title, megabytes(c.input.size), seconds(one.wall.Seconds()), seconds(all.wall.Seconds()),
			fmt.Sprintf("%.2f", one.wall.Seconds()/all.wall.Seconds()), seconds(one.cpu.Seconds()), seconds(all.cpu.Seconds()),
			resident(one.peak), resident(all.peak), same)
	}
}
