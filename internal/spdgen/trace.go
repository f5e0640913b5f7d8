package spdgen

import (
	"github.com/spgo-tools/spgo/pkg/etl"
)

const (
	imageBase   = 0x7ff6_0000_0000
	outsideBase = 0x7ffa_0000_0000
	outsideSize = 0x20_0000
	processID   = 4242
	threadID    = 4246
	branchEvent = 30 // profile source of the recording
	sampleTicks = 100
)

// Trace describes the branch stacks of a sampling as the merged recording of a
// Windows machine: the program, whose identity is that of the SPD, and one
// library that all else is in.
func (w *World) Trace(s Sampling) *etl.Trace {
	h := &w.File.Header
	stacks := w.Stacks(s)
	app := etl.TraceImage{Path: `\Device\HarddiskVolume3\app\` + h.Binary, Base: imageBase, Size: uint64(w.library) + 0x1_0000,
		PDB: "app.pdb", PDBGUID: h.GUID, PDBAge: h.Age}
	lib := etl.TraceImage{Path: `\Device\HarddiskVolume3\Windows\System32\ntdll.dll`, Base: outsideBase, Size: outsideSize,
		PDB: "ntdll.pdb", PDBAge: 1}
	lib.PDBGUID[0] = 1
	address := func(rva uint32) uint64 {
		if rva == Outside {
			return outsideBase + 0x1000
		}
		return imageBase + uint64(rva)
	}
	return &etl.Trace{
		Merged: true, Compress: true, Arch: etl.ArchX64, Duration: sampleTicks * int64(len(stacks)+2),
		Sources: []etl.Interval{{Source: branchEvent, New: branchPeriod, Old: 65536, Name: "BranchInstructionRetired"}},
		Processes: []etl.TraceProcess{{PID: processID, Name: h.Binary, Threads: []uint32{threadID},
			Images: []etl.TraceImage{app, lib}}},
		Samples: func(yield func(etl.TraceSample) bool) {
			for i, stack := range stacks {
				branches := make([]etl.Branch, len(stack))
				for k, b := range stack {
					branches[k] = etl.Branch{From: address(b.From), To: address(b.To)}
				}
				x := etl.TraceSample{Time: sampleTicks * int64(i+1), PID: processID, TID: threadID, Source: branchEvent,
					IP: branches[0].To, Branches: branches}
				if !yield(x) {
					return
				}
			}
		},
	}
}
