package spe

// Source is where the data of a memory operation came from.
type Source uint8

// Places that data come from.
const (
	SourceUnknown Source = iota
	SourceL1
	SourceLineBuffer
	SourceL2
	SourceL2Modified // hit a modified line
	SourcePeer       // another core
	SourcePeerModified
	SourceCluster     // the cache of the own cluster
	SourceSystemCache // the last level cache, of the chip
	SourceSystemModified
	SourcePeerCluster // another cluster
	SourcePeerClusterModified
	SourceRemote // another socket or chip
	SourceRemoteModified
	SourceMemory       // of this socket, or of any where the processor does not tell
	SourceRemoteMemory // of another socket
	SourceDevice       // device or uncached memory
	SourceBeyondL1     // not level 1; more is not known
	SourceBeyondL2     // not levels 1 and 2; more is not known
	SourceCount
)

var sourceNames = [SourceCount]string{"unknown", "L1", "line fill buffer", "L2", "L2 modified", "peer core", "peer core modified",
	"local cluster", "system cache", "system cache modified", "peer cluster", "peer cluster modified", "remote socket",
	"remote socket modified", "memory", "remote memory", "device", "beyond L1", "beyond L2"}

// String is the name of the source.
func (s Source) String() string { return sourceNames[s] }

// Sources tells what the data source packets of a kind of processor mean. Nil
// stands for one that is not known: then the events tell.
type Sources struct {
	values [32]Source
	stores bool // stores have a source too
}

var (
	armSources = Sources{values: [32]Source{0x0: SourceL1, 0x8: SourceL2, 0x9: SourcePeer, 0xa: SourceCluster, 0xb: SourceSystemCache,
		0xc: SourcePeerCluster, 0xd: SourceRemote, 0xe: SourceMemory}}
	ampereSources = Sources{stores: true, values: [32]Source{0: SourcePeer, 3: SourceSystemCache, 5: SourceRemote, 7: SourceMemory,
		8: SourceL1, 9: SourceL2}}
	hiSiliconSources = Sources{stores: true, values: [32]Source{0: SourcePeer, 1: SourcePeerModified, 2: SourceSystemCache,
		3: SourceSystemModified, 4: SourcePeerCluster, 5: SourcePeerClusterModified, 6: SourceRemote, 7: SourceRemoteModified,
		8: SourceMemory, 9: SourceRemoteMemory, 13: SourceDevice, 16: SourceL2, 17: SourceL2Modified, 18: SourceL1}}
)

// Sources returns the meaning of a processor's data sources, nil if it is not
// known.
func (m MIDR) Sources() *Sources {
	for i := range processors {
		if m.Is(processors[i].id) {
			return processors[i].sources
		}
	}
	return nil
}

// Of says where the data of a record came from. It is SourceUnknown for
// operations that are no memory accesses, and for stores on processors that
// tell it only of loads.
func (t *Sources) Of(r *Record) Source {
	switch {
	case !r.Op.Memory():
		return SourceUnknown
	case t == nil || !r.Has(HasDataSource):
		return sourceOfEvents(r.Events, r.Op.Store())
	case r.Op.Store() && !t.stores || r.Source >= uint64(len(t.values)):
		return SourceUnknown
	}
	return t.values[r.Source]
}

// sourceOfEvents reads the level of the memory hierarchy off the events: of a
// load the first that was not missed, else what is beyond the highest one that
// was; of a store the highest that was asked at all.
func sourceOfEvents(e Events, store bool) Source {
	const (
		l1  = EventL1DAccess | EventL1DRefill
		l2  = EventL2DAccess | EventL2DMiss
		llc = EventLLCAccess | EventLLCMiss
	)
	if store {
		switch {
		case e.Has(EventRemote):
			return SourceRemote
		case e&llc != 0:
			return SourceSystemCache
		case e&l2 != 0:
			return SourceL2
		case e&l1 != 0:
			return SourceL1
		}
		return SourceUnknown
	}
	switch {
	case e.Has(EventRemote):
		return SourceRemote
	case e&l1 == EventL1DAccess:
		return SourceL1
	case e.Has(EventRecentlyFetched):
		return SourceLineBuffer
	case e&l2 == EventL2DAccess:
		return SourceL2
	case e&llc == EventLLCAccess:
		return SourceSystemCache
	case e.Has(EventLLCMiss):
		return SourceMemory
	case e.Has(EventL2DMiss):
		return SourceBeyondL2
	case e.Has(EventL1DRefill):
		return SourceBeyondL1
	}
	return SourceUnknown
}
