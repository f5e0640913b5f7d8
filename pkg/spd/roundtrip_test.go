package spd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// trips are the ways from a model to a model that must lose nothing.
var trips = map[string]func(*File) (*File, error){
	"text": func(f *File) (*File, error) {
		var b bytes.Buffer
		if err := WriteText(&b, f); err != nil {
			return nil, err
		}
		return ReadText(&b)
	},
	"JSON": func(f *File) (*File, error) {
		var b bytes.Buffer
		if err := WriteJSON(&b, f, JSONOptions{}); err != nil {
			return nil, err
		}
		return ReadJSON(&b)
	},
}

func TestRecordedFilesRoundTrip(t *testing.T) {
	for name, data := range recorded(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := decode(t, data)
			if !bytes.Equal(encode(t, f), data) {
				t.Error("writing what was read gives other bytes")
			}
			for way, trip := range trips {
				g, err := trip(f)
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				if !reflect.DeepEqual(f.Header, g.Header) {
					t.Errorf("%s: header %+v, want %+v", way, g.Header, f.Header)
				}
				if !bytes.Equal(encode(t, g), data) {
					t.Errorf("%s: other bytes", way)
				}
			}
		})
	}
}

func TestMadeFilesRoundTrip(t *testing.T) {
	for name, f := range map[string]*File{"fresh": freshFile(), "profiled": profiledFile(), "every field": everyField()} {
		t.Run(name, func(t *testing.T) {
			if d := diff(f, decode(t, encode(t, f))); d != "" {
				t.Errorf("bytes (-want +got):\n%s", d)
			}
			for way, trip := range trips {
				g, err := trip(f)
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				if d := diff(f, g); d != "" {
					t.Errorf("%s (-want +got):\n%s", way, d)
				}
			}
		})
	}
}

// everyField makes a file in which no field of the model is zero, so that a
// field that a writer or reader forgets shows.
func everyField() *File {
	var n uint64
	f := &File{}
	fillValue(reflect.ValueOf(f).Elem(), &n, 0)
	f.Header.Binary = "größe.exe" // not ASCII: its hash is kept
	f.Modules[0].Functions[0].Name = "\xff\x01\"?<\\ä"
	for m := range f.Modules {
		for k := range f.Modules[m].Functions {
			fn := &f.Modules[m].Functions[k]
			for b := range fn.Blocks {
				for e := range fn.Blocks[b].Edges {
					fn.Blocks[b].Edges[e].To = uint32(e + 1)
				}
			}
		}
	}
	f.Header.Statistics = f.ComputeStatistics()
	return f
}

func fillValue(v reflect.Value, n *uint64, depth int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(v.Field(i), n, depth)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]Inlinee]() && depth > 16 {
			return // deep enough
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fillValue(v.Index(i), n, depth+4)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(*n%15 + 1)
	case reflect.Uint16:
		v.SetUint(*n%0xffff + 1)
	case reflect.Uint64:
		v.SetUint(*n<<40 + *n)
	default:
		v.SetUint(*n)
	}
}

func TestReadKeepsMemoryInProportion(t *testing.T) {
	for name, data := range recorded(t) {
		var before, after, kept runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f := decode(t, data)
		runtime.ReadMemStats(&after)
		runtime.GC()
		runtime.ReadMemStats(&kept)
		runtime.KeepAlive(f)
		total := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(data))
		live := float64(int64(kept.HeapAlloc)-int64(before.HeapAlloc)) / float64(len(data))
		t.Logf("%s: %.2f of the file's size allocated in all, %.2f kept", name, total, live)
		if limit := 4.0; len(data) > 1<<20 && (total > limit || live > limit) {
			t.Errorf("%s: more than %.0f times the file", name, limit)
		}
	}
}

// countingReader counts the bytes that are asked for.
type countingReader struct {
	io.ReaderAt
	bytes int
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	r.bytes += len(p)
	return r.ReaderAt.ReadAt(p, off)
}

func TestOpeningReadsHeadersAlone(t *testing.T) {
	for name, data := range recorded(t) {
		c := &countingReader{ReaderAt: bytes.NewReader(data)}
		r, err := NewReader(c, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if c.bytes > 300 {
			t.Errorf("%s: opening reads %d bytes", name, c.bytes)
		}
		f := decode(t, data)
		if r.Header() != f.Header {
			t.Errorf("%s: header %+v, want %+v", name, r.Header(), f.Header)
		}
		symbols, err := r.Symbols(0)
		if err != nil {
			t.Fatal(err)
		}
		info := r.Modules()[0]
		if c.bytes > int(info.HashBuckets)*72+len(symbols)*100+300 {
			t.Errorf("%s: the symbols take %d bytes", name, c.bytes)
		}
		m := f.Modules[0]
		if len(symbols) != len(m.Functions) || int(info.Functions) != len(symbols) || info.Name != m.Name {
			t.Fatalf("%s: %d symbols, module %+v", name, len(symbols), info)
		}
		for k, s := range symbols {
			if s != m.Functions[k].Symbol {
				t.Fatalf("%s: symbol %d is %+v, want %+v", name, k, s, m.Functions[k].Symbol)
			}
		}
	}
}

func TestReadFromPartOfFile(t *testing.T) {
	data := encode(t, profiledFile())
	around := append(append(bytes.Repeat([]byte{0xaa}, 123), data...), 0xbb)
	r, err := NewReader(io.NewSectionReader(bytes.NewReader(around), 123, int64(len(data))), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(profiledFile(), f); d != "" {
		t.Error(d)
	}
}

func TestJSONLines(t *testing.T) {
	f := profiledFile()
	var b strings.Builder
	if err := WriteJSON(&b, f, JSONOptions{Lines: true}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != len(f.Modules[0].Functions) {
		t.Fatalf("%d lines for %d functions", len(lines), len(f.Modules[0].Functions))
	}
	whole := `{"header":{"version":"0x100c","guid":"{04030201-0605-0807-090A-0B0C0D0E0F10}"},"functions":[` + strings.Join(lines, ",") + `],"modules":[{}]}`
	g, err := ReadJSON(strings.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(&File{Modules: []Module{{Functions: f.Modules[0].Functions}}}, &File{Modules: g.Modules}); d != "" {
		t.Error(d)
	}
}

// TestFunctionsOneByOne: reading function by function gives what reading the
// whole file gives, and the same error.
func TestFunctionsOneByOne(t *testing.T) {
	data := encode(t, profiledFile())
	whole := decode(t, data)
	r, err := NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Module(0)
	if err != nil {
		t.Fatal(err)
	}
	var sum Summary
	for f, err := range r.Functions(0) {
		if err != nil {
			t.Fatal(err)
		}
		m.Functions = append(m.Functions, *f)
		sum.Add(f)
	}
	if d := diff(whole, &File{Header: r.Header(), Modules: []Module{m}}); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if sum != whole.Summary() {
		t.Errorf("summary %+v, want %+v", sum, whole.Summary())
	}

	record := bytes.LastIndex(data, binfmt.AppendU64(nil, uint64(whole.Modules[0].Functions[3].ID)))
	data[record+0x10]++ // its size
	_, want := r.Read()
	n := 0
	for _, err = range r.Functions(0) {
		n++
	}
	if want == nil || err == nil || err.Error() != want.Error() || n != 4 {
		t.Errorf("after %d functions: %v, want %v", n, err, want)
	}
}

func TestJSONWithoutCode(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, profiledFile(), JSONOptions{NoCode: true}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rva", "length", "ranges", "folded_into", "offset"} {
		if strings.Contains(b.String(), `"`+name+`"`) {
			t.Errorf("%s is there", name)
		}
	}
	if !json.Valid(b.Bytes()) {
		t.Errorf("no JSON: %s", b.Bytes())
	}
}
