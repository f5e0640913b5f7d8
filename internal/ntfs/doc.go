// Package ntfs opens files inside NTFS file systems that lie in images of
// disks, so that a trace or a binary of a virtual machine is read without
// mounting anything. A name says where such a file is:
//
//	ntfs:IMAGE!/path/in/volume/run.etl
//	ntfs:IMAGE!2:\path\in\volume\run.etl
//
// IMAGE is a raw image of a disk or of one volume, or a fixed VHD. The number
// is the one that the partition table gives the partition, as partitioning
// tools show it: the place in a GPT or among the four entries of an MBR, 5 and
// up for logical partitions. Without it the path is looked up in all NTFS
// partitions and has to be in exactly one of them.
//
// Parse reads such a name, Open and Volume give access to the file system,
// OpenFile opens one file, and FS is the file system for image.Finder.
//
// Names are compared without case; one that agrees in case too goes first, and
// short names (PROGRA~1) are found but not listed. Compressed and sparse files
// are read, named streams are not. What has its data elsewhere is an error that
// says so: symbolic links and junctions, encrypted files, files that are not
// compressed by NTFS itself but by the filter behind `compact /exe`.
//
// The on-disk structures come from the documentation of the Linux-NTFS project
// and are checked against volumes of mkntfs. Fix-ups, run lists, index nodes
// and LZNT1 chunks are decoded by the parser go-ntfs; walking over attributes,
// joining and checking extents, and reading are done here, since the parser
// takes claimed sizes and counts on trust.
//
// Stance on hostile input: panics of the parser become errors of kind
// binfmt.ErrCorrupt. No memory is taken by a claimed size beyond the limits of
// a record, an index block or a compression unit, clusters outside the volume
// and files with more clusters than it are refused, and every loop is bounded
// by what the image holds.
package ntfs
