// Package etl reads and writes Event Trace Log files: the container that
// Event Tracing for Windows writes, and the kernel and CLR events that a
// sample profile needs.
//
// A file is a row of buffers, each filled by one processor. A [File] knows
// what the log file header and the buffer headers say; only those are read to
// open it. A [Decoder], one per worker, unpacks a buffer into memory of its own
// and walks its records without allocating:
//
//	dec := f.NewDecoder(etl.ClassLBR | etl.ClassPMC)
//	for i := range f.Buffers() {
//		it := dec.Buffer(i)
//		for it.Next() {
//			rec := it.Record()
//			...
//		}
//		if err := it.Err(); err != nil && !etl.IsDamage(err) {
//			return err
//		}
//	}
//
// Buffers are independent of each other, so any number of workers may decode
// them at once. Within one buffer time never runs backwards; across buffers
// file order means nothing. [Open] opens the files of a recording, packed or
// not; [Merge] yields their records in global time order, for the few classes
// that have to be seen in order.
//
// The Decode functions turn the payload of a [Record] into a struct. Layouts
// that depend on the event's version are rows of a table which the decoder and
// the encoder share.
//
// The layouts come from public headers and documentation and above all from
// real files; docs/format/etl.md gives them, and says of each which bytes
// prove it.
//
// Stance on hostile input: a damaged record costs at most the rest of its
// buffer, a damaged buffer header at most the rest of its file. Every loss is
// counted by reason in [Damage]. Sizes are compared with what is there, and
// with [Options], before memory is taken.
package etl
