package notes

import (
	"strings"
	"testing"

	"cortext/schema"
)

// TestFiles checks that a file counts once, whichever path names it.
func TestFiles(t *testing.T) {
	write := func(at, says string) string { return `t: write_file {"file_path":"` + at + `"} -> ok | ` + says }
	checkParts(t, []part{
		{"a path of Gemini CLI", "created 2 m2 x1: /home/dev/a.md", []string{"u: Do it", write("a.md", "Successfully created and wrote to new file: /home/dev/a.md.")}},
		{"and then the whole one", "created 2 m2 x2: /home/dev/w/a.md", []string{"u: Do it", write("w/a.md", "Successfully created and wrote to new file: /home/dev/w/a.md."), `t: replace {"file_path":"/home/dev/w/a.md"} -> ok | Successfully modified file: /home/dev/w/a.md (1 replacements).`}},
		{"another file's path in the output", "created 2 m2 x1: a.md", []string{"u: Do it", write("a.md", "Successfully created and wrote to new file: /home/dev/b.md.")}},
		{"below and whole", "created 2 m2 x2: /p/w/a.go", []string{"u: Do it", `t: Write {"file_path":"w/a.go"} -> ok | `, `t: Edit {"file_path":"/p/w/a.go"} -> ok | `}},
		{"whole and below", "created 2 m2 x2: /p/w/a.go", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, `t: Edit {"file_path":"./w/a.go"} -> ok | `}},
		{"of Windows", `created 2 m2 x2: C:\p\w\a.go`, []string{"u: Do it", `t: Write {"file_path":"C:\\p\\w\\a.go"} -> ok | `, `t: Edit {"file_path":"w/a.go"} -> ok | `}},
		{"a name alone", "modified 2 m2 x1: a.go", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, `t: Edit {"file_path":"a.go"} -> ok | `}},
		{"one of two", "modified 2 m2 x1: w/a.go", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, `t: Write {"file_path":"/q/w/a.go"} -> ok | `, `t: Edit {"file_path":"w/a.go"} -> ok | `}},
		{"written after it was changed", "modified 2 m2 x2: /p/a.go", []string{"u: Do it", `t: Edit {"file_path":"/p/a.go"} -> ok | `, `t: Write {"file_path":"/p/a.go"} -> ok | File created successfully at: /p/a.go`}},
		{"written after it was deleted", "created 2 m2 x3: /p/a.go", []string{"u: Do it", `t: Edit {"file_path":"/p/a.go"} -> ok | `, sh("rm /p/a.go", "0", ""), `t: Write {"file_path":"/p/a.go"} -> ok | `}},

		{"moved, and who minds", "deleted 2 m2 x2: /p/w/a.go", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, sh("mv w/a.go w/b.go 2>/dev/null || true", "0", "")}},
		{"to there", "created 2 m2 x1: w/b.go", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, sh("mv w/a.go w/b.go 2>/dev/null || true", "0", "")}},
		{"removed, then something", "deleted 2 m2 x2: /p/w/a.go", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, sh("rm -f w/a.go; ls", "0", "")}},
		{"removed with its folder", "deleted 2 m2 x2: /p/w/a.go", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, sh("rm -rf /p/w 2>/dev/null; ls", "0", "")}},
		{"removed where the command went", "deleted 2 m2 x2: /p/w/a.go", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, sh("cd /p/w && rm a.go", "0", "")}},
		{"removed and made again", "-deleted", []string{"u: Do it", `t: Write {"file_path":"/p/build/a.txt"} -> ok | `, sh("cd /p && rm -rf build && cmake -B build", "0", "")}},
		{"nor is it said to be there", "-created", []string{"u: Do it", `t: Write {"file_path":"/p/build/a.txt"} -> ok | `, sh("cd /p && rm -rf build && cmake -B build", "0", "")}},
		{"a folder that may be made again", "-deleted", []string{"u: Do it", `t: Write {"file_path":"/p/dist/a.js"} -> ok | `, sh("cd /p && rm -rf dist && npm run build", "0", "")}},
		{"written again by a program", "-deleted", []string{"u: Do it", `t: Write {"file_path":"/p/out.txt"} -> ok | `, sh("cd /p && rm -f out.txt && ./gen > out.txt", "0", "")}},
		{"a file, and then the tests", "deleted 2 m2 x2: /p/a.go", []string{"u: Do it", `t: Write {"file_path":"/p/a.go"} -> ok | `, sh("cd /p && rm -f a.go && go test ./...", "0", "")}},
		{"a folder, and then a commit", "deleted 2 m2 x2: /p/old/a.go", []string{"u: Do it", `t: Write {"file_path":"/p/old/a.go"} -> ok | `, sh("cd /p && rm -rf old && git add -A && git commit -qm old", "0", "")}},
		{"never known", "-deleted", []string{"u: Do it", sh("rm -f /tmp/x.log", "0", ""), sh("rm -rf node_modules && npm install", "0", ""), sh("rm -rf build", "0", "")}},
		{"not known, but it was there", "deleted 2 m2 x1: /p/x.log", []string{"u: Do it", sh("rm /p/x.log", "0", "")}},
		{"not known, and who minds", "-deleted", []string{"u: Do it", sh("rm -f b.go; ls", "0", ""), sh("mv c d || true", "0", "")}},
		{"not removed", "-deleted", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, sh("rm w/a.go; ls", "0", "rm: w/a.go: Permission denied")}},
		{"only perhaps removed", "-deleted", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, sh("test -f x && make || rm w/a.go", "0", "")}},

		{"removed, and the output says platform:", "deleted 2 m2 x2: /p/w/a.go", []string{"u: Do it", `t: Write {"file_path":"/p/w/a.go"} -> ok | `, sh("rm /p/w/a.go; npm test", "0", "platform: linux\nTests passed: 12")}},
		{"by a path that goes up", "deleted 2 m2 x2: /p/old.go", []string{"u: Do it", `t: Write {"file_path":"/p/old.go"} -> ok | `, sh("cd /p/w && rm ../old.go", "0", "")}},
		{"with a dot", "deleted 2 m2 x3: w/a.txt", []string{"u: Do it", sh("echo x > ./w/a.txt && sed -i s/x/y/ w/a.txt && rm w/a.txt", "0", "")}},
		{"read before, by another path", "modified 2 m2 x1: w/a.go", []string{"u: Do it", `t: Read {"file_path":"/p/w/a.go"} -> ok | `, sh("cat > w/a.go <<'EOF'\nx\nEOF", "0", "")}},
		{"copied away before", "modified 2 m2 x1: w/a.go", []string{"u: Do it", sh("cp w/a.go w/a.go.bak && echo x > w/a.go", "0", "")}},
		{"deleted, then added to", "created 2 m2 x2: /p/a.log", []string{"u: Do it", sh("rm /p/a.log && echo x >> /p/a.log", "0", "")}},
		{"copied into a folder that is known", "created 2 m2 x1: /p/doc/LICENSE", []string{"u: Do it", `t: Write {"file_path":"/p/doc/a.md"} -> ok | `, sh("cp /p/LICENSE /p/doc", "0", "")}},
		{"written by the shell", "created 2 m2 x1: w/a.go", []string{"u: Do it", sh("mkdir -p w\ncat > w/a.go <<'EOF'\npackage a\nEOF\ngo vet ./w", "0", "")}},
		{"written anew", "modified 2 m2 x1: /p/w/a.go", []string{"u: Do it", `t: Read {"file_path":"/p/w/a.go"} -> ok | `, sh("cat > /p/w/a.go <<'EOF'\nx\nEOF", "0", "")}},
		{"added to", "modified 2 m2 x1: .gitignore", []string{"u: Do it", sh("echo '*.o' >> .gitignore; git status", "0", "")}},
		{"changed in place", "modified 2 m2 x1: w/a.go", []string{"u: Do it", `t: Read {"file_path":"w/a.go"} -> ok | `, sh("sed -i 's/a/b/' w/a.go; ls", "0", "")}},
		{"changed in place once it was copied away", "modified 2 m2 x1: /etc/a.conf", []string{"u: Do it", sh("sudo cp /etc/a.conf /etc/a.conf.bak && sudo sed -i s/a/b/ /etc/a.conf", "0", "")}},
		{"made and removed", "-created", []string{"u: Do it", sh("echo a > /tmp/a.txt && make && rm -f /tmp/a.txt", "0", "")}},
		{"copied", "created 2 m2 x1: w/b.go", []string{"u: Do it", sh("cp w/a.go w/b.go && ls", "0", "")}},
		{"not written", "-created", []string{"u: Do it", sh("cat > w/a.go <<'EOF'\nx\nEOF\nls", "0", "bash: w/a.go: No such file or directory")}},
		{"what a program said is no work", "-created", []string{"u: Do it", sh("make > build.log && echo $x > $y", "0", "")}},
	})
}

// TestMayLeave: a call that commits leaves nothing of what it prints into the files that it adds, or
// into files whose names are known.
func TestMayLeave(t *testing.T) {
	for _, c := range []struct {
		command string
		may     bool
	}{
		{"git add a.go && git commit -qm a", false},
		{"printf x >a.go; git add a.go; git commit -m a", false},
		{"printf x >a.go && printf x >b.go && git add a.go && git commit -m a", false},
		{"for i in 1 2; do echo x > a-$i.go; git add a-$i.go; git commit -m $i; done", false},
		{"for i in 1 2; do echo x > a-$i.go; echo x > b-$i.go; git add a-$i.go; git commit -m $i; done", true},
		{"make a && git add a.go && git commit -m a", true},
		{"python3 gen.py > a.go; git add a.go; git commit -m a", true},
		{"git checkout a.go && git commit -am a", true},
	} {
		call := schema.Tool{Name: "Bash", Input: schema.Raw(`{"command":"` + c.command + `"}`), Success: new(true)}
		if got := MayLeave(call); got != c.may {
			t.Errorf("%s: %t", c.command, got)
		}
	}
}

// TestChanged: what a call changed is certain if it names it; otherwise it may have.
func TestChanged(t *testing.T) {
	for _, c := range []struct {
		command, changed string
		may              bool
	}{
		{"cat a.go", "", false},
		{"git add a.go && git commit -qm a", "", false},
		{"git -C b commit -qm a", "", false},
		{"git checkout a.go", "", true},
		{"make", "", true},
		{"python3 -c 'print(1)'", "", false},
		{"python3 -c 'open(1).write(2)'", "", true},
		{"node -e 'fs.writeFileSync(1, 2)'", "", true},
		{"sed -i s/a/b/ a.go", "s/a/b/ a.go", true},
		{"cd /b && echo x >a.go", "/b/a.go", true},
		{"cd b && echo x >a.go", "", true},
		{"git mv a.go b.go", "a.go b.go a.go", true},
	} {
		call := schema.Tool{Name: "Bash", Input: schema.Raw(`{"command":"` + c.command + `"}`), Success: new(true)}
		if got := strings.Join(Changed(call), " "); got != c.changed || MayChange(call) != c.may {
			t.Errorf("%s: %q, %t", c.command, got, MayChange(call))
		}
	}
}
