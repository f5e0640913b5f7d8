// Package spt reads and writes SPT (Sample Profile Trace) files, version 1,
// and their text form. Both directions stream: the tables at the start of a
// file are kept in memory, its records are not, so that a file of any size is
// read, written, printed and parsed in constant memory.
//
// The source of fact is the page "SPTDump" of the MSVC documentation; what
// that page leaves open is decided here and written down in
// docs/format/spt.md, with the layout byte by byte.
//
// # Layout
//
// All integers are little-endian.
//
//	header              32 bytes
//	string table        NUL-terminated UTF-8 names, StringTableCapacity bytes
//	program id table    ProgramIdCapacity entries of 24 bytes:
//	                    GUID, u32 age, u32 string index
//	data stream         to the end of the file: segments, each
//	  BINARY_ID         0x81, u8 padding, u16 program id index, u32 length
//	  items             length-4 bytes:
//	    REPEAT          0x82, u8 padding, u64 count
//	    LBR             0x10, u8 N, N x {u32 To, u32 From}
//	    all others      opcode, u8 N, N x u32 RVA
//
// # Bad input
//
// Bad input gives a [binfmt.Error] with the absolute offset of the wrong
// field; it never causes a panic, an endless loop or an allocation by a size
// that the file claims. Each way in which a data stream can be damaged is a
// [Defect]. By default a [Reader] stops at the first one; with
// [Options.Tolerate] it steps over damage, counts what it skipped by defect
// and goes on.
//
// # Round trips
//
// [Copy] of a sound file gives the same bytes, including reserved fields,
// padding bytes, unused capacity, empty segments and program id indices that
// count from 1. So does [WriteText] followed by [ParseText].
//
// # Text form
//
// The text form has one item a line. Words are separated by blanks; a # at
// the start of a word begins a comment; leading blanks and empty lines mean
// nothing. Numbers are decimal, or hexadecimal after 0x. Strings are quoted as
// in Go, so that a name which is not valid UTF-8 survives as \x escapes.
//
//	spt 1
//	header RawDataId 0x0
//	header TargetArch 0x0
//	header StringTableOffset 0x20
//	header ProgramIdTableOffset 0x4020
//	header StringTableUsed 8
//	header StringTableCapacity 16384
//	header ProgramIdsUsed 1
//	header ProgramIdCapacity 256
//	string 0x0 "app.exe"
//	program 0 {884C945B-FE84-B717-4C4C-44205044422E} age 1 string 0x0 "app.exe"
//	binary 0 length 44 # "app.exe"
//	  UNHALT_CYCLE 0x1000 0x1010
//	  LBR repeat 41 0x1010->0x2000
//	  ETW_CALLSTACK 0x1000 0x2000
//
// The lines, in the order in which they have to stand:
//
//   - "spt VERSION" opens every text.
//   - "header FIELD VALUE" gives the fields of the header by their documented
//     names: all eight, in any order, or none.
//   - "string OFFSET TEXT [unterminated]" is one string of the used part of
//     the string table, OFFSET bytes from its start. Strings follow each other
//     without gaps; only the last may lack its NUL.
//   - "program INDEX GUID age AGE string STRINGINDEX NAME" is one used entry
//     of the program id table. NAME has to be the string that STRINGINDEX
//     stands for.
//   - "bytes OFFSET HEX" gives bytes before the data stream that no used entry
//     covers: unused capacity and gaps between the tables. OFFSET is absolute.
//     What no line gives is zero.
//   - "binary INDEX [pad BYTE] [length BYTES]" is a BINARY_ID with its fields
//     as stored. With a length it is one segment whose items have to add up to
//     just that. Without one the length is computed, and the segment is cut
//     into several where it outgrows 1 MiB.
//   - "OPCODE [repeat COUNT [pad BYTE]] ENTRY..." is one record under its
//     documented name, after its REPEAT if it has one. An entry is an RVA;
//     those of LBR are FROM->TO, although the file stores To first.
//
// Without header lines there are no string and bytes lines either, programs
// are written "program INDEX GUID age AGE NAME", and the tables are laid out
// as [NewWriter] does. This short form is for writing traces by hand. A
// tolerant reader's text has no lengths and ends with comments that say what
// was skipped, so that parsing it gives a repaired file.
package spt
