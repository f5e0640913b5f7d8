//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestLimit ends a command that takes too long, and the process that it
// started: that one holds a pipe open, and would write to it.
func TestLimit(t *testing.T) {
	s := testSettings(t)
	s.limit = 300 * time.Millisecond
	pipe := filepath.Join(s.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := &contest{input: text(s.dir, "in", "x"), commands: []*command{shell("ours", "(sleep 5; echo late) >"+pipe+" & wait")}}
	if c.run(context.Background(), s) {
		t.Error("no failure")
	}
	expect(t, tables([]*contest{c}, s.rounds), "ours: was ended after 300ms")
	if late, err := io.ReadAll(r); err != nil || len(late) > 0 {
		t.Errorf("what the command started goes on after its end: %q, %v", late, err)
	}
}
