package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// The text form of LLVM's sample profiles, one function after the other:
//
//	name:total:entries
//	 offset.discriminator: count callee:count callee:count
//	 offset.discriminator: inlined callee:total
//	  offset: count
//
// Source: LLVM's documentation "Clang Compiler User's Manual", section "Sample
// Profile Text Format".

// writeLLVM writes the text form.
func (p *program) writeLLVM(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, f := range p.lineProfile(p.llvmDiscriminators()) {
		fmt.Fprintf(out, "%s:%d:%d\n", f.name, f.total, f.entries)
		writeBody(out, f, 1)
	}
	return out.Flush()
}

// writeBody writes the lines of a function, and then those of the calls that
// were inlined into it.
func writeBody(out *bufio.Writer, f *lines, depth int) {
	indent := strings.Repeat(" ", depth)
	for _, at := range f.places() {
		x := f.body[at]
		fmt.Fprintf(out, "%s%v: %d", indent, at, x.count)
		for _, t := range x.targets() {
			fmt.Fprintf(out, " %s:%d", t.name, t.count)
		}
		out.WriteByte('\n')
	}
	for _, s := range f.sites() {
		inner := f.inlined[s]
		fmt.Fprintf(out, "%s%v: %s:%d\n", indent, s.place, inner.name, inner.total)
		writeBody(out, inner, depth+1)
	}
}

// String prints the place as the text form does.
func (p place) String() string {
	if p.discriminator == 0 {
		return fmt.Sprint(p.offset)
	}
	return fmt.Sprintf("%d.%d", p.offset, p.discriminator)
}

// flowSensitive says whether the program was made with discriminators that tell
// also the copies of a block apart, which all passes of LLVM add bits to. Such
// a program has a variable of this name.
func (p *program) flowSensitive() bool {
	if p.img.ELF == nil {
		return false
	}
	_, found, err := p.img.ELF.Symbol("__llvm_fs_discriminator__")
	return found && err == nil
}

// llvmDiscriminators returns what discriminators mean for LLVM: flow-sensitive
// ones are taken whole.
func (p *program) llvmDiscriminators() discriminators {
	if p.flowSensitive() {
		return func(_ string, d uint32) (uint32, uint32) { return d, 1 }
	}
	return clangDiscriminators
}

// clangDiscriminators decodes what LLVM keeps in a discriminator: numbers of
// 5 or 12 bits, the block first and then the copies that loop transformations
// made of it. GCC and others only count blocks.
func clangDiscriminators(producer string, d uint32) (number, copies uint32) {
	if !strings.Contains(producer, "clang") && !strings.Contains(producer, "LLVM") && !strings.Contains(producer, "rustc") {
		return d, 1
	}
	number, rest := component(d)
	if copies, _ = component(rest); copies == 0 {
		copies = 1
	}
	return number, copies
}

// component splits off the lowest number: one bit if it is 0; else 7 bits, a
// zero, 5 bits and a zero; or 14, where the bit behind the first 5 says that 7
// more bits follow.
func component(d uint32) (number, rest uint32) {
	switch {
	case d&1 != 0:
		return 0, d >> 1
	case d&0x40 == 0:
		return d >> 1 & 0x1f, d >> 7
	}
	return d>>1&0x1f | d>>2&0xfe0, d >> 14
}
