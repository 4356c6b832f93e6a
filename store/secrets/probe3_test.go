package secrets

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestProbe3(t *testing.T) {
	r := New()
	total := Counts{}
	var bytes int64
	for _, root := range filepath.SplitList(os.Getenv("PROBE")) {
		filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if fi, _ := d.Info(); fi.Size() > 4<<20 {
				return nil
			}
			b, _ := os.ReadFile(p)
			bytes += int64(len(b))
			s := string(b)
			sp, err := r.spans(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range sp {
				id := r.rules[x.rule].ID
				total[id]++
				if total[id] > 4000 {
					continue
				}
				fmt.Printf("%s %s %q\n", id, p, s[max(0, x.start-50):x.start]+"⟦"+s[x.start:min(x.end, x.start+100)]+"⟧"+s[x.end:min(len(s), x.end+20)])
			}
			return nil
		})
	}
	fmt.Println(bytes, total)
}
