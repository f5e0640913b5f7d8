package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/internal/armwalk"
	"github.com/spgo-tools/spgo/internal/corpus"
	"github.com/spgo-tools/spgo/internal/correlate"
)

// emulatedProgram sorts words, counts them in a hash table and runs a small
// interpreter: with libc's functions, jump tables and function pointers.
const emulatedProgram = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N __attribute__((noinline))
static unsigned seed = 12345;
static N unsigned next(void) { seed = seed * 1103515245 + 12345; return seed >> 16 & 0x7fff; }
static char words[600][12];
static int compare(const void *a, const void *b) { return strcmp(a, b); }
static N void fill(void) {
	for (int i = 0; i < 600; i++) {
		int n = 3 + next() % 8;
		for (int k = 0; k < n; k++) words[i][k] = 'a' + next() % (k ? 26 : 4);
		words[i][n] = 0;
	}
}
static unsigned table[256];
static N unsigned hash(const char *s) { unsigned h = 5381; while (*s) h = h * 33 ^ (unsigned char)*s++; return h; }
static N void count(void) { for (int i = 0; i < 600; i++) table[hash(words[i]) & 255]++; }
static long add(long a, long b) { return a + b; }
static long xor(long a, long b) { return a ^ b; }
static long (*const operations[])(long, long) = {add, xor};
static N long interpret(const unsigned char *code, int n) {
	long acc = 1, other = 7;
	for (int pc = 0; pc < n; pc++)
		switch (code[pc]) {
		case 0: acc += other; break;
		case 1: acc -= 3; break;
		case 2: { long x = acc; acc = other; other = x; } break;
		case 3: if (acc & 1) pc++; break;
		case 4: acc = operations[acc & 1](acc, other); break;
		case 5: acc *= 5; break;
		case 6: while (acc > 1000000) acc >>= 3; break;
		default: other++;
		}
	return acc + other;
}
int main(void) {
	static unsigned char code[900];
	long sum = 0;
	for (int i = 0; i < 900; i++) code[i] = next() % 9;
	for (int round = 0; round < 2; round++) {
		fill();
		qsort(words, 600, 12, compare);
		count();
		for (int i = 0; i < 6; i++) sum += interpret(code, 900 - round * 10);
	}
	for (int i = 0; i < 256; i++) sum += table[i] * i;
	printf("%ld\n", sum);
	return 0;
}
`

// buildEmulated compiles the program for AArch64.
func buildEmulated(t *testing.T) string {
	t.Helper()
	gcc := corpus.Tool(t, "aarch64-linux-gnu-gcc")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "run.c"), filepath.Join(dir, "run")
	if err := os.WriteFile(source, []byte(emulatedProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-O2", "-static", "-Wl,--build-id=sha1", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// emulate runs the program and returns the addresses that it executed.
func emulate(t *testing.T, qemu, program string) []uint64 {
	t.Helper()
	help, err := exec.Command(qemu, "-help").Output()
	if err != nil {
		t.Fatal(err)
	}
	single := "-one-insn-per-tb"
	if !strings.Contains(string(help), single[1:]) {
		single = "-singlestep" // its name before QEMU 8.1
	}
	// What the C library does at the start depends on the environment and the
	// name of the program; they are the same in every run.
	run := exec.Command(qemu, single, "-seed", "1", "-d", "exec,nochain", "./"+filepath.Base(program))
	run.Dir, run.Env = filepath.Dir(program), []string{"LC_ALL=C"}
	log, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	executed, err := armwalk.ReadLog(log)
	if err := errors.Join(err, run.Wait()); err != nil || len(executed) < 100_000 {
		t.Fatalf("%s: %d instructions, %v", qemu, len(executed), err)
	}
	return executed
}

// TestSPEAccuracyEmulated compares the SPT of a real execution, which an
// emulator logged, with what was executed.
func TestSPEAccuracyEmulated(t *testing.T) {
	qemu := corpus.Tool(t, "qemu-aarch64", "qemu-aarch64-static")
	program := buildEmulated(t)
	p, err := armwalk.Load(program)
	if err != nil {
		t.Fatal(err)
	}
	executed := emulate(t, qemu, program)
	t.Logf("%d instructions were executed", len(executed))
	for _, c := range []struct {
		name    string
		options armwalk.Options
		blocks  map[correlate.Mode]float64
	}{
		{"all operations", armwalk.Options{Interval: 10}, map[correlate.Mode]float64{correlate.Auto: 0.98, correlate.IP: 0.98, correlate.LBR: 0.85}},
		{"branches", armwalk.Options{Interval: 4, Branches: true}, map[correlate.Mode]float64{correlate.LBR: 0.85}},
		{"branches with previous targets", armwalk.Options{Interval: 4, Branches: true, Previous: true}, map[correlate.Mode]float64{correlate.LBR: 0.98}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Path, c.options.Seed, c.options.Executed = "/no/run", 7, executed
			checkAccuracy(t, program, p, c.options, 300, c.blocks)
		})
	}
}
