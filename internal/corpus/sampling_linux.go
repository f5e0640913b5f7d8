package corpus

import "github.com/elastic/go-perf"

// CanSample says whether the kernel lets this process sample its children.
func CanSample() bool {
	a := &perf.Attr{Type: perf.SoftwareEvent, Config: 1, Options: perf.Options{Disabled: true, ExcludeKernel: true}}
	a.SetSamplePeriod(1_000_000)
	ev, err := perf.Open(a, perf.CallingThread, perf.AnyCPU, nil)
	if err != nil {
		return false
	}
	ev.Close()
	return true
}
