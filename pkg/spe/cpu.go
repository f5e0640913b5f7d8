package spe

// MIDR is the main id register of a processor: implementer in bits 24 to 31,
// part number in bits 4 to 15.
type MIDR uint32

// Implementer is the code of the company.
func (m MIDR) Implementer() uint8 { return uint8(m >> 24) }

// Part is the part number.
func (m MIDR) Part() uint16 { return uint16(m >> 4 & 0xfff) }

// Is says whether two processors are of one kind, whatever the revision.
func (m MIDR) Is(o MIDR) bool { return m.Implementer() == o.Implementer() && m.Part() == o.Part() }

// model returns the id of a kind of processor.
func model(implementer uint8, part uint16) MIDR { return MIDR(implementer)<<24 | MIDR(part)<<4 }

var neoverseN1 = model(0x41, 0xd0c)

// processors are the kinds of processors that are known here. What the data
// sources of a processor mean is from its manual, by way of perf's tables; that
// Neoverse N1 samples micro-operations is in its manual, "SPE functional
// description".
var processors = []struct {
	id      MIDR
	name    string
	sources *Sources
	uops    bool
}{
	{neoverseN1, "Neoverse N1", &armSources, true},
	{model(0x41, 0xd49), "Neoverse N2", &armSources, false},
	{model(0x41, 0xd40), "Neoverse V1", &armSources, false},
	{model(0x41, 0xd4f), "Neoverse V2", &armSources, false},
	{model(0x41, 0xd84), "Neoverse V3", &armSources, false},
	{model(0x41, 0xd4b), "Cortex-A78C", &armSources, false},
	{model(0x41, 0xd4d), "Cortex-A715", &armSources, false},
	{model(0x41, 0xd81), "Cortex-A720", &armSources, false},
	{model(0x41, 0xd89), "Cortex-A720AE", &armSources, false},
	{model(0x41, 0xd87), "Cortex-A725", &armSources, false},
	{model(0x41, 0xd44), "Cortex-X1", &armSources, false},
	{model(0x41, 0xd4c), "Cortex-X1C", &armSources, false},
	{model(0x41, 0xd4e), "Cortex-X3", &armSources, false},
	{model(0x41, 0xd82), "Cortex-X4", &armSources, false},
	{model(0x41, 0xd85), "Cortex-X925", &armSources, false},
	{model(0x4e, 0x010), "NVIDIA Olympus", &armSources, false},
	{model(0xc0, 0xac4), "AmpereOne A", &ampereSources, false},
	{model(0x48, 0xd06), "HiSilicon HIP12", &hiSiliconSources, false},
}

// Name is the name of a processor, or empty.
func (m MIDR) Name() string {
	for i := range processors {
		if m.Is(processors[i].id) {
			return processors[i].name
		}
	}
	return ""
}

// SamplesMicroOps says whether a processor is known to sample micro-operations
// instead of instructions. False means that nothing is known.
func (m MIDR) SamplesMicroOps() bool {
	for i := range processors {
		if m.Is(processors[i].id) {
			return processors[i].uops
		}
	}
	return false
}
