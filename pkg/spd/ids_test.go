package spd

import (
	"encoding/json"
	"testing"
)

func TestFunctionIDs(t *testing.T) {
	for _, c := range []struct {
		name string
		got  ID
		want ID
	}{
		{"external", FunctionID("memset"), 0x000006530d82b830},
		{"import", ImportID("ExFreePoolWithTag"), 0x5e85d283a7e07ab9},
		{"import by name", FunctionID("__imp_ExFreePoolWithTag"), 0x5e85d283a7e07ab9},
		{"static", StaticID("ebpf_core.obj", "_ebpf_core_find_matching_link"), FunctionID("ebpf_core.obj_ebpf_core_find_matching_link")},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for name, want := range map[string]uint32{"EbpfCore.sys": 0x0cd2db38, "map.sys": 0xb495cbb0} {
		if got := binaryHash(name); got != want {
			t.Errorf("binaryHash(%q) = %#x, want %#x", name, got, want)
		}
	}
}

// TestRecordedIDsFollowFromNames: external functions have the id of their
// name, and the statics of one object file the id of object and name.
func TestRecordedIDsFollowFromNames(t *testing.T) {
	objects := map[string]string{
		"_ebpf_core_protocol_resolve_helper":    "ebpf_core.obj",
		"_ebpf_hash_table_compute_bucket_index": "ebpf_hash_table.obj",
		"_get_hash":                             "map_driver.obj",
	}
	statics := 0
	for name, data := range recorded(t) {
		for _, fn := range decode(t, data).Modules[0].Functions {
			switch {
			case fn.SymbolFlags&SymbolStatic == 0:
				if FunctionID(fn.Name) != fn.ID {
					t.Errorf("%s: %q has id %v, want %v", name, fn.Name, fn.ID, FunctionID(fn.Name))
				}
			case objects[fn.Name] != "":
				statics++
				if id := StaticID(objects[fn.Name], fn.Name); id != fn.ID {
					t.Errorf("%s: %q has id %v, want %v", name, fn.Name, fn.ID, id)
				}
			}
		}
	}
	if statics < 6 {
		t.Errorf("only %d static functions were looked at", statics)
	}
}

func TestIDText(t *testing.T) {
	var id ID
	if err := id.UnmarshalText([]byte("0x5e85d283a7e07ab9")); err != nil || id != 0x5e85d283a7e07ab9 || id.String() != "0x5e85d283a7e07ab9" {
		t.Errorf("got %v, %v", id, err)
	}
	if got := ID(1).String(); got != "0x0000000000000001" {
		t.Errorf("got %s", got)
	}
	for _, bad := range []string{"", "5e85", "0x", "0x1ffffffffffffffff", "0xg", "0x-1"} {
		if err := id.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, id)
		}
	}
	symbol := Symbol{ID: 1, Name: "f", Ordinal: 2, SymbolFlags: 9}
	if got, err := json.Marshal(symbol); err != nil || string(got) != `{"id":"0x0000000000000001","name":"f","ordinal":2,"symbol_flags":9}` {
		t.Errorf("JSON of a symbol: %s, %v", got, err)
	}
	if got, err := json.Marshal(Checksum(0x1f1)); err != nil || string(got) != `"0x000001f1"` {
		t.Errorf("JSON of a checksum: %s, %v", got, err)
	}
	var c Checksum
	if err := c.UnmarshalText([]byte("0x1ffffffff")); err == nil {
		t.Errorf("a checksum of 33 bits was read as %v", c)
	}
}

func TestBucketCount(t *testing.T) {
	for _, c := range []struct {
		functions int
		want      uint32
	}{{0, 31}, {19, 31}, {31, 31}, {32, 61}, {61, 61}, {62, 127}, {561, 1021}, {935, 1021}, {1022, 2039}, {100000, 131071}, {1048574, 2097143}} {
		if got := bucketCount(c.functions); got != c.want {
			t.Errorf("bucketCount(%d) = %d, want %d", c.functions, got, c.want)
		}
	}
}

func TestSymbolsAreChainedAtTheTail(t *testing.T) {
	ids := []ID{1, 32, 2, 63, 31} // 31 buckets: three in bucket 1
	places, n := placeSymbols(len(ids), 31, func(k int) ID { return ids[k] })
	want := []tablePlace{{1, 31}, {31, 32}, {2, 0}, {32, 0}, {0, 0}}
	for k := range want {
		if places[k] != want[k] {
			t.Errorf("symbol %d at %+v, want %+v", k, places[k], want[k])
		}
	}
	if n != 33 {
		t.Errorf("%d entries, want 33", n)
	}
}

func TestFlowChecksum(t *testing.T) {
	for _, c := range []struct {
		tuples []Tuple
		want   Checksum
	}{
		{nil, 0xffffffff},
		{[]Tuple{TupleCall}, 0xe},
		{[]Tuple{TupleReturn, TupleJump}, 0x1f1},
		{[]Tuple{TupleCall, TupleReturn, TupleJump}, 0x39f1},
		{[]Tuple{TupleCall, TupleJump, TupleCall, TupleLabel}, 0x745da},
	} {
		if got := FlowChecksum(c.tuples); got != c.want {
			t.Errorf("FlowChecksum(%v) = %v, want %v", c.tuples, got, c.want)
		}
	}
}

// TestChecksumsFollowFromGraphs recomputes the checksums of the functions of
// the recorded files whose graphs can tell.
func TestChecksumsFollowFromGraphs(t *testing.T) {
	told, equal := 0, 0
	for _, data := range recorded(t) {
		for _, fn := range decode(t, data).Modules[0].Functions {
			with, ok := fn.FlowTuples(true)
			without, _ := fn.FlowTuples(false)
			if !ok {
				continue
			}
			told++
			equal += one(FlowChecksum(with) == fn.Checksum || FlowChecksum(without) == fn.Checksum)
		}
	}
	if told != 2566 || equal != 2502 {
		t.Errorf("%d of %d checksums equal, want 2502 of 2566", equal, told)
	}
}
