package ntfs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

// mount is the volume in a partition once it was asked for.
type mount struct {
	once   sync.Once
	volume *Volume
	err    error
}

func (d *disk) mount(p *partition) (*Volume, error) {
	p.once.Do(func() { p.volume, p.err = openVolume(d, p) })
	return p.volume, p.err
}

// choose returns the volume in the partition with the number of spec. Without
// a number it is the only NTFS partition, or the only one with spec.Path.
func (d *disk) choose(spec Spec) (*Volume, error) {
	var candidates []*partition
	for _, p := range d.partitions {
		if p.holds == fsNTFS && (spec.Partition == 0 || spec.Partition == p.number) {
			candidates = append(candidates, p)
		}
	}
	if len(candidates) == 0 {
		return nil, d.noVolume(spec)
	}
	if len(candidates) == 1 {
		v, err := d.mount(candidates[0])
		return v, binfmt.InFile(partitionError(candidates[0], err), d.name)
	}
	var having []*Volume
	var missing []string
	kind := error(fs.ErrNotExist)
	for _, p := range candidates {
		v, err := d.mount(p)
		if err == nil {
			if _, err = v.find(spec.Path); err == nil {
				having = append(having, v)
				continue
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			kind = err
		}
		missing = append(missing, d.describe(p)+": "+reason(err))
	}
	switch len(having) {
	case 1:
		return having[0], nil
	case 0:
		return nil, &binfmt.Error{File: d.name, Part: spec.Path, Offset: -1, Want: "a partition with this path",
			Got: "none of " + strings.Join(missing, "; "), Err: defectKind(kind)}
	}
	var names []string
	for _, v := range having {
		names = append(names, d.describe(v.part))
	}
	spec.Partition = having[0].part.number
	return nil, &binfmt.Error{File: d.name, Part: spec.Path, Offset: -1, Want: fmt.Sprintf("one partition with this path, or the choice of one as in %s", spec),
		Got: strings.Join(names, "; "), Err: fs.ErrInvalid}
}

// partitionError says which partition cannot be opened.
func partitionError(p *partition, err error) error {
	var e *binfmt.Error
	if !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Part = fmt.Sprintf("partition %d: %s", p.number, e.Part)
	return &named
}

// reason is an error without its kind.
func reason(err error) string {
	var e *binfmt.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	short := *e
	if short.Got != "" {
		short.Err = nil
	}
	return short.Error()
}

// defectKind is the kind of a defect, to be wrapped again.
func defectKind(err error) error {
	var e *binfmt.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// noVolume says what there is instead of the partition asked for.
func (d *disk) noVolume(spec Spec) error {
	want, kind := "an NTFS partition", binfmt.ErrUnsupported
	if spec.Partition > 0 {
		want, kind = fmt.Sprintf("NTFS in partition %d", spec.Partition), fs.ErrNotExist
	}
	var list []string
	for _, p := range d.partitions {
		list = append(list, d.describe(p))
		if p.number == spec.Partition {
			kind = binfmt.ErrUnsupported // there, and of another kind
		}
	}
	got := "no partitions"
	if len(list) > 0 {
		got = strings.Join(list, "; ")
	}
	return &binfmt.Error{File: d.name, Part: "partitions", Offset: -1, Want: want, Got: got, Err: kind}
}

// describe shows a partition with its number, size, contents and label.
func (d *disk) describe(p *partition) string {
	text := fmt.Sprintf("partition %d (%s, %s", p.number, sizeText(p.size), p.holds)
	if p.holds == fsNTFS {
		if v, err := d.mount(p); err == nil && v.label != "" {
			text += fmt.Sprintf(", label %q", v.label)
		}
	}
	if p.name != "" {
		text += fmt.Sprintf(", name %q", p.name)
	}
	return text + ")"
}

// sizeText shows a size in the unit that suits it.
func sizeText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") + " " + units[i]
}
