package claude

import (
	"cortext/inject"
	"cortext/schema"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestTmp(t *testing.T) {
	files, _ := filepath.Glob(os.Getenv("G"))
	for _, p := range files {
		f, _ := os.Open(p)
		st, _ := f.Stat()
		if !detect(f) {
			fmt.Println(p, "NOT DETECTED")
			continue
		}
		tr, err := open(f, st.Size(), filepath.Base(p), nil)
		if err != nil {
			t.Fatal(err)
		}
		roles := map[string]int{}
		tools := 0
		subs := map[string]int{}
		lin := 0
		prev := ""
		var out []byte
		err = tr.Each(func(sub string, b inject.Batch) error {
			if sub != "" {
				subs[sub] += len(b.Messages)
				return nil
			}
			for _, m := range b.Messages {
				roles[string(m.Role)]++
				if m.ParentID != prev {
					lin++
					if os.Getenv("V") != "" {
						fmt.Println("NONLIN", m.ID, m.ParentID, prev)
					}
				}
				prev = m.ID
				out = schema.AppendMessage(out, &m)
			}
			tools += len(b.Tools)
			for _, x := range b.Tools {
				out = schema.AppendTool(out, &x)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if os.Getenv("D") != "" {
			os.Stdout.Write(out)
		}
		fmt.Println(filepath.Base(p), tr.NativeID, tr.Parent, roles, "tools", tools, "subs", subs, "nonlin", lin, "msgs", tr.Messages, tr.Command, tr.Arguments, tr.Title, tr.Model, tr.Version, tr.Permission, tr.Branch, tr.First, tr.Last, tr.Calls, len(tr.Tools))
		for _, w := range tr.Warnings {
			fmt.Println("   W", w)
		}
	}
}
