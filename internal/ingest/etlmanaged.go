package ingest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spgo-tools/spgo/internal/sample"
	"github.com/spgo-tools/spgo/pkg/etl"
)

// Managed is what became of the samples in managed code. Code that is compiled
// at run time has no place in an SPT, so its samples are listed here.
type Managed struct {
	JIT     uint64          // samples in methods compiled at run time
	Methods []ManagedMethod // of these the hottest, most samples first
	Modules []ManagedModule // with samples, most first
}

// ManagedMethod is a method with code that was compiled at run time.
type ManagedMethod struct {
	Name    string // with namespace, class and signature
	Module  string // file name of its module; empty where it is not known
	Samples uint64
}

// ManagedModule says where the samples of a module were.
type ManagedModule struct {
	Path        string // of its intermediate code
	Precompiled uint64 // samples in its native image
	JIT         uint64 // samples in its methods compiled at run time
}

// shownMethods is how many methods are worth listing.
const shownMethods = 20

// managedMethod is code of a method that was compiled at run time.
type managedMethod struct {
	id, module  uint64
	start       uint64
	size, flags uint32
	rejit       uint64
	name        string
}

func newManagedMethod(m *etl.CLRMethod) managedMethod {
	name := m.Name
	if m.Namespace != "" {
		name = m.Namespace + "." + name
	}
	// Signatures give the result, two blanks and the parameters.
	if i := strings.IndexByte(m.Signature, '('); i >= 0 {
		name += m.Signature[i:]
	}
	return managedMethod{id: m.MethodID, module: m.ModuleID, start: m.Start, size: m.Size, flags: m.Flags, rejit: m.ReJITID, name: name}
}

// tier is the optimisation tier; 0: not known.
func (m *managedMethod) tier() uint32 { return m.flags >> etl.CLRMethodTierShift & 7 }

// managedModule is a module of the CLR.
type managedModule struct{ il, native string }

// jitMethod is a method for a time in a process.
type jitMethod struct {
	managedMethod
	pid  uint32
	from uint64
}

// placeMethods makes the history of the methods that were compiled at run
// time, apart from that of images.
func (t *etlTrace) placeMethods(side *sideBand) {
	sameMethod := func(a, b managedMethod) bool { return a.id == b.id && a.size == b.size && a.rejit == b.rejit }
	methods := newTimeline[slotKey](sameMethod, t.life)
	for i := range side.methods {
		s := &side.methods[i]
		at := methods.note(s.event.what, s.time, slotKey{s.event.pid, s.event.start}, s.event.managedMethod)
		if at != nil {
			at.thing.name = cmp.Or(at.thing.name, s.event.name)
			at.thing.flags |= s.event.flags
		}
	}
	t.modules = newTimeline[slotKey](func(a, b managedModule) bool { return a == b }, t.life)
	for i := range side.modules {
		s := &side.modules[i]
		t.modules.note(s.event.what, s.time, slotKey{s.event.pid, s.event.id}, s.event.managedModule)
	}
	var spans []span
	for _, key := range sortedSlots(methods.tenures) {
		for _, at := range methods.tenures[key] {
			spans = append(spans, span{pid: key.pid, from: at.from, to: at.to, start: key.base, size: uint64(at.thing.size),
				owner: int32(len(t.methods))})
			t.methods = append(t.methods, jitMethod{at.thing, key.pid, at.from})
		}
	}
	t.code = t.history(spans)
}

// moduleOf is the module of a method; nil where nothing tells.
func (t *etlTrace) moduleOf(m *jitMethod) *managedModule {
	if at, _ := t.modules.at(slotKey{m.pid, m.module}, m.from); at != nil {
		return &at.thing
	}
	return nil
}

// managed sums up the samples in managed code: hits by method, and by object
// those in images. It returns nil where there are none.
func (t *etlTrace) managed(jit, images []uint64) *Managed {
	sums := map[string]*ManagedModule{} // by path of the intermediate code
	module := func(m *managedModule) *ManagedModule {
		if sums[m.il] == nil {
			sums[m.il] = &ManagedModule{Path: m.il}
		}
		return sums[m.il]
	}
	result := &Managed{}
	methods := map[[2]string]uint64{} // by name and module; one can be compiled more than once
	for i, n := range jit {
		if n == 0 {
			continue
		}
		result.JIT += n
		m := &t.methods[i]
		key := [2]string{m.name}
		if of := t.moduleOf(m); of != nil {
			module(of).JIT += n
			key[1] = sample.BaseName(of.il)
		}
		methods[key] += n
	}
	for key, n := range methods {
		result.Methods = append(result.Methods, ManagedMethod{key[0], key[1], n})
	}
	slices.SortFunc(result.Methods, func(a, b ManagedMethod) int {
		return cmp.Or(-cmp.Compare(a.Samples, b.Samples), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Module, b.Module))
	})
	result.Methods = result.Methods[:min(len(result.Methods), shownMethods)]

	precompiled := map[string]uint64{} // samples by path in the volume
	for i, n := range images {
		if o := t.objects[i]; n > 0 && !o.binary.Kernel {
			precompiled[pathInVolume(o.binary.Path)] += n
		}
	}
	// A native image belongs to its module; code in the file of the
	// intermediate code itself is precompiled too (ReadyToRun).
	counted := map[string]bool{}
	for _, key := range sortedSlots(t.modules.tenures) {
		for i := range t.modules.tenures[key] {
			m := &t.modules.tenures[key][i].thing
			for _, path := range []string{m.native, m.il} {
				path = pathInVolume(path)
				if n := precompiled[path]; n > 0 && !counted[path] {
					counted[path] = true
					module(m).Precompiled += n
				}
			}
		}
	}
	for _, m := range sums {
		result.Modules = append(result.Modules, *m)
	}
	slices.SortFunc(result.Modules, func(a, b ManagedModule) int {
		return cmp.Or(-cmp.Compare(a.JIT+a.Precompiled, b.JIT+b.Precompiled), cmp.Compare(a.Path, b.Path))
	})
	if len(result.Methods)+len(result.Modules) == 0 {
		return nil
	}
	return result
}
