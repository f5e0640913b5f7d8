package spd

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// JSONOptions selects the shape of JSON output; the zero value is one object
// that ReadJSON reads.
type JSONOptions struct {
	// Lines writes one object per line and function instead, without the
	// header and the modules.
	Lines bool
	// NoCode leaves out what ties the profile to the machine code: RVAs,
	// lengths, ranges and offsets of calls.
	NoCode bool
}

// WriteJSON writes f as the JSON object that docs/format/spd.md describes:
//
//	{"header":{...},"modules":[{...}],"functions":[{...},...]}
//
// It is lossless. Function ids and checksums are hexadecimal strings, counts are
// numbers up to 64 bits, a range is [start,length,cold]. Numbers that follow from
// others are added for the reader's convenience: the module's summary, and
// entry_count and weight of a function. Functions of the second and later modules
// have the index of the module.
func WriteJSON(w io.Writer, f *File, o JSONOptions) error {
	j := jsonWriter{w: w}
	if !o.Lines {
		j.value(`{"header":`, &f.Header)
		for k := range f.Modules {
			m := &f.Modules[k]
			j.value(separator(k, `,`+"\n"+`"modules":[`, `,`), &ModuleSummary{Module: *m, Summary: m.Summary()})
		}
		if len(f.Modules) == 0 {
			j.b = append(j.b, ",\n\"modules\":["...)
		}
		j.b = append(j.b, "],\n\"functions\":["...)
	}
	first := true
	for m := range f.Modules {
		for k := range f.Modules[m].Functions {
			if !o.Lines {
				j.b = append(j.b, separator(one(!first), "\n", ",\n")...)
			}
			first = false
			j.b = f.Modules[m].Functions[k].AppendJSON(j.b, m, o)
			if o.Lines {
				j.b = append(j.b, '\n')
			}
			j.flush(flushSize)
		}
	}
	if !o.Lines {
		j.b = append(j.b, "]}\n"...)
	}
	return j.flush(0)
}

// separator is what stands before element k of a list.
func separator(k int, first, later string) string {
	if k == 0 {
		return first
	}
	return later
}

type jsonWriter struct {
	w   io.Writer
	b   []byte
	err error
}

func (j *jsonWriter) flush(limit int) error {
	if j.err == nil && len(j.b) > limit {
		_, j.err = j.w.Write(j.b)
		j.b = j.b[:0]
	}
	return j.err
}

// value appends a rare object by way of encoding/json.
func (j *jsonWriter) value(before string, v any) {
	text, err := json.Marshal(v)
	if j.err == nil {
		j.err = err
	}
	j.b = append(append(j.b, before...), text...)
}

// MarshalJSON writes the header as WriteJSON does.
func (h Header) MarshalJSON() ([]byte, error) {
	return json.Marshal(headerJSON{
		Version:     fmt.Sprintf("%#x", Version),
		GUID:        h.GUID.String(),
		plainHeader: plainHeader(h),
	})
}

// headerJSON is a header in JSON.
type headerJSON struct {
	Version string `json:"version"`
	GUID    string `json:"guid"`
	plainHeader
}

type plainHeader Header // without methods

// ModuleSummary is a module in JSON: its fields, and what follows from its
// functions.
type ModuleSummary struct {
	Module
	Summary
}

// AppendJSON appends f as WriteJSON writes it; module is the index of its
// module. Functions are the bulk of a file, so they are appended by hand. Fields
// that are zero in every file known are left out then. Of the options, NoCode
// counts.
func (f *Function) AppendJSON(b []byte, module int, o JSONOptions) []byte {
	b = appendString(append(b, `{"id":`...), f.ID.String())
	if module > 0 {
		b = appendNumber(b, `,"module":`, uint64(module))
	}
	b = appendString(append(b, `,"name":`...), f.Name)
	if !utf8.ValidString(f.Name) {
		b = appendString(append(b, `,"name_bytes":`...), hex.EncodeToString([]byte(f.Name)))
	}
	b = appendNumber(b, `,"ordinal":`, uint64(f.Ordinal))
	b = appendNumber(b, `,"flags":`, uint64(f.Flags))
	b = appendNumber(b, `,"symbol_flags":`, uint64(f.SymbolFlags))
	b = appendString(append(b, `,"checksum":`...), f.Checksum.String())
	if !o.NoCode {
		b = appendNumber(b, `,"rva":`, uint64(f.RVA))
		b = appendNumber(b, `,"length":`, uint64(f.Length))
		b = appendRare(b, `,"folded_into":`, f.FoldedInto)
		b = appendRare(b, `,"cold_rva":`, f.ColdRVA)
		b = appendRare(b, `,"cold_length":`, f.ColdLength)
	}
	b = appendRare(b, `,"symbol_reserved_14":`, f.Reserved14)
	b = appendRare(b, `,"reserved_08":`, f.Reserved08)
	b = appendRare(b, `,"reserved_0c":`, f.Reserved0C)
	b = appendRare(b, `,"reserved_4c":`, f.Reserved4C)
	b = appendRare(b, `,"reserved_50":`, f.Reserved50)
	b = appendNumber(b, `,"entry_count":`, f.EntryCount())
	b = appendNumber(b, `,"weight":`, f.Weight())
	b = appendList(b, `,"callees":`, f.Callees, func(b []byte, c *Callee) []byte {
		b = appendString(append(b, `{"id":`...), c.ID.String())
		b = appendNumber(b, `,"kind":`, uint64(c.Kind))
		b = appendNumber(b, `,"count":`, c.Count)
		b = appendList(b, `,"sites":`, c.Sites, func(b []byte, s *uint32) []byte { return strconv.AppendUint(b, uint64(*s), 10) })
		return append(b, '}')
	})
	b = appendList(b, `,"machine_callees":`, f.MachineCallees, func(b []byte, c *MachineCallee) []byte {
		b = appendString(append(b, `{"id":`...), c.ID.String())
		b = appendNumber(b, `,"kind":`, uint64(c.Kind))
		b = appendNumber(b, `,"count":`, c.Count)
		return append(b, '}')
	})
	id := uint64(0)
	b = appendList(b, `,"blocks":`, f.Blocks, func(b []byte, x *Block) []byte {
		id++
		return o.appendBlock(b, x, id)
	})
	return append(b, '}')
}

func (o JSONOptions) appendBlock(b []byte, x *Block, id uint64) []byte {
	b = appendNumber(b, `{"id":`, id)
	b = appendNumber(b, `,"count":`, x.Count)
	b = appendNumber(b, `,"instructions":`, uint64(x.Instructions))
	b = appendNumber(b, `,"flags":`, uint64(x.Flags))
	b = appendNumber(b, `,"aux":`, uint64(x.Aux))
	b = o.appendRanges(b, x.Ranges)
	b = appendList(b, `,"edges":`, x.Edges, appendEdge)
	if len(x.Indirect) > 0 {
		b = appendList(b, `,"indirect_sites":`, x.Indirect, func(b []byte, s *IndirectSite) []byte {
			b = o.appendCallSite(b, &s.CallSite)
			b = appendNumber(b, `,"hits":`, s.Hits)
			b = appendList(b, `,"targets":`, s.Targets.used(), func(b []byte, t *Target) []byte {
				b = appendString(append(b, `{"id":`...), t.ID.String())
				b = appendNumber(b, `,"hits":`, t.Hits)
				return append(b, '}')
			})
			return append(b, '}')
		})
	}
	return append(o.appendInlinees(b, x.Inlinees), '}')
}

func (o JSONOptions) appendInlinees(b []byte, inlinees []Inlinee) []byte {
	if len(inlinees) == 0 {
		return b
	}
	return appendList(b, `,"inlinees":`, inlinees, func(b []byte, f *Inlinee) []byte {
		b = appendString(append(b, `{"id":`...), f.ID.String())
		b = appendRare(b, `,"reserved_08":`, f.Reserved08)
		b = appendList(b, `,"blocks":`, f.Blocks, func(b []byte, x *InlinedBlock) []byte {
			b = appendNumber(b, `{"id":`, uint64(x.ID))
			b = appendNumber(b, `,"instructions":`, uint64(x.Instructions))
			b = appendNumber(b, `,"flags":`, uint64(x.Flags))
			b = appendNumber(b, `,"aux":`, uint64(x.Aux))
			b = o.appendRanges(b, x.Ranges)
			if len(x.Indirect) > 0 {
				b = appendList(b, `,"indirect_sites":`, x.Indirect, func(b []byte, s *CallSite) []byte {
					return append(o.appendCallSite(b, s), '}')
				})
			}
			return append(o.appendInlinees(b, x.Inlinees), '}')
		})
		return append(b, '}')
	})
}

func appendRange(b []byte, r *Range) []byte {
	b = appendNumber(b, `[`, uint64(r.Start))
	b = appendNumber(b, `,`, uint64(r.Length))
	b = appendNumber(b, `,`, uint64(one(r.Cold)))
	return append(b, ']')
}

func appendEdge(b []byte, e *Edge) []byte {
	b = appendNumber(b, `{"to":`, uint64(e.To))
	b = appendNumber(b, `,"count":`, e.Count)
	b = strconv.AppendBool(append(b, `,"dead":`...), e.Flags&EdgeDead != 0)
	b = appendRare(b, `,"other_flags":`, e.Flags&^EdgeDead)
	return append(b, '}')
}

func (o JSONOptions) appendRanges(b []byte, ranges []Range) []byte {
	if o.NoCode {
		return b
	}
	return appendList(b, `,"ranges":`, ranges, appendRange)
}

func (o JSONOptions) appendCallSite(b []byte, s *CallSite) []byte {
	b = append(b, '{')
	if !o.NoCode {
		b = appendNumber(b, `"offset":`, uint64(s.Offset))
		b = append(appendNumber(b, `,"length":`, uint64(s.Length)), ',')
	}
	b = appendNumber(b, `"ordinal":`, uint64(s.Ordinal))
	return appendNumber(b, `,"kind":`, uint64(s.Kind))
}

func appendList[T any](b []byte, before string, list []T, element func([]byte, *T) []byte) []byte {
	b = append(append(b, before...), '[')
	for k := range list {
		if k > 0 {
			b = append(b, ',')
		}
		b = element(b, &list[k])
	}
	return append(b, ']')
}

func appendNumber(b []byte, before string, v uint64) []byte {
	return strconv.AppendUint(append(b, before...), v, 10)
}

func appendRare(b []byte, before string, v uint32) []byte {
	if v == 0 {
		return b
	}
	return appendNumber(b, before, uint64(v))
}

// appendString appends a quoted string. Most need no escapes.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string cannot fail
			}
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
