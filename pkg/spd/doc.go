// Package spd reads and writes SPD files, the sample profile databases that
// Microsoft's compiler and linker use for sample profile guided optimization.
//
// An SPD describes the functions of one binary: flow graphs with the machine
// code of every block, calls, inlined copies, and execution counts. The linker
// makes it with all counts zero; an import fills the counts in; the next link
// takes it as input. The layout was worked out from published files, see
// docs/format/spd.md, which says what is proved and what is not. The only
// version known is 0x100c.
//
// [File] is the whole content without offsets, sizes and hash links, which
// [Write] computes. Change counts in place, as in
//
//	f.Modules[0].Functions[i].Blocks[j].Count = n
//
// and write. [Open] and [NewReader] read the headers alone, [Reader.Symbols] the
// names and ids of the functions, [Reader.Read] everything. Writing what was
// read gives the same bytes, also after a trip through the text form
// ([WriteText], [ReadText]) or JSON ([WriteJSON], [ReadJSON]); only header
// statistics that do not follow from the counts are corrected.
//
// Input is not trusted. Reading ends with an error at the first structure that
// contradicts another, allocates in proportion to the size of the file and
// never by a claimed number alone. It does not judge what the numbers mean:
// [File.Violations] does.
//
// # Text form
//
// The text form has one element per line: a keyword and KEY=VALUE fields,
// separated by spaces. Numbers are decimal or, after 0x, hexadecimal. Strings
// are quoted as in Go. A field that is not given is zero; an unknown keyword or
// field is an error. Indentation means nothing; empty lines and lines that start
// with # are skipped. Reserved and rare fields of the model have the names that
// they have in JSON and are printed if they are not zero.
//
//	spd version=0x100c binary="a.sys" flags=0x7 guid={...} age=1 hot_threshold=10 dynamic_instructions=90 static_instructions=9
//	module name="* CIL module *" flags=0x7 generation=1 hash_buckets=31
//	function id=0x6530d82b830 name="f" ordinal=2 symbol_flags=0x9 flags=0x0 checksum=0x11 rva=0x1000 length=0x20
//	callee id=0x6530d82b831 kind=0x1 count=10 sites=1,1,4
//	block id=1 count=10 instructions=3 flags=0x4 aux=8 ranges=0x0+0x8,0x10+0x4*
//	indirect offset=0x2 length=6 ordinal=1 kind=1 hits=7 targets=0x6530d82b832:5,0x6530d82b833:2
//	inlinee depth=1 id=0x6530d82b831
//	inlined depth=1 id=2 instructions=1 ranges=0x4+0x4
//	call offset=0x4 length=6 ordinal=1 kind=1
//	edge to=2 count=10 flags=0x1
//	machine id=0x6530d82b831 kind=0x4 count=3
//
// The first line is "spd". Lines belong to the last module, function, block,
// inlinee or inlined block before them that can hold them: "callee", "block" and
// "machine" to a function; "indirect", "inlinee" and "edge" to a block; "inlined"
// to the inlinee of the same depth; "call" to an inlined block, as does an
// "inlinee" of depth d+1 to the inlined block of depth d. Block ids count from 1
// in order. A range is START+LENGTH in bytes, with a star if it is cold.
package spd
