// Package robust holds the tests that all commands stand faults: signals, full
// disks, devices in the place of files, hostile input, and other writers.
// docs/security.md says what is promised; each promise names its test.
package robust
