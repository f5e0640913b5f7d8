package spd

import (
	"io"
	"strconv"
)

// WriteText writes f in the text form of the package comment. It prints the
// header statistics that f.Header holds.
func WriteText(w io.Writer, f *File) error {
	t := textWriter{w: w}
	h := &f.Header
	t.line(0, "spd").hex("version", Version).str("binary", h.Binary).hex("flags", uint64(h.Flags)).
		raw("guid", h.GUID.String()).dec("age", uint64(h.Age)).
		dec("hot_threshold", h.HotThreshold).dec("dynamic_instructions", h.DynamicInstructions).
		dec("static_instructions", uint64(h.StaticInstructions)).
		opt("binary_hash", h.BinaryHash).
		opt("reserved_08", h.Reserved08).opt("reserved_0c", h.Reserved0C).opt("reserved_10", h.Reserved10).
		opt("reserved_1c", h.Reserved1C).opt("reserved_24", h.Reserved24).opt("reserved_3c", h.Reserved3C).
		opt("reserved_40", h.Reserved40).opt("reserved_44", h.Reserved44).opt("reserved_70", h.Reserved70)
	for k := range f.Modules {
		m := &f.Modules[k]
		t.line(0, "module").str("name", m.Name).hex("flags", uint64(m.Flags)).dec("generation", uint64(m.Generation)).
			dec("hash_buckets", uint64(m.HashBuckets)).opt("data_records", m.DataRecords).opt("reserved_08", m.Reserved08)
		if len(m.DataProfile) > 0 {
			t.str("data_profile", string(m.DataProfile))
		}
		for i := range m.Functions {
			t.function(&m.Functions[i])
		}
	}
	return t.flush(0)
}

// textWriter appends lines. Its methods append a field to the last line and
// return the writer, for chains.
type textWriter struct {
	w   io.Writer
	b   []byte
	err error
}

// line ends the line before and starts one.
func (t *textWriter) line(indent int, keyword string) *textWriter {
	t.flush(flushSize)
	for range indent {
		t.b = append(t.b, ' ')
	}
	t.b = append(t.b, keyword...)
	return t
}

// flush ends the line before and hands on the lines if they are more than
// limit bytes.
func (t *textWriter) flush(limit int) error {
	if len(t.b) > 0 {
		t.b = append(t.b, '\n')
	}
	if t.err == nil && len(t.b) > limit {
		_, t.err = t.w.Write(t.b)
		t.b = t.b[:0]
	}
	return t.err
}

func (t *textWriter) key(key string) *textWriter {
	t.b = append(append(append(t.b, ' '), key...), '=')
	return t
}

func (t *textWriter) raw(key, v string) *textWriter {
	t.key(key)
	t.b = append(t.b, v...)
	return t
}

func (t *textWriter) str(key, v string) *textWriter {
	t.key(key)
	t.b = strconv.AppendQuote(t.b, v)
	return t
}

func (t *textWriter) dec(key string, v uint64) *textWriter {
	t.key(key)
	t.b = strconv.AppendUint(t.b, v, 10)
	return t
}

func (t *textWriter) hex(key string, v uint64) *textWriter {
	t.key(key)
	t.b = appendHex(t.b, v)
	return t
}

// opt appends a field that is rarely set.
func (t *textWriter) opt(key string, v uint32) *textWriter {
	if v != 0 {
		t.hex(key, uint64(v))
	}
	return t
}

func appendHex(b []byte, v uint64) []byte {
	return strconv.AppendUint(append(b, "0x"...), v, 16)
}

func (t *textWriter) function(f *Function) {
	t.line(0, "function").raw("id", f.ID.String()).str("name", f.Name).dec("ordinal", uint64(f.Ordinal)).
		hex("symbol_flags", uint64(f.SymbolFlags)).hex("flags", uint64(f.Flags)).raw("checksum", f.Checksum.String()).
		hex("rva", uint64(f.RVA)).hex("length", uint64(f.Length)).
		opt("folded_into", f.FoldedInto).opt("symbol_reserved_14", f.Reserved14).
		opt("cold_rva", f.ColdRVA).opt("cold_length", f.ColdLength).
		opt("reserved_08", f.Reserved08).opt("reserved_0c", f.Reserved0C).
		opt("reserved_4c", f.Reserved4C).opt("reserved_50", f.Reserved50)
	for k := range f.Callees {
		c := &f.Callees[k]
		t.line(1, "callee").raw("id", c.ID.String()).hex("kind", uint64(c.Kind)).dec("count", c.Count)
		if len(c.Sites) > 0 {
			t.key("sites")
			for i, s := range c.Sites {
				if i > 0 {
					t.b = append(t.b, ',')
				}
				t.b = strconv.AppendUint(t.b, uint64(s), 10)
			}
		}
	}
	for k := range f.Blocks {
		t.block(&f.Blocks[k], k+1)
	}
	for _, c := range f.MachineCallees {
		t.line(1, "machine").raw("id", c.ID.String()).hex("kind", uint64(c.Kind)).dec("count", c.Count)
	}
}

func (t *textWriter) block(b *Block, id int) {
	t.line(1, "block").dec("id", uint64(id)).dec("count", b.Count).dec("instructions", uint64(b.Instructions)).
		flags(b.Flags, b.Aux).ranges(b.Ranges)
	for i := range b.Indirect {
		s := &b.Indirect[i]
		t.line(2, "indirect").callSite(s.CallSite).dec("hits", s.Hits)
		if used := s.Targets.used(); len(used) > 0 {
			t.key("targets")
			for k, x := range used {
				if k > 0 {
					t.b = append(t.b, ',')
				}
				t.b = append(append(t.b, x.ID.String()...), ':')
				t.b = strconv.AppendUint(t.b, x.Hits, 10)
			}
		}
	}
	t.inlinees(b.Inlinees, 1)
	for _, e := range b.Edges {
		t.line(2, "edge").dec("to", uint64(e.To)).dec("count", e.Count).opt("flags", e.Flags)
	}
}

// used returns the targets up to the last one that is set.
func (t *Targets) used() []Target {
	n := len(t)
	for n > 0 && t[n-1] == (Target{}) {
		n--
	}
	return t[:n]
}

func (t *textWriter) flags(flags, aux uint16) *textWriter {
	t.opt("flags", uint32(flags))
	if aux != 0 {
		t.dec("aux", uint64(aux))
	}
	return t
}

func (t *textWriter) ranges(ranges []Range) *textWriter {
	for i, r := range ranges {
		if i == 0 {
			t.key("ranges")
		} else {
			t.b = append(t.b, ',')
		}
		t.b = append(appendHex(t.b, uint64(r.Start)), '+')
		t.b = appendHex(t.b, uint64(r.Length))
		if r.Cold {
			t.b = append(t.b, '*')
		}
	}
	return t
}

func (t *textWriter) callSite(s CallSite) *textWriter {
	return t.hex("offset", uint64(s.Offset)).dec("length", uint64(s.Length)).
		dec("ordinal", uint64(s.Ordinal)).dec("kind", uint64(s.Kind))
}

func (t *textWriter) inlinees(inlinees []Inlinee, depth int) {
	for i := range inlinees {
		f := &inlinees[i]
		t.line(1+depth, "inlinee").dec("depth", uint64(depth)).raw("id", f.ID.String()).opt("reserved_08", f.Reserved08)
		for k := range f.Blocks {
			b := &f.Blocks[k]
			t.line(1+depth, "inlined").dec("depth", uint64(depth)).dec("id", uint64(b.ID)).
				dec("instructions", uint64(b.Instructions)).flags(b.Flags, b.Aux).ranges(b.Ranges)
			for _, s := range b.Indirect {
				t.line(2+depth, "call").callSite(s)
			}
			t.inlinees(b.Inlinees, depth+1)
		}
	}
}
