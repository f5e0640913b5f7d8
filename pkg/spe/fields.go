package spe

import "strings"

// Address is the payload of a PC, branch target or previous branch target.
type Address uint64

const addressBits = 1<<56 - 1

// Address returns the virtual address. The packet has 56 bits of it; those of
// the kernel (non-secure EL1 and EL2) are completed with ones.
func (a Address) Address() uint64 {
	v := uint64(a) & addressBits
	if el := a.EL(); a.NonSecure() && (el == 1 || el == 2) {
		v |= 0xff << 56
	}
	return v
}

// EL is the exception level, 0 to 3.
func (a Address) EL() int { return int(a >> 61 & 3) }

// NonSecure is the bit NS.
func (a Address) NonSecure() bool { return a>>63 != 0 }

// NSE is the bit NSE of realms (FEAT_RME).
func (a Address) NSE() bool { return a>>60&1 != 0 }

// World is the security state: "non-secure", "secure", "realm" or "root".
func (a Address) World() string {
	switch {
	case a.NSE() && a.NonSecure():
		return "realm"
	case a.NSE():
		return "root"
	case a.NonSecure():
		return "non-secure"
	}
	return "secure"
}

// DataAddress is the payload of a virtual data address.
type DataAddress uint64

// Address returns the virtual address without its tag.
func (a DataAddress) Address() uint64 {
	v := uint64(a) & addressBits
	if v>>52 == 0xf {
		v |= 0xff << 56
	}
	return v
}

// Tag is the top byte.
func (a DataAddress) Tag() uint8 { return uint8(a >> 56) }

// PhysicalAddress is the payload of a physical data address.
type PhysicalAddress uint64

// Address returns the physical address.
func (a PhysicalAddress) Address() uint64 { return uint64(a) & addressBits }

// NonSecure is the bit NS.
func (a PhysicalAddress) NonSecure() bool { return a>>63 != 0 }

// NSE is the bit NSE.
func (a PhysicalAddress) NSE() bool { return a>>60&1 != 0 }

// Checked is the bit CH: the allocation tag was checked.
func (a PhysicalAddress) Checked() bool { return a>>62&1 != 0 }

// Tag is the physical address tag.
func (a PhysicalAddress) Tag() uint8 { return uint8(a >> 56 & 15) }

// Class is the class of an operation.
type Class uint8

// Classes of operations.
const (
	ClassOther    Class = iota // data processing
	ClassMemory                // load, store, atomic
	ClassBranch                // branch or exception return
	ClassReserved              // no meaning in the known versions
)

// Operation is what kind of instruction was sampled: class and payload of an
// operation type packet.
type Operation struct {
	Class Class
	Bits  uint8
}

// Branch says whether the operation is a branch or exception return.
func (o Operation) Branch() bool { return o.Class == ClassBranch }

// Memory says whether the operation is a load, store or atomic.
func (o Operation) Memory() bool { return o.Class == ClassMemory }

// Store says whether a memory operation stores; else it loads.
func (o Operation) Store() bool { return o.Class == ClassMemory && o.Bits&1 != 0 }

// Conditional says whether a branch, select or compare is conditional.
func (o Operation) Conditional() bool {
	return o.Bits&1 != 0 && (o.Class == ClassBranch || o.Class == ClassOther && o.plain())
}

// Indirect says whether a branch is indirect.
func (o Operation) Indirect() bool { return o.Class == ClassBranch && o.Bits&2 != 0 }

// GuardedStack says whether an operation uses the guarded control stack.
func (o Operation) GuardedStack() bool {
	return o.Class == ClassBranch && o.Bits&4 != 0 || o.Class == ClassMemory && o.Bits&0xfa == 0x40
}

// Link is what a branch is to the call stack (FEAT_SPE_CRR).
type Link uint8

// Kinds of branches. Processors without FEAT_SPE_CRR say nothing.
const (
	LinkUnknown Link = iota
	LinkCall         // branch with link
	LinkReturn
	LinkNeither
)

// Link says whether a branch is a call or return.
func (o Operation) Link() Link {
	if o.Class != ClassBranch {
		return LinkUnknown
	}
	return Link(o.Bits >> 3 & 3)
}

// Form is the register set or instruction family of an operation.
type Form uint8

// Forms of operations.
const (
	FormReserved    Form = iota // no meaning in the known versions
	FormGeneral                 // data processing; load or store of general registers; branch
	FormSIMD                    // Advanced SIMD, or SIMD and floating-point registers
	FormSVE                     // SVE data processing; load or store of SVE or SME registers
	FormSME                     // SME data processing
	FormUnspecified             // unspecified registers
	FormTag                     // MTE allocation tags
	FormSystem                  // system registers in memory (nested virtualization)
	FormExtended                // atomic, exclusive, acquire or release
	FormCopy                    // memory copy (MOPS)
	FormSet                     // memory set (MOPS)
	FormGCS                     // guarded control stack
)

// Form returns the form of the operation.
func (o Operation) Form() Form {
	b := o.Bits
	switch o.Class {
	case ClassOther:
		switch {
		case o.plain() && b&4 != 0:
			return FormSIMD
		case o.plain():
			return FormGeneral
		case b&0x89 == 0x08:
			return FormSVE
		case b&0x89 == 0x88:
			return FormSME
		}
	case ClassMemory:
		switch {
		case b&0xe2 == 0x02:
			return FormExtended
		case b == 0x25:
			return FormSet
		case b&0x0a == 0x08:
			return FormSVE
		case b&0xfa == 0x40:
			return FormGCS
		}
		switch b &^ 1 {
		case 0x00:
			return FormGeneral
		case 0x04:
			return FormSIMD
		case 0x10:
			return FormUnspecified
		case 0x14:
			return FormTag
		case 0x20:
			return FormCopy
		case 0x30:
			return FormSystem
		}
	case ClassBranch:
		return FormGeneral
	}
	return FormReserved
}

// plain says whether an operation of ClassOther is neither SVE nor SME.
func (o Operation) plain() bool { return o.Bits&0xf8 == 0 }

// Float says whether data processing is of floating-point numbers. Of scalar
// and Advanced SIMD operations only FEAT_SPE_FPF tells.
func (o Operation) Float() bool {
	return o.Class == ClassOther && o.Bits&2 != 0 && o.Form() != FormReserved
}

// Predicated says whether an SVE operation has a predicate.
func (o Operation) Predicated() bool { return o.Form() == FormSVE && o.Bits&4 != 0 }

// GatherScatter says whether an SVE load gathers, or an SVE store scatters.
func (o Operation) GatherScatter() bool {
	return o.Class == ClassMemory && o.Form() == FormSVE && o.Bits&0x80 != 0
}

// Atomic, Exclusive and AcquireRelease tell about operations of FormExtended.
func (o Operation) Atomic() bool         { return o.extended() && o.Bits&0x04 != 0 }
func (o Operation) Exclusive() bool      { return o.extended() && o.Bits&0x08 != 0 }
func (o Operation) AcquireRelease() bool { return o.extended() && o.Bits&0x10 != 0 }

func (o Operation) extended() bool { return o.Class == ClassMemory && o.Form() == FormExtended }

// VectorLength is the length in bits of an SVE operation's vectors, the greatest
// of its range, or the effective size of an SME operation; 0 for all others. Of SVE
// 4096 stands for more than 2048, of SME 2097152 for the whole of ZA.
func (o Operation) VectorLength() int {
	switch o.Form() {
	case FormSVE:
		return 32 << (o.Bits >> 4 & 7)
	case FormSME:
		return 128 << (o.Bits>>4&7<<1 | o.Bits>>2&1)
	}
	return 0
}

// String returns perf's words for the operation, such as "B COND" or
// "LD GP-REG".
func (o Operation) String() string {
	return strings.Join(o.words(), " ")
}
