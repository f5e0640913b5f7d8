package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spgo-tools/spgo/internal/diag"
	"github.com/spgo-tools/spgo/internal/ingest"
	"github.com/spgo-tools/spgo/pkg/binfmt"
	"github.com/spgo-tools/spgo/pkg/perfdata"
	"github.com/spgo-tools/spgo/pkg/spe"
)

// SPEPackets are the packets of the Arm SPE data of a recording, as they are
// stored: one AUXTRACE record after the other. They are decoded while they are
// printed.
type SPEPackets struct {
	File      string
	Recording *perfdata.File
}

// auxtrace is an AUXTRACE record with Arm SPE data.
type auxtrace struct {
	perfdata.Auxtrace
	at   perfdata.Extent
	midr spe.MIDR
}

// each calls f for each AUXTRACE record. Where the recording is damaged, it
// says so at its end.
func (p *SPEPackets) each(f func(*auxtrace, io.Reader) error) error {
	rs := p.Recording.Records()
	defer rs.Close()
	info := perfdata.AuxtraceInfo{Kind: perfdata.AuxArmSPE}
	found := false
	other := "It was recorded with another event."
	for rs.Next() {
		switch r := rs.Record(); r.Type {
		case perfdata.TypeAuxtraceInfo:
			if _, err := p.Recording.Decode(r, &info); err != nil {
				return err
			}
			if info.Kind != perfdata.AuxArmSPE {
				other = fmt.Sprintf("Its hardware trace is %v.", info.Kind)
			}
		case perfdata.TypeAuxtrace:
			a := auxtrace{at: r.Trail}
			if _, err := p.Recording.Decode(r, &a.Auxtrace); err != nil {
				return err
			}
			if info.Kind != perfdata.AuxArmSPE {
				continue
			}
			found = true
			a.midr = ingest.SPEProcessor(p.Recording, info.Priv, a.CPU)
			if err := f(&a, p.Recording.Section(r.Trail)); err != nil {
				return err
			}
		}
	}
	errs := []error{binfmt.InFile(rs.Err(), p.File)}
	for _, stop := range rs.Index().Stops {
		errs = append(errs, binfmt.InFile(stop, p.File))
	}
	if !found {
		errs = append(errs, diag.New(diag.NothingUsable, "the recording has no Arm SPE data").In(p.File).
			Because("%s", other).Do("Record with perf record -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u."))
	}
	return errors.Join(errs...)
}

// WriteText prints the text form of each AUXTRACE record below a line about it.
func (p *SPEPackets) WriteText(w io.Writer) error {
	return p.each(func(a *auxtrace, r io.Reader) error {
		if _, err := fmt.Fprintf(w, "AUXTRACE at %#x: %d bytes of Arm SPE, offset %#x, index %d, cpu %d, tid %d\n",
			a.at.Offset, a.at.Size, a.Offset, a.Index, a.CPU, a.TID); err != nil {
			return err
		}
		return spe.WriteText(w, r, a.Offset, a.midr)
	})
}

// WriteJSONMembers prints the same as JSON.
func (p *SPEPackets) WriteJSONMembers(w io.Writer) error {
	name, err := json.Marshal(p.File)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n \"file\": %s,\n \"auxtrace\": [", name)
	separator := ""
	err = p.each(func(a *auxtrace, r io.Reader) error {
		fmt.Fprintf(w, "%s\n  {\"at\": %d, \"bytes\": %d, \"offset\": %d, \"index\": %d, \"cpu\": %d, \"tid\": %d, \"packets\": [",
			separator, a.at.Offset, a.at.Size, a.Offset, a.Index, a.CPU, a.TID)
		separator = ","
		lines := &packetLines{w: w}
		if err := spe.WriteText(lines, r, a.Offset, a.midr); err != nil {
			return err
		}
		_, err := io.WriteString(w, "]}")
		return err
	})
	_, closing := io.WriteString(w, "\n ]")
	return errors.Join(err, closing)
}

// packetLines turns lines of the text form into members of an array.
type packetLines struct {
	w         io.Writer
	rest      string
	separator string
}

func (l *packetLines) Write(b []byte) (int, error) {
	text := l.rest + string(b)
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok {
			l.rest = text
			return len(b), nil
		}
		text = rest
		// Bytes are separated by single blanks, and from the words by two.
		offset, line, _ := strings.Cut(line, ":  ")
		const bytesWidth = 16*3 - 1
		member, err := json.Marshal(struct {
			Offset string `json:"offset"`
			Bytes  string `json:"bytes"`
			Text   string `json:"text"`
		}{"0x" + strings.TrimLeft(offset[:len(offset)-1], "0") + offset[len(offset)-1:],
			strings.ReplaceAll(strings.TrimRight(line[:bytesWidth], " "), " ", ""), strings.TrimLeft(line[bytesWidth:], " ")})
		if err != nil {
			return 0, err
		}
		if _, err := fmt.Fprintf(l.w, "%s\n   %s", l.separator, member); err != nil {
			return 0, err
		}
		l.separator = ","
	}
}
