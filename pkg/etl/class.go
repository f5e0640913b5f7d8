package etl

import (
	"encoding/binary"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// Class sorts records by what they are good for. Each record has exactly one
// class; a set of classes tells a decoder which records to yield.
type Class uint32

// Classes of records. The comments name the Decode functions that apply.
const (
	ClassLogFile  Class = 1 << iota // the log file header itself
	ClassProcess                    // DecodeProcess
	ClassThread                     // DecodeThread
	ClassImage                      // DecodeImage
	ClassSample                     // DecodeSample, or DecodeSampleCache for HookSampleCache
	ClassPMC                        // DecodePMCSample
	ClassInterval                   // DecodeInterval, or DecodeCounterNames for HookCounterNames
	ClassStack                      // DecodeStack
	ClassStackKey                   // DecodeStackKey: a reference to a stack
	ClassStackDef                   // DecodeStackDef: the stack that a key stands for
	ClassLBR                        // DecodeLBR
	ClassImageID                    // DecodeImageID, or DecodeFileVersion for opcode 64
	ClassSystem                     // DecodeCPUConfig and DecodeVolume
	ClassCLR                        // DecodeCLRMethod and DecodeCLRModule
	ClassLost                       // a record saying that events were lost
	ClassOther                      // everything else
	classEnd

	// AllClasses selects every record.
	AllClasses = classEnd - 1
	// SideBand selects what has to be seen in time order to know which
	// program an address belongs to.
	SideBand = ClassLogFile | ClassProcess | ClassThread | ClassImage | ClassInterval |
		ClassImageID | ClassSystem | ClassCLR | ClassLost
)

// The class GUIDs of kernel event groups. A kernel event may come in a FULL
// record under the GUID of its group.
var groupGUIDs = [...]struct {
	guid  binfmt.GUID
	group uint8
}{
	{mustGUID("68fdd900-4a3e-11d1-84f4-0000f80464e3"), groupEventTrace},
	{mustGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"), groupProcess},
	{mustGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"), groupThread},
	{mustGUID("01853a65-418f-4f36-aefc-dc0f1d2fd235"), groupConfig},
	{mustGUID("99134383-5248-43fc-834b-529454e75df3"), groupBranch},
	{mustGUID("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc"), groupPerfInfo},
	{mustGUID("2cb15d1d-5fc1-11d2-abe1-00a0c911f518"), groupImage},
	{mustGUID("def2fe46-7bd6-4b80-bd94-f57fe20d0ce3"), groupStackWalk},
}

// GUIDs of records that are no kernel events.
var (
	ImageIDGUID      = mustGUID("b3e675d7-2554-4f18-830b-2762732560de")
	SystemConfigGUID = mustGUID("9b79ee91-b5fd-41c0-a243-4248e266e9d0")
	LostEventGUID    = mustGUID("6a399ae0-4bc6-4de9-870b-3657f8947e7e")
	CLRRuntimeGUID   = mustGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
	CLRRundownGUID   = mustGUID("a669021c-c450-4609-a035-5af59af4df18")
)

// volumeMapping is the opcode of the system configuration class that names a
// volume.
const volumeMapping = 35

func mustGUID(s string) binfmt.GUID {
	g, err := binfmt.ParseGUID(s)
	if err != nil {
		panic(err) // a literal of this package is wrong
	}
	return g
}

// The class of every hook, as a bit number, for groups below hookGroups.
const hookGroups = 0x20

var hookClass = func() (t [hookGroups << 8]uint8) {
	for i := range t {
		t[i] = bitNumber(ClassOther)
	}
	for _, row := range []struct {
		class Class
		hooks []Hook
	}{
		{ClassLogFile, []Hook{HookLogFile}},
		{ClassProcess, []Hook{HookProcessStart, HookProcessEnd, HookProcessDCStart, HookProcessDCEnd, HookProcessDefunct}},
		{ClassThread, []Hook{HookThreadStart, HookThreadEnd, HookThreadDCStart, HookThreadDCEnd}},
		{ClassImage, []Hook{HookImageLoad, HookImageUnload, HookImageDCStart, HookImageDCEnd, HookImageLoadByGUID}},
		{ClassSample, []Hook{HookSample, HookSampleCache, HookSampleNMI}},
		{ClassPMC, []Hook{HookPMCSample}},
		{ClassInterval, []Hook{HookCounterNames, HookIntervalSet, HookCollectionStart, HookCollectionEnd}},
		{ClassStack, []Hook{HookStackWalk}},
		{ClassStackKey, []Hook{HookStackKeyKernel, HookStackKeyUser}},
		{ClassStackDef, []Hook{HookStackKeyCreate, HookStackKeyDelete, HookStackKeyDCEnd}},
		{ClassLBR, []Hook{HookLBR}},
		{ClassSystem, []Hook{HookCPUConfig}},
	} {
		for _, h := range row.hooks {
			t[h] = bitNumber(row.class)
		}
	}
	return t
}()

func bitNumber(c Class) (n uint8) {
	for ; c > 1; c >>= 1 {
		n++
	}
	return n
}

// classOfHook gives the class of a kernel event.
func classOfHook(h Hook) Class {
	if h < hookGroups<<8 {
		return 1 << hookClass[h]
	}
	return ClassOther
}

// classOfGUID gives the class and hook of a FULL record. The hook is NoHook
// unless the GUID is that of a kernel group.
func classOfGUID(guid []byte, opcode uint8) (Class, Hook) {
	g := binfmt.GUID(guid)
	switch g {
	case ImageIDGUID:
		return ClassImageID, NoHook
	case SystemConfigGUID:
		if opcode == volumeMapping {
			return ClassSystem, NoHook
		}
		return ClassOther, NoHook
	case LostEventGUID:
		return ClassLost, NoHook
	}
	for i := range groupGUIDs {
		if g == groupGUIDs[i].guid {
			h := Hook(groupGUIDs[i].group)<<8 | Hook(opcode)
			return classOfHook(h), h
		}
	}
	return ClassOther, NoHook
}

// classOfEvent gives the class of an EVENT record by its provider and id.
func classOfEvent(provider []byte, id uint16) Class {
	method := id >= clrMethodFirst && id <= clrMethodLast
	// One load tells the two providers from nearly all others. The same id
	// means another thing in each.
	switch binary.LittleEndian.Uint32(provider) {
	case 0xe13c0d23:
		if (method || id == clrModuleLoad || id == clrModuleUnload) && binfmt.GUID(provider) == CLRRuntimeGUID {
			return ClassCLR
		}
	case 0xa669021c:
		if (method || id == clrModuleDCStart || id == clrModuleDCEnd) && binfmt.GUID(provider) == CLRRundownGUID {
			return ClassCLR
		}
	}
	return ClassOther
}
