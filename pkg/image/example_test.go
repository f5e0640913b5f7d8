package image_test

import (
	"fmt"

	"github.com/spgo-tools/spgo/pkg/image"
)

func ExampleGUIDFromBuildID() {
	id := []byte{0xe9, 0x2f, 0x46, 0xd2, 0x10, 0x8b, 0x8d, 0xf2}
	fmt.Println(image.GUIDFromBuildID(id))
	// Output: {D2462FE9-8B10-F28D-0000-000000000000}
}

// A trace names an image and its build id; the finder looks where tools keep
// images and says why a file of that name is not the one.
func ExampleFinder() {
	finder := image.Finder{Dirs: []string{"no-such-folder"}}
	found, err := finder.Find(image.Want{Name: "/usr/lib/libm.so.6", BuildID: []byte{0xe9, 0x2f, 0x46, 0xd2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer found.File.Close()
	rva, ok := found.File.RVA(0x1040)
	fmt.Println(found.Path, rva, ok)
	// Output: /usr/lib/libm.so.6: no image of this name or identity found
}
