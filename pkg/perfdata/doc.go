// Package perfdata reads and writes perf.data recordings: the files, pipes
// and directories of Linux perf, and the variants that simpleperf and hiperf
// write. docs/format/perf.md describes the format and where each fact about
// it comes from.
//
// A [File] holds the facts about a recording: attributes, event names,
// machine and build ids. The records come from it in two ways.
//
// [File.Records] walks all records in file order, those inside compressed
// pieces too. It hands them out raw; [File.Decode] turns side-band records
// into typed events. On the way the walk builds an [Index]: counts by type,
// what was lost, where the data ended early, and which ranges hold samples.
//
// [File.Chunks] then hands those ranges to any number of workers, each with
// its own [Decoder], in blocks that fit a cache:
//
//	rs := f.Records()
//	for rs.Next() {
//		// decode MMAP, COMM, FORK, ... of rs.Record()
//	}
//	// rs.Err, then rs.Index
//	src := f.Chunks(rs.Index())
//	dec := f.NewDecoder(perfdata.SampleTID | perfdata.SampleBranchStack)
//	var c perfdata.Chunk
//	for src.Next(&c) { // in every worker
//		for dec.Reset(&c); dec.Next(); {
//			s := dec.Sample()
//			...
//		}
//	}
//
// [Writer] writes recordings in file or pipe mode, in either byte order and
// optionally compressed.
//
// Stance on hostile input: no input makes the package panic, loop or allocate
// by a size that it claims. Everything optional may be broken: a bad feature
// section becomes a warning, a bad sample is counted by its defect, and a
// file that is cut or damaged yields all records before the damage, which the
// Index reports. Memory stays bounded by the size of the header sections
// that are in the file, one chunk per worker, and for compressed recordings
// the window of the zstd stream.
package perfdata
