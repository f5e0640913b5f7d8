package funcs

import (
	"encoding/binary"

	"github.com/spgo-tools/spgo/internal/program"
	"github.com/spgo-tools/spgo/pkg/image"
)

// Unwind data of a PE may name a handler of exceptions, with data behind the
// name. What the data are depends on the handler, which in most images is
// known by its address alone, so they are recognized by what is in them:
//
//   - Microsoft's C++ (__CxxFrameHandler3): the address of a record that starts
//     with a magic number. Catch blocks are functions of their own.
//   - Structured exceptions (__C_specific_handler): a number of scopes, each of
//     begin, end, filter and target; control goes on at the target, 0 for a
//     termination handler, which is a function of its own.
//   - MinGW (__gxx_personality_seh0): a language specific data area as in ELF.
//
// Source: Microsoft's "x64 exception handling" and "ARM64 exception handling",
// the scope table in winnt.h.

const (
	unwindHandlers = 1 | 2 // of the flags of x64 unwind data: for exceptions, and when unwinding
	scopeSize      = 16
	cxxMagic       = 0x19930520 // of the first of three versions
	cxxMagicMask   = 0x1fffffff
)

// addHandlers reads the handlers of exceptions of the entries of an exception
// directory.
func (f *finder) addHandlers(data []byte) {
	if f.img.Arch == image.ArchAMD64 {
		for at := 0; at+runtimeFunction <= len(data); at += runtimeFunction {
			start, end, info := entryAMD64(data[at:])
			if own, ok := handlerAMD64(info, f.img.ReadAtRVA); ok && start < end {
				f.addHandler(program.Range{Start: start, End: end}, own)
			}
		}
		return
	}
	for at := 0; at+8 <= len(data); at += 8 {
		start, word := binary.LittleEndian.Uint32(data[at:]), binary.LittleEndian.Uint32(data[at+4:])
		if word&3 != xdataARM64 || word == 0 {
			continue
		}
		if r, err := recordARM64(word, f.img.ReadAtRVA); err == nil && r.handler != 0 && start+r.size > start {
			f.addHandler(program.Range{Start: start, End: start + r.size}, r.handler)
		}
	}
}

// handlerAMD64 returns where the data of the handler are, if unwind data name
// one.
func handlerAMD64(info uint32, read readAt) (data uint64, ok bool) {
	var head [4]byte
	if info&indirectUnwind != 0 {
		return 0, false
	}
	if n, _ := read(head[:], uint64(info)); n < len(head) || head[0]>>3&unwindChained != 0 || head[0]>>3&unwindHandlers == 0 {
		return 0, false
	}
	codes := (uint64(head[2]) + 1) &^ 1
	return uint64(info) + 4 + 2*codes + 4, true
}

// addHandler takes the landing pads in the data of a handler of some code.
func (f *finder) addHandler(code program.Range, data uint64) {
	var b [4]byte
	if n, _ := f.img.ReadAtRVA(b[:], data); n < len(b) {
		f.report.Problems = keep(f.report.Problems, noBytes("data of an exception handler", uint32(data)))
		return
	}
	first := binary.LittleEndian.Uint32(b[:])
	if n, _ := f.img.ReadAtRVA(b[:], uint64(first)); n == len(b) && binary.LittleEndian.Uint32(b[:])&cxxMagicMask-cxxMagic < 3 {
		f.report.Exceptions.Elsewhere++
		return
	}
	if f.addScopes(uint64(first), data+4) {
		return
	}
	start := f.img.Base + uint64(code.Start)
	sites, err := f.readLSDA(data, start, uint64(code.Len()))
	if err != nil {
		f.report.Exceptions.Unknown++
		return
	}
	f.report.Exceptions.Tables++
	f.addSites(sites)
}

// addScopes takes the scopes at an RVA. It is false for something else.
func (f *finder) addScopes(n, rva uint64) bool {
	_, have, ok := f.img.FileOffset(rva)
	if !ok || n == 0 || n > have/scopeSize || f.spend(4) != nil {
		return false
	}
	inCode := func(rva uint32) bool { return program.Containing(f.code, rva) >= 0 }
	var sites []site
	for k := range n {
		var b [scopeSize]byte
		if got, _ := f.img.ReadAtRVA(b[:], rva+k*scopeSize); got < len(b) {
			return false
		}
		begin, end := binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[4:])
		filter, target := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
		if begin >= end || !inCode(begin) || !inCode(end-1) || filter > 1 && !inCode(filter) || target != 0 && !inCode(target) {
			return false
		}
		if f.spend(scopeSize) != nil {
			return false
		}
		if target != 0 {
			sites = append(sites, site{begin, end, target})
		}
	}
	f.report.Exceptions.Tables++
	f.sites = append(f.sites, sites...)
	return true
}
