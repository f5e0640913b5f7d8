package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/spt"
)

// SPTDump shows an SPT while it is read, in constant memory but for the
// summary, which needs memory by the number of distinct addresses.
type SPTDump struct {
	File   string
	Reader *spt.Reader
	Parts  spt.Part
	Top    int          // addresses that the summary lists
	AtEnd  func() error // says what was skipped when the records are read

	summary []*binarySummary
}

// binarySummary is the sum of one program id.
type binarySummary struct {
	Name      string           `json:"name"`
	GUID      string           `json:"guid"`
	Age       uint32           `json:"age"`
	Opcodes   []*opcodeSummary `json:"opcodes"`
	TopIPs    []hotAddress     `json:"top_addresses"`
	TopArcs   []hotArc         `json:"top_branches"`
	opcodes   map[spt.Opcode]*opcodeSummary
	addresses map[uint64]uint64 // opcode in the high half, RVA in the low one
	arcs      map[spt.Pair]uint64
}

type opcodeSummary struct {
	Opcode  string `json:"opcode"`
	Name    string `json:"name"`
	Records uint64 `json:"records"`
	Hits    uint64 `json:"hits"` // of RVAs, pairs, or arcs of call stacks
	number  spt.Opcode
}

type hotAddress struct {
	Opcode string `json:"opcode"`
	RVA    uint32 `json:"rva"`
	Hits   uint64 `json:"hits"`
}

type hotArc struct {
	From uint32 `json:"from"`
	To   uint32 `json:"to"`
	Hits uint64 `json:"hits"`
}

// Summarize reads the records and adds them up. The other parts can still be
// shown, but the records themselves cannot.
func (d *SPTDump) Summarize() error {
	for _, p := range d.Reader.Programs() {
		d.summary = append(d.summary, &binarySummary{
			Name: p.Name, GUID: p.GUID.String(), Age: p.Age,
			Opcodes: []*opcodeSummary{}, TopIPs: []hotAddress{}, TopArcs: []hotArc{},
			opcodes: map[spt.Opcode]*opcodeSummary{}, addresses: map[uint64]uint64{}, arcs: map[spt.Pair]uint64{},
		})
	}
	for d.Reader.Next() {
		d.summary[d.Reader.Record().Program].add(d.Reader.Record())
	}
	for _, b := range d.summary {
		b.finish(d.Top)
	}
	return d.Reader.Err()
}

func (b *binarySummary) add(r *spt.Record) {
	o := b.opcodes[r.Op]
	if o == nil {
		o = &opcodeSummary{Opcode: opcodeName(byte(r.Op)), Name: r.Op.String(), number: r.Op}
		b.opcodes[r.Op] = o
		b.Opcodes = append(b.Opcodes, o)
	}
	o.Records++
	items := uint64(len(r.RVAs) + len(r.Pairs))
	if r.Op == spt.OpETWCallStack {
		items--
	}
	o.Hits = binfmt.SatAdd(o.Hits, binfmt.SatMul(items, r.Hits()))
	for _, p := range r.Pairs {
		b.arcs[p] = binfmt.SatAdd(b.arcs[p], r.Hits())
	}
	if r.Op.IsIP() {
		for _, rva := range r.RVAs {
			key := uint64(r.Op)<<32 | uint64(rva)
			b.addresses[key] = binfmt.SatAdd(b.addresses[key], r.Hits())
		}
	}
}

func (b *binarySummary) finish(top int) {
	slices.SortFunc(b.Opcodes, func(x, y *opcodeSummary) int { return cmp.Compare(x.number, y.number) })
	for key, n := range b.addresses {
		b.TopIPs = append(b.TopIPs, hotAddress{opcodeName(byte(key >> 32)), uint32(key), n})
	}
	slices.SortFunc(b.TopIPs, func(x, y hotAddress) int {
		return cmp.Or(-cmp.Compare(x.Hits, y.Hits), cmp.Compare(x.Opcode, y.Opcode), cmp.Compare(x.RVA, y.RVA))
	})
	b.TopIPs = b.TopIPs[:min(top, len(b.TopIPs))]
	for p, n := range b.arcs {
		b.TopArcs = append(b.TopArcs, hotArc{p.From, p.To, n})
	}
	slices.SortFunc(b.TopArcs, func(x, y hotArc) int {
		return cmp.Or(-cmp.Compare(x.Hits, y.Hits), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	b.TopArcs = b.TopArcs[:min(top, len(b.TopArcs))]
	b.addresses, b.arcs = nil, nil
}

// WriteText prints the chosen parts in the text form, then the summary.
func (d *SPTDump) WriteText(w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	parts := d.Parts
	if d.summary != nil {
		parts &^= spt.PartRecords
	}
	err := spt.WriteText(buffered, d.Reader, parts)
	if d.summary != nil {
		t := &textWriter{w: buffered}
		for _, b := range d.summary {
			b.print(t)
		}
		err = cmp.Or(err, t.err)
	}
	if flushed := buffered.Flush(); flushed != nil {
		return flushed
	}
	if err != nil || d.summary != nil {
		return err
	}
	return d.AtEnd()
}

func (b *binarySummary) print(t *textWriter) {
	t.line("%s %s age %d", b.Name, b.GUID, b.Age)
	for _, o := range b.Opcodes {
		t.line("  %s %-15s %s in %s", o.Opcode, o.Name, counted(o.Hits, "hit"), counted(o.Records, "record"))
	}
	for i, a := range b.TopIPs {
		if i == 0 {
			t.line("  hottest addresses")
		}
		t.line("    %#-12x %s %s", a.RVA, a.Opcode, Count(a.Hits))
	}
	for i, a := range b.TopArcs {
		if i == 0 {
			t.line("  hottest branches")
		}
		t.line("    %#x -> %#x %s", a.From, a.To, Count(a.Hits))
	}
}

// WriteJSONMembers writes the chosen parts. Records are an array that is
// written as they are read.
func (d *SPTDump) WriteJSONMembers(w io.Writer) error {
	j := &jsonWriter{w: bufio.NewWriterSize(w, 64<<10)}
	j.member("file", d.File)
	if d.Parts&spt.PartHeader != 0 {
		h := d.Reader.Header()
		j.member("header", map[string]any{
			"version": spt.Version, "raw_data_id": h.RawDataId, "target_arch": h.TargetArch,
			"string_table_offset": h.StringTableOffset, "program_id_table_offset": h.ProgramIdTableOffset,
			"string_table_used": h.StringTableUsed, "string_table_capacity": h.StringTableCapacity,
			"program_ids_used": h.ProgramIdsUsed, "program_id_capacity": h.ProgramIdCapacity,
		})
	}
	if d.Parts&spt.PartPrograms != 0 {
		list := []map[string]any{}
		for i, p := range d.Reader.Programs() {
			list = append(list, map[string]any{"index": i, "guid": p.GUID.String(), "age": p.Age, "name": p.Name, "string_index": p.StringIndex})
		}
		j.member("programs", list)
	}
	if d.Parts&spt.PartStrings != 0 {
		list := []map[string]any{}
		for _, s := range d.Reader.Strings() {
			list = append(list, map[string]any{"offset": s.Offset, "text": s.Value})
		}
		j.member("strings", list)
	}
	var damage error
	switch {
	case d.summary != nil:
		j.member("summary", d.summary)
	case d.Parts&spt.PartRecords != 0:
		j.records(d.Reader)
		stats := d.Reader.Stats()
		j.member("records", stats.Records)
		j.member("single_frames", stats.SingleFrames)
		damage = d.AtEnd()
	}
	return cmp.Or(j.err, j.w.Flush(), damage)
}

// jsonWriter writes members of an object one after the other.
type jsonWriter struct {
	w     *bufio.Writer
	count int
	err   error
}

func (j *jsonWriter) name(name string) {
	if j.count > 0 {
		j.w.WriteByte(',')
	}
	j.count++
	fmt.Fprintf(j.w, "\n%q: ", name)
}

func (j *jsonWriter) member(name string, v any) {
	data, err := json.Marshal(v)
	j.err = cmp.Or(j.err, err)
	j.name(name)
	j.w.Write(data)
}

// records writes {"binary":0,"opcode":"0x10","offset":30752,"hits":3,
// "pairs":[[to,from],...]}, with "rvas" for all others than LBR.
func (j *jsonWriter) records(r *spt.Reader) {
	j.name("events")
	j.w.WriteByte('[')
	var line []byte
	for first := true; r.Next(); first = false {
		rec := r.Record()
		line = line[:0]
		if !first {
			line = append(line, ',')
		}
		line = fmt.Appendf(line, "\n{\"binary\":%d,\"opcode\":\"0x%02x\",\"offset\":%d,\"hits\":%d,", rec.Program, byte(rec.Op), rec.Offset, rec.Hits())
		if rec.Op == spt.OpLBR {
			line = append(line, `"pairs":[`...)
			for i, p := range rec.Pairs {
				line = appendComma(line, i)
				line = fmt.Appendf(line, "[%d,%d]", p.To, p.From)
			}
		} else {
			line = append(line, `"rvas":[`...)
			for i, rva := range rec.RVAs {
				line = appendComma(line, i)
				line = fmt.Appendf(line, "%d", rva)
			}
		}
		line = append(line, "]}"...)
		if _, err := j.w.Write(line); err != nil {
			j.err = cmp.Or(j.err, err)
			break
		}
	}
	j.w.WriteByte(']')
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}
