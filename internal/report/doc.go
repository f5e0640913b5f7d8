// Package report turns the results of the steps into what people read and
// what --json prints. The text and the JSON of a report state the same facts.
// The names of the JSON members are documented in docs/json.md and stable.
package report
