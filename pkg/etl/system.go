package etl

// Arch is a processor architecture in the numbering of Windows.
type Arch uint16

// Architectures.
const (
	ArchX86   Arch = 0
	ArchARM   Arch = 5
	ArchX64   Arch = 9
	ArchARM64 Arch = 12
)

// CPUConfig is the configuration of the machine. Only it tells x64 from
// ARM64.
type CPUConfig struct {
	MHz                   uint32
	Processors            uint32
	MemoryMiB             uint32
	PageSize              uint32
	AllocationGranularity uint32
	Computer              string
	Domain                string
	HyperThreading        uint64 // mask
	// HasArch says that the fields below are there, as from version 3 on.
	HasArch            bool
	HighestUserAddress uint64
	Arch               Arch
	Level, Revision    uint16
	PAE, NX            uint8
	MemorySpeed        uint32
}

var cpuConfigLayout = layout[CPUConfig]{"CPU configuration", []field[CPUConfig]{
	u32Field("MHz", 0, latest, func(c *CPUConfig) *uint32 { return &c.MHz }),
	u32Field("NumberOfProcessors", 0, latest, func(c *CPUConfig) *uint32 { return &c.Processors }),
	u32Field("MemSize", 0, latest, func(c *CPUConfig) *uint32 { return &c.MemoryMiB }),
	u32Field("PageSize", 0, latest, func(c *CPUConfig) *uint32 { return &c.PageSize }),
	u32Field("AllocationGranularity", 0, latest, func(c *CPUConfig) *uint32 { return &c.AllocationGranularity }),
	fixedWideField("ComputerName", 0, latest, 256, func(c *CPUConfig) *string { return &c.Computer }),
	fixedWideField("DomainName", 0, latest, 134, func(c *CPUConfig) *string { return &c.Domain }),
	pointerField("HyperThreadingFlag", 0, latest, func(c *CPUConfig) *uint64 { return &c.HyperThreading }),
	asOptional(pointerField("HighestUserAddress", 3, latest, func(c *CPUConfig) *uint64 { return &c.HighestUserAddress })),
	{name: "ProcessorArchitecture", from: 3, to: latest,
		read:  func(p *payload, c *CPUConfig) { c.Arch, c.HasArch = Arch(p.U16()), true },
		write: func(b []byte, c *CPUConfig, _ int) []byte { return append(b, byte(c.Arch), byte(c.Arch>>8)) }},
	u16Field("ProcessorLevel", 3, latest, func(c *CPUConfig) *uint16 { return &c.Level }),
	u16Field("ProcessorRevision", 3, latest, func(c *CPUConfig) *uint16 { return &c.Revision }),
	byteField("PaeEnabled", 3, latest, func(c *CPUConfig) *uint8 { return &c.PAE }),
	byteField("NxEnabled", 3, latest, func(c *CPUConfig) *uint8 { return &c.NX }),
	asOptional(u32Field("MemorySpeed", 3, latest, func(c *CPUConfig) *uint32 { return &c.MemorySpeed })),
}}

// DecodeCPUConfig reads a record of HookCPUConfig.
func DecodeCPUConfig(r *Record, c *CPUConfig) error {
	if r.Hook != HookCPUConfig {
		return checkClass(r, 0, cpuConfigLayout.name)
	}
	_, err := cpuConfigLayout.decode(r, int(r.PointerSize), c)
	return err
}

// AppendCPUConfig appends the payload of a HookCPUConfig event.
func AppendCPUConfig(b []byte, c *CPUConfig, version uint16, pointerSize int) []byte {
	return cpuConfigLayout.append(b, c, version, pointerSize)
}

// Volume maps the start of an NT path to that of a DOS path, such as
// \Device\HarddiskVolume3\ to C:\. A merge adds one for each volume.
type Volume struct {
	NTPath, DOSPath string
}

var volumeLayout = layout[Volume]{"volume mapping", []field[Volume]{
	wideField("NtPath", 0, latest, func(v *Volume) *string { return &v.NTPath }),
	wideField("DosPath", 0, latest, func(v *Volume) *string { return &v.DOSPath }),
}}

// DecodeVolume reads a record of ClassSystem other than HookCPUConfig.
func DecodeVolume(r *Record, v *Volume) error {
	if r.Hook == HookCPUConfig {
		return checkClass(r, 0, volumeLayout.name)
	}
	if err := checkClass(r, ClassSystem, volumeLayout.name); err != nil {
		return err
	}
	_, err := volumeLayout.decode(r, int(r.PointerSize), v)
	return err
}

// AppendVolume appends the payload of a volume mapping.
func AppendVolume(b []byte, v *Volume) []byte { return volumeLayout.append(b, v, 0, 8) }
