package perfdata

// section is a header section to be written.
type section struct {
	id   Feature
	data []byte
}

// sections encodes all features that are not empty, ascending by number.
func (w *Writer) sections() []section {
	var list []section
	fs := w.opts.Features
	add := func(id Feature, used bool, encode func(e *encoder)) {
		if used {
			e := newEncoder(w.opts.BigEndian)
			encode(e)
			list = append(list, section{id, e.b})
		}
	}
	text := func(id Feature, s string) { add(id, s != "", func(e *encoder) { e.str(s) }) }

	add(FeatureBuildID, len(fs.BuildIDs) > 0, func(e *encoder) {
		for _, b := range fs.BuildIDs {
			e.buildID(b)
		}
	})
	text(FeatureHostname, fs.Hostname)
	text(FeatureOSRelease, fs.OSRelease)
	text(FeatureVersion, fs.Version)
	text(FeatureArch, fs.Arch)
	add(FeatureNRCPUs, fs.CPUsAvailable != 0, func(e *encoder) { e.u32(fs.CPUsAvailable); e.u32(fs.CPUsOnline) })
	text(FeatureCPUDesc, fs.CPUDesc)
	text(FeatureCPUID, fs.CPUID)
	add(FeatureTotalMem, fs.TotalMem != 0, func(e *encoder) { e.u64(fs.TotalMem) })
	add(FeatureCmdLine, len(fs.CmdLine) > 0, func(e *encoder) {
		e.u32(uint32(len(fs.CmdLine)))
		for _, s := range fs.CmdLine {
			e.str(s)
		}
	})
	named, branches := false, false
	for _, a := range w.opts.Attrs {
		named = named || a.Name != ""
		branches = branches || a.SampleType&SampleBranchStack != 0
	}
	add(FeatureEventDesc, named, func(e *encoder) { e.eventDesc(w.opts.Attrs, w.attrSize()) })
	add(FeatureBranchStack, branches, func(e *encoder) {})
	add(FeaturePMUMappings, len(fs.PMUs) > 0, func(e *encoder) {
		e.u32(uint32(len(fs.PMUs)))
		for _, p := range fs.PMUs {
			e.u32(p.Type)
			e.str(p.Name)
		}
	})
	add(FeatureGroupDesc, len(fs.Groups) > 0, func(e *encoder) {
		e.u32(uint32(len(fs.Groups)))
		for _, g := range fs.Groups {
			e.str(g.Name)
			e.u32(g.Leader)
			e.u32(g.Members)
		}
	})
	add(FeatureSampleTime, fs.LastSample != 0, func(e *encoder) { e.u64(fs.FirstSample); e.u64(fs.LastSample) })
	add(FeatureClockID, fs.ClockResolution != 0, func(e *encoder) { e.u64(fs.ClockResolution) })
	add(FeatureDirFormat, fs.DirFormat != 0, func(e *encoder) { e.u64(fs.DirFormat) })
	comp := fs.Compression
	if comp.Type == 0 && w.packer != nil {
		comp = Compression{Type: 1, Level: 1, Ratio: 1, MmapLen: packMmapLen}
	}
	add(FeatureCompressed, comp.Type != 0, func(e *encoder) {
		e.u32(1)
		e.u32(comp.Type)
		e.u32(comp.Level)
		e.u32(comp.Ratio)
		e.u32(comp.MmapLen)
	})
	add(FeatureCPUPMUCaps, len(fs.CPUCaps) > 0, func(e *encoder) { e.caps(fs.CPUCaps) })
	add(FeatureClockData, fs.ClockData != ClockData{}, func(e *encoder) {
		e.u32(1)
		e.u32(fs.ClockData.ClockID)
		e.u64(fs.ClockData.WallClock)
		e.u64(fs.ClockData.Clock)
	})
	add(FeaturePMUCaps, len(fs.PMUCaps) > 0, func(e *encoder) {
		e.u32(uint32(len(fs.PMUCaps)))
		for _, p := range fs.PMUCaps {
			e.caps(p.Caps)
			e.str(p.PMU)
		}
	})
	add(FeatureEMachine, fs.EMachine != 0, func(e *encoder) { e.u32(fs.EMachine); e.u32(fs.EFlags) })
	add(FeatureCacheLine, fs.CacheLine != 0, func(e *encoder) { e.u32(fs.CacheLine) })
	add(FeatureMetaInfo, len(fs.Meta) > 0, func(e *encoder) {
		for _, m := range fs.Meta {
			e.bytes(append([]byte(m.Name), 0))
			e.bytes(append([]byte(m.Value), 0))
		}
	})
	return list
}

func (e *encoder) caps(caps []Cap) {
	e.u32(uint32(len(caps)))
	for _, c := range caps {
		e.str(c.Name)
		e.str(c.Value)
	}
}

// eventDesc appends the names and ids of the events.
func (e *encoder) eventDesc(attrs []*Attr, size uint32) {
	e.u32(uint32(len(attrs)))
	e.u32(size)
	for _, a := range attrs {
		e.attr(a, size)
		e.u32(uint32(len(a.IDs)))
		e.str(a.Name)
		e.u64s(a.IDs)
	}
}
