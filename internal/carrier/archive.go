package carrier

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spgo-tools/spgo/pkg/binfmt"
)

const (
	archiveStart = "!<arch>\n"
	thinStart    = "!<thin>\n"
	memberHeader = 60
	memberEnd    = "`\n"
	// maxMemberName bounds a name in the table of long names.
	maxMemberName = 4096
)

// searchArchive searches the members of a library. Each has a header of text
// in front and starts at an even offset.
func (f *finder) searchArchive(file part) {
	var longNames part
	for at := int64(len(archiveStart)); at < file.size; {
		b, err := file.read("member header", at, min(memberHeader, file.size-at))
		if err == nil && len(b) < memberHeader {
			err = file.fail("member header", at, fmt.Sprintf("%d bytes", memberHeader), fmt.Sprint(len(b)), binfmt.ErrTruncated)
		}
		if err != nil {
			f.fail(err)
			return
		}
		name, digits := strings.TrimRight(string(b[:16]), " "), strings.TrimRight(string(b[48:58]), " ")
		size, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || size < 0 || string(b[58:]) != memberEnd {
			f.fail(file.fail("member header", at, "a size in decimal, and \"`\\n\"", fmt.Sprintf("%q", b[48:]), binfmt.ErrCorrupt))
			return
		}
		member := part{at: file.at + at + memberHeader, size: size}
		member.where = func() string { return "member " + shown(memberName(name, longNames)) }
		at += memberHeader + size + size&1
		if left := file.at + file.size - member.at; left < size {
			f.fail(member.fail("data", 0, fmt.Sprintf("%d bytes", size), fmt.Sprint(left), binfmt.ErrTruncated))
			member.size = left
		}
		member.r = io.NewSectionReader(file.r, member.at, member.size)
		switch {
		case name == "//":
			longNames = member
		case len(name) > 0 && name[0] == '/' && (len(name) == 1 || name[1] < '0' || name[1] > '9'):
			// A member of the linker: symbol tables.
		default:
			f.searchMember(member)
		}
	}
}

// searchMember searches a member: objects by their sections, others whole.
func (f *finder) searchMember(member part) {
	head, err := member.read("data", 0, min(member.size, headSize))
	if err != nil {
		f.fail(err)
		return
	}
	if objectKind(head) == notObject {
		f.scan(member)
		return
	}
	f.searchObject(head, member)
}

// memberName resolves the name of a member: it ends with a slash, or is in the
// table of long names at the decimal offset that follows a slash. A name that
// cannot be resolved stays as it is.
func memberName(name string, longNames part) string {
	digits, long := strings.CutPrefix(name, "/")
	if !long {
		return strings.TrimSuffix(name, "/")
	}
	offset, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || longNames.r == nil {
		return name
	}
	b := make([]byte, maxMemberName)
	n, err := longNames.r.ReadAt(b, offset)
	if err != nil && err != io.EOF {
		return name
	}
	end := bytes.IndexAny(b[:n], "\x00\n")
	if end <= 0 {
		return name
	}
	return strings.TrimSuffix(string(b[:end]), "/")
}
