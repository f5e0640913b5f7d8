// Package spe decodes the records of the Arm Statistical Profiling Extension:
// packets in a byte slice, and the records that they make up. The format is the
// sample record protocol of the Arm Architecture Reference Manual (DDI 0487);
// docs/format/spe.md describes it.
//
// A packet is a header of one or two bytes and a payload of up to eight; a
// record is one sampled operation, the packets up to and including an end or
// timestamp packet. Payloads are little-endian, in recordings of big-endian
// machines too.
//
//	var d spe.Decoder
//	d.Reset(data, 0)
//	var r spe.Record
//	for d.Next(&r) {
//		if r.Whole() && r.Op.Branch() && r.Events.Has(spe.EventRetired) {
//			from, to := r.PC.Address(), r.Target.Address()
//			...
//		}
//	}
//
// The caller owns the data. Decoding allocates nothing and copies nothing but
// the fields.
//
// Stance on hostile input: every sequence of bytes is a stream. Packets of
// unknown kinds are stepped over by the size in their header, as the
// architecture asks, and make their record a damaged one. A packet that runs
// past the end makes its record a truncated one. Nothing is dropped: records
// and the padding between them add up to the input.
package spe
