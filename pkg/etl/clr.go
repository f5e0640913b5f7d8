package etl

import "github.com/spgo-tools/spgo/pkg/binfmt"

// Event ids of the CLR providers that tell of code. The runtime provider
// raises them when something happens, the rundown provider for what is there
// when the session starts or ends.
const (
	clrMethodFirst = 141 // odd ids: load, rundown at the start; even: unload, at the end
	clrMethodLast  = 144
	clrVerbose     = 143 // and above: with names

	clrModuleLoad    = 152 // of the runtime provider
	clrModuleUnload  = 153 // of the runtime provider
	clrModuleDCStart = 153 // of the rundown provider
	clrModuleDCEnd   = 154 // of the rundown provider
)

// CLRAction says what an event tells of a method or module.
type CLRAction uint8

// Actions.
const (
	CLRLoad    CLRAction = iota // it was loaded, or compiled, now
	CLRUnload                   // it is gone from now on
	CLRDCStart                  // rundown: it was there when the session started
	CLRDCEnd                    // rundown: it is there when the session ends
)

// CLRMethod is compiled code of a managed method.
type CLRMethod struct {
	Action    CLRAction
	MethodID  uint64
	ModuleID  uint64
	Start     uint64 // address of the code
	Size      uint32 // of the code, in bytes
	Token     uint32
	Flags     uint32 // CLRMethod... bits
	Namespace string // with the class; empty, as the two below, in plain events
	Name      string
	Signature string
	Instance  uint16 // of the CLR in the process; from version 1 on
	ReJITID   uint64 // from version 2 on
}

// Flags of a method.
const (
	CLRMethodDynamic       uint32 = 0x01
	CLRMethodGeneric       uint32 = 0x02
	CLRMethodSharedGeneric uint32 = 0x04
	CLRMethodJitted        uint32 = 0x08
	CLRMethodJITHelper     uint32 = 0x10
	CLRMethodNGenRejected  uint32 = 0x20 // the profiler rejected the precompiled code
	CLRMethodR2RRejected   uint32 = 0x40
	CLRMethodTierShift            = 7 // 3 bits: optimisation tier
)

// CLRModule is a managed module.
type CLRModule struct {
	Action      CLRAction
	ModuleID    uint64
	AssemblyID  uint64
	Flags       uint32 // CLRModule... bits
	ILPath      string
	NativePath  string // of the precompiled image; empty if there is none
	Instance    uint16 // from version 1 on
	ManagedGUID binfmt.GUID
	ManagedAge  uint32
	ManagedPDB  string // this and the fields around it from version 2 on
	NativeGUID  binfmt.GUID
	NativeAge   uint32
	NativePDB   string
}

// Flags of a module.
const (
	CLRModuleDomainNeutral uint32 = 0x01
	CLRModuleNative        uint32 = 0x02
	CLRModuleDynamic       uint32 = 0x04
	CLRModuleManifest      uint32 = 0x08
	CLRModuleIBCOptimized  uint32 = 0x10
	CLRModuleReadyToRun    uint32 = 0x20
	CLRModulePartialR2R    uint32 = 0x40
)

// clrMethodLayout is the layout of the verbose events; the plain ones lack
// the three names.
func clrMethodLayout(name string, names bool) *layout[CLRMethod] {
	l := &layout[CLRMethod]{name, []field[CLRMethod]{
		u64Field("MethodID", 0, latest, func(m *CLRMethod) *uint64 { return &m.MethodID }),
		u64Field("ModuleID", 0, latest, func(m *CLRMethod) *uint64 { return &m.ModuleID }),
		u64Field("MethodStartAddress", 0, latest, func(m *CLRMethod) *uint64 { return &m.Start }),
		u32Field("MethodSize", 0, latest, func(m *CLRMethod) *uint32 { return &m.Size }),
		u32Field("MethodToken", 0, latest, func(m *CLRMethod) *uint32 { return &m.Token }),
		u32Field("MethodFlags", 0, latest, func(m *CLRMethod) *uint32 { return &m.Flags }),
	}}
	if names {
		l.fields = append(l.fields,
			wideField("MethodNamespace", 0, latest, func(m *CLRMethod) *string { return &m.Namespace }),
			wideField("MethodName", 0, latest, func(m *CLRMethod) *string { return &m.Name }),
			wideField("MethodSignature", 0, latest, func(m *CLRMethod) *string { return &m.Signature }))
	}
	l.fields = append(l.fields,
		u16Field("ClrInstanceID", 1, latest, func(m *CLRMethod) *uint16 { return &m.Instance }),
		u64Field("ReJITID", 2, latest, func(m *CLRMethod) *uint64 { return &m.ReJITID }))
	return l
}

var (
	clrPlainMethod   = clrMethodLayout("CLR method", false)
	clrVerboseMethod = clrMethodLayout("CLR method", true)
)

var clrModuleLayout = layout[CLRModule]{"CLR module", []field[CLRModule]{
	u64Field("ModuleID", 0, latest, func(m *CLRModule) *uint64 { return &m.ModuleID }),
	u64Field("AssemblyID", 0, latest, func(m *CLRModule) *uint64 { return &m.AssemblyID }),
	u32Field("ModuleFlags", 0, latest, func(m *CLRModule) *uint32 { return &m.Flags }),
	unusedField[CLRModule]("Reserved1", 0, latest, 4, 0),
	wideField("ModuleILPath", 0, latest, func(m *CLRModule) *string { return &m.ILPath }),
	wideField("ModuleNativePath", 0, latest, func(m *CLRModule) *string { return &m.NativePath }),
	u16Field("ClrInstanceID", 1, latest, func(m *CLRModule) *uint16 { return &m.Instance }),
	guidField("ManagedPdbSignature", 2, latest, func(m *CLRModule) *binfmt.GUID { return &m.ManagedGUID }),
	u32Field("ManagedPdbAge", 2, latest, func(m *CLRModule) *uint32 { return &m.ManagedAge }),
	wideField("ManagedPdbBuildPath", 2, latest, func(m *CLRModule) *string { return &m.ManagedPDB }),
	guidField("NativePdbSignature", 2, latest, func(m *CLRModule) *binfmt.GUID { return &m.NativeGUID }),
	u32Field("NativePdbAge", 2, latest, func(m *CLRModule) *uint32 { return &m.NativeAge }),
	wideField("NativePdbBuildPath", 2, latest, func(m *CLRModule) *string { return &m.NativePDB }),
}}

// IsCLRMethod says whether a record of ClassCLR tells of a method; the others
// tell of a module.
func IsCLRMethod(r *Record) bool {
	return r.Class == ClassCLR && r.ID >= clrMethodFirst && r.ID <= clrMethodLast
}

// DecodeCLRMethod reads a record for which IsCLRMethod holds.
func DecodeCLRMethod(r *Record, m *CLRMethod) error {
	_, err := decodeCLRMethod(r, m)
	return err
}

func decodeCLRMethod(r *Record, m *CLRMethod) (rest int, err error) {
	if !IsCLRMethod(r) {
		return 0, checkClass(r, 0, clrPlainMethod.name)
	}
	l := clrPlainMethod
	if r.ID >= clrVerbose {
		l = clrVerboseMethod
	}
	rest, err = l.decode(r, int(r.PointerSize), m)
	m.Action = clrAction(r, r.ID%2 == 0)
	return rest, err
}

// DecodeCLRModule reads a record of ClassCLR for which IsCLRMethod does not
// hold.
func DecodeCLRModule(r *Record, m *CLRModule) error {
	_, err := decodeCLRModule(r, m)
	return err
}

func decodeCLRModule(r *Record, m *CLRModule) (rest int, err error) {
	if r.Class != ClassCLR || IsCLRMethod(r) {
		return 0, checkClass(r, 0, clrModuleLayout.name)
	}
	rest, err = clrModuleLayout.decode(r, int(r.PointerSize), m)
	if r.GUID == CLRRundownGUID {
		m.Action = clrAction(r, r.ID == clrModuleDCEnd)
	} else {
		m.Action = clrAction(r, r.ID == clrModuleUnload)
	}
	return rest, err
}

// clrAction tells the first and second event of a pair in the two providers.
func clrAction(r *Record, second bool) CLRAction {
	a := CLRLoad
	if r.GUID == CLRRundownGUID {
		a = CLRDCStart
	}
	if second {
		a++
	}
	return a
}

// AppendCLRMethod appends the payload of a method event; with verbose set,
// one that has the names.
func AppendCLRMethod(b []byte, m *CLRMethod, version uint16, verbose bool) []byte {
	l := clrPlainMethod
	if verbose {
		l = clrVerboseMethod
	}
	return l.append(b, m, version, 8)
}

// AppendCLRModule appends the payload of a module event.
func AppendCLRModule(b []byte, m *CLRModule, version uint16) []byte {
	return clrModuleLayout.append(b, m, version, 8)
}
