// Package image reads what profiling needs from an executable image, a PE
// (Windows) or an ELF (Linux) file: its identity, its layout, and the
// conversion between file offsets and relative virtual addresses.
//
// An RVA here is the address of a byte in memory minus the address that the
// image was linked for ([File].Base):
//
//   - PE: minus ImageBase, as the format itself counts.
//   - ELF: minus the smallest p_vaddr of all PT_LOAD segments, rounded down to
//     a page. A Linux kernel (vmlinux) counts from its symbol _text instead,
//     because x86-64 kernels before 6.15 have a per-CPU segment at address 0.
//     A relocatable object (.ko) has no segments and so no RVAs.
//
// The identity of an image is the pair of GUID and age that profile formats
// key their data by. A PE states it in its CodeView debug record (RSDS). For
// an ELF it is made from the GNU build id, see [GUIDFromBuildID].
//
// Sources: the System V ABI (ELF), the Linux Standard Base (notes),
// Microsoft's "PE Format" page, and the RSDS record as described with the
// CodeView format in microsoft/microsoft-pdb.
//
// Stance on hostile input: only headers are read, each claimed size is
// compared with the size of the file and with a limit before anything is
// allocated, and no input panics. A defect in a part that identity and layout
// can do without (a section table that is cut off, a broken note) does not
// fail the file; it is kept in [File].Warnings.
package image
