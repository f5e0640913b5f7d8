// Package filelock keeps programs that read a file, change it and put the
// result in its place from undoing each other's work.
//
// The lock belongs to the file at a path, which is replaced by renaming while
// the lock is held. So whoever waited for it may hold a lock on a file that is
// no longer there; Acquire then tries again with the one that is. On Unix the
// lock is an advisory one (flock) on the file itself, which leaves nothing
// behind, whatever happens to the program. Windows cannot rename over a file
// that is open; there the lock is a file beside it, which the system deletes
// when the program ends.
package filelock
