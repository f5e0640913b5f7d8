package perfdata

import "bytes"

// Mmap is a new mapping in a process, or in the kernel: MMAP and MMAP2.
type Mmap struct {
	Mode     CPUMode
	PID, TID int32 // -1 for the kernel
	Addr     uint64
	Len      uint64
	PgOff    uint64 // file offset in bytes; the address itself for anonymous memory
	Data     bool   // not executable
	Timeout  bool   // perf gave up reading the maps of this process
	Name     string // path, or a name such as //anon, [vdso], [kernel.kallsyms]_text

	// V2 says that the record was MMAP2, which has the fields below: either
	// device and inode or a build id.
	V2              bool
	Major, Minor    uint32
	Inode           uint64
	InodeGeneration uint64
	BuildID         ID     // nil if the record has none
	Prot            uint32 // 1 read, 2 write, 4 execute
	Flags           uint32 // as of mmap(2): 1 shared, 2 private
}

func (m *Mmap) accepts(t Type) bool { return t == TypeMmap || t == TypeMmap2 }

func (m *Mmap) decode(c *eventCursor, r *Record) {
	*m = Mmap{Mode: r.Mode(), Data: r.Misc&MiscMmapData != 0, Timeout: r.Misc&MiscProcMapTimeout != 0}
	m.PID, m.TID = c.pids()
	m.Addr, m.Len, m.PgOff = c.U64(), c.U64(), c.U64()
	if r.Type == TypeMmap2 {
		m.V2 = true
		if r.Misc&MiscMmapBuildID != 0 {
			n := min(int(c.U8()), idSize)
			c.Skip(3)
			if b := c.Bytes(idSize); b != nil {
				m.BuildID = bytes.Clone(b[:n])
			}
		} else {
			m.Major, m.Minor, m.Inode, m.InodeGeneration = c.U32(), c.U32(), c.U64(), c.U64()
		}
		m.Prot, m.Flags = c.U32(), c.U32()
	}
	m.Name = c.name()
}

func (m *Mmap) encode(e *encoder) (Type, uint16) {
	typ, misc := TypeMmap, uint16(m.Mode)
	if m.Data {
		misc |= MiscMmapData
	}
	if m.Timeout {
		misc |= MiscProcMapTimeout
	}
	e.pids(m.PID, m.TID)
	e.u64(m.Addr)
	e.u64(m.Len)
	e.u64(m.PgOff)
	if m.V2 {
		typ = TypeMmap2
		if m.BuildID != nil {
			misc |= MiscMmapBuildID
			n := min(len(m.BuildID), idSize)
			e.u8(uint8(n))
			e.zeros(3)
			e.bytes(m.BuildID[:n])
			e.zeros(idSize - n)
		} else {
			e.u32(m.Major)
			e.u32(m.Minor)
			e.u64(m.Inode)
			e.u64(m.InodeGeneration)
		}
		e.u32(m.Prot)
		e.u32(m.Flags)
	}
	e.name(m.Name)
	return typ, misc
}

// Comm is a new name of a thread. With Exec the process runs a new program:
// all mappings from before are gone.
type Comm struct {
	PID, TID int32
	Exec     bool
	Name     string // at most 15 bytes
}

func (m *Comm) accepts(t Type) bool { return t == TypeComm }

func (m *Comm) decode(c *eventCursor, r *Record) {
	*m = Comm{Exec: r.Misc&MiscCommExec != 0}
	m.PID, m.TID = c.pids()
	m.Name = c.name()
}

func (m *Comm) encode(e *encoder) (Type, uint16) {
	e.pids(m.PID, m.TID)
	e.name(m.Name)
	return TypeComm, flag(m.Exec, MiscCommExec)
}

// Task is the start (FORK) or the end (EXIT) of a thread. It is a new process
// if PID and PPID differ.
type Task struct {
	Exit        bool
	Synthesized bool // perf made it up for a task that ran already: it inherits nothing
	PID, PPID   int32
	TID, PTID   int32
	Time        uint64
}

func (m *Task) accepts(t Type) bool { return t == TypeFork || t == TypeExit }

func (m *Task) decode(c *eventCursor, r *Record) {
	*m = Task{Exit: r.Type == TypeExit, Synthesized: r.Misc&MiscForkExec != 0}
	m.PID, m.PPID = c.pids()
	m.TID, m.PTID = c.pids()
	m.Time = c.U64()
}

func (m *Task) encode(e *encoder) (Type, uint16) {
	e.pids(m.PID, m.PPID)
	e.pids(m.TID, m.PTID)
	e.u64(m.Time)
	if m.Exit {
		return TypeExit, flag(m.Synthesized, MiscForkExec)
	}
	return TypeFork, flag(m.Synthesized, MiscForkExec)
}

// flag returns bit if set is true.
func flag(set bool, bit uint16) uint16 {
	if set {
		return bit
	}
	return 0
}

// Switch is a context switch: SWITCH, or SWITCH_CPU_WIDE with the task on the
// other side.
type Switch struct {
	Out      bool // the task stops running; else it starts
	Preempt  bool // it could have gone on
	CPUWide  bool
	PID, TID int32 // with CPUWide: the next task if Out, else the one before
}

func (m *Switch) accepts(t Type) bool { return t == TypeSwitch || t == TypeSwitchCPUWide }

func (m *Switch) decode(c *eventCursor, r *Record) {
	*m = Switch{Out: r.Misc&MiscSwitchOut != 0, Preempt: r.Misc&MiscSwitchPreempt != 0, CPUWide: r.Type == TypeSwitchCPUWide}
	if m.CPUWide {
		m.PID, m.TID = c.pids()
	}
}

func (m *Switch) encode(e *encoder) (Type, uint16) {
	misc := flag(m.Out, MiscSwitchOut) | flag(m.Preempt, MiscSwitchPreempt)
	if !m.CPUWide {
		return TypeSwitch, misc
	}
	e.pids(m.PID, m.TID)
	return TypeSwitchCPUWide, misc
}

// Namespaces lists the namespaces of a task, in the order net, uts, ipc, pid,
// user, mnt, cgroup.
type Namespaces struct {
	PID, TID int32
	Links    []Namespace
}

// Namespace identifies a namespace by its file under /proc/PID/ns.
type Namespace struct{ Dev, Inode uint64 }

func (m *Namespaces) accepts(t Type) bool { return t == TypeNamespaces }

func (m *Namespaces) decode(c *eventCursor, r *Record) {
	*m = Namespaces{}
	m.PID, m.TID = c.pids()
	for range c.Count(c.U64(), 16, "namespaces") {
		m.Links = append(m.Links, Namespace{c.U64(), c.U64()})
	}
}

func (m *Namespaces) encode(e *encoder) (Type, uint16) {
	e.pids(m.PID, m.TID)
	e.u64(uint64(len(m.Links)))
	for _, l := range m.Links {
		e.u64(l.Dev)
		e.u64(l.Inode)
	}
	return TypeNamespaces, 0
}

// Cgroup names a cgroup, for Sample.Cgroup.
type Cgroup struct {
	ID   uint64
	Path string
}

func (m *Cgroup) accepts(t Type) bool { return t == TypeCgroup }

func (m *Cgroup) decode(c *eventCursor, r *Record) { *m = Cgroup{c.U64(), c.name()} }

func (m *Cgroup) encode(e *encoder) (Type, uint16) {
	e.u64(m.ID)
	e.name(m.Path)
	return TypeCgroup, 0
}

// ItraceStart says that a hardware trace starts while a task runs already.
type ItraceStart struct{ PID, TID int32 }

func (m *ItraceStart) accepts(t Type) bool { return t == TypeItraceStart }

func (m *ItraceStart) decode(c *eventCursor, r *Record) { m.PID, m.TID = c.pids() }

func (m *ItraceStart) encode(e *encoder) (Type, uint16) {
	e.pids(m.PID, m.TID)
	return TypeItraceStart, 0
}
