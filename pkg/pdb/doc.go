// Package pdb reads Microsoft program databases (PDB): identity, modules,
// functions, public symbols, source lines, inlined calls and the raw streams.
//
// A PDB is a multi-stream file (MSF): blocks of equal size, a directory that
// says which blocks make up which stream, and numbered streams with a meaning:
//
//	1  PDB info: GUID, age, names of further streams
//	2  types (TPI): names of classes
//	3  debug information (DBI): age, modules, where the rest is
//	4  ids (IPI): names of inlined functions
//	.. one per module: its symbols and lines; symbol records; section headers
//
// [NewFile] reads the superblock and the directory. Everything else is read
// when it is asked for, block by block; of the parts that can be large (the
// symbol records, the symbols of a module, section contributions) only a
// window is held in memory. Streams are open to raw access with
// [File.OpenStream], whatever state the known ones are in.
//
// # Ages
//
// A PDB has two ages. The linker counts both up, but tools that edit a PDB
// afterwards raise only the one in the info stream. The RSDS record of an
// image names the GUID and the age of the DBI stream, so matching goes by
// [Identity.Age]; [Identity] shows both.
//
// # Sources and stance
//
// Sources: LLVM's "The PDB File Format" and microsoft/microsoft-pdb. Only MSF
// 7.00 is read, that is the PDBs of all linkers since Visual C++ .NET; line
// tables and symbols only in their C13 form.
//
// Hostile input: sizes and block numbers are compared with the file before
// anything is allocated, a block that belongs to two streams is refused, and
// no input panics. Errors are [binfmt.Error] with the offset in the file of
// the field, and in Part the stream.
package pdb
