package notes

import (
	"strings"
	"testing"
)

// TestShell lists, for shell command lines, their core, in brackets whether they are
// a chain, piped, and write, and their effects on paths.
func TestShell(t *testing.T) {
	for source, want := range map[string]string{
		"ls -la && cat a | head":                      " [piped]",
		"cd x && go test ./... 2>&1 | tail -5":        "go test ./... [piped]",
		"FOO=1 BAR=\"a b\" sudo make -j2 all":         "make -j2 all [chain]",
		"rm a 'b c' \"d\" && git rm -f e && unlink f": "rm a b c d && git rm -f e && unlink f [chain] -a -b c -d ? -e -f",
		"rm -- -a":                "rm -- -a [chain] --a",
		"git rm --cached a; rm b": "git rm --cached a && rm b [] -b",
		"git rm --cached a && mv -t d a && rm -n x": "git rm --cached a && mv -t d a && rm -n x [chain]",
		"cd x && rm a":   "rm a [chain]",
		"rm *.o":         "rm *.o [chain]",
		"rm $(ls)":       "rm $(ls) [chain]",
		"rm \"$HOME/a\"": "rm \"$HOME/a\" [chain]",
		"rm a > log":     "rm a [chain writes] -a",
		"rm a \\\n b":    "rm a b [chain] -a -b",
		"mv a b && mv c.go d/ && mv e f g && mv h.go dir": "mv a b && mv c.go d/ && mv e f g && mv h.go dir [chain] -a +b -c.go +d/c.go -e +g/e -f +g/f -h.go",
		"mv a":                                  "mv a [chain]",
		"mv a .":                                "mv a . [chain] -a",
		"cat > a <<'EOF'\nrm x && y\nEOF\nmake": "make [writes] +a",
		"cat <<EOF\nrm x":                       " [chain]",
		"echo a >> b; (make) & wait":            "make [writes] *b",
		"for f in a b; do rm \"$f\"; done":      "rm \"$f\" []",
		"find . -name x -delete":                "find . -name x -delete [chain]",
		"find . -name x | xargs grep y":         " [piped]",
		"find . | xargs -n1 rm":                 "xargs -n1 rm [piped]",
		"sed -n 1p a && sed -i s/a/b/ a":        "sed -i s/a/b/ a [chain] ? *s/a/b/ ? *a",
		"sed -i.bak -e s/a/b/ -e 's/c*/d/' a b; sed -i '' s/a/b/ c && sed -Ei s/a/b/ \"d e\" && sed -n -i p $f":                                                          "sed -i.bak -e s/a/b/ -e s/c*/d/ a b && sed -i s/a/b/ c && sed -Ei s/a/b/ d e && sed -n -i p $f [] ? *s/a/b/ ? *s/c*/d/ ? *a ? *b ? *. ? *s/a/b/ ? *c ? *s/a/b/ ? *d e ? *p",
		"perl -pi -e 's/a/b/' c && perl -i -pe s/a/b/ d && perl -0pi -e s/a/b/ e && perl -ne 1 x && sed --in-place=.o p f":                                               "perl -pi -e s/a/b/ c && perl -i -pe s/a/b/ d && perl -0pi -e s/a/b/ e && perl -ne 1 x && sed --in-place=.o p f [chain] ? *s/a/b/ ? *c ? *s/a/b/ ? *d ? *s/a/b/ ? *e ? *p ? *f",
		"cp a b && cp -r c d && cp e f g && cp -p h dir/":                                                                                                                "cp a b && cp -r c d && cp e f g && cp -p h dir/ [chain] +b +g/e +g/f +dir/h",
		"cd /p && cat > 'a b' <<E && echo \"$x\" >> c\nx\nE\nprintf x >$d; echo 2>/dev/stderr >\"e\"f; ls > g":                                                           " [writes] +/p/a b */p/c +/p/ef",
		"echo 'a' | sudo tee /b >/dev/null && printf x | tee -a c d; make | tee e; x || echo y | tee f; echo a | sed s/a/b/ | tee g; echo $x | tee \"$y\"":               "tee /b && tee -a c d && make && tee e && x && tee f && tee g && tee \"$y\" [piped]",
		"sed -i '.bak' 's/a/b/' a b; perl -pi -E 's/a/b/' c; perl -i -p fix.pl d; perl -I lib -pi -e 's/a/b/' e; perl -0777pi -e s/a/b/ f":                               "sed -i .bak s/a/b/ a b && perl -pi -E s/a/b/ c && perl -i -p fix.pl d && perl -I lib -pi -e s/a/b/ e && perl -0777pi -e s/a/b/ f [] ? *.bak ? *s/a/b/ ? *a ? *b ? *s/a/b/ ? *c ? *fix.pl ? *d ? *lib ? *s/a/b/ ? *e ? *s/a/b/ ? *f",
		"sed -i -e's/a/b/' a; sed -i --expression='s/a/b/' b; sed -i \"s/a/\\n$x/\" c; sed -i s/a/b/ *.go d":                                                             "sed -i -es/a/b/ a && sed -i --expression=s/a/b/ b && sed -i \"s/a/\\n$x/\" c && sed -i s/a/b/ *.go d [] ? *a ? *b ? *c ? *s/a/b/ ? *d",
		"echo x > \"/tmp/a\"/b; echo x > My\\ File; echo x > out/\"my f\"; echo a > f 2> g; cat a 2>errs; echo `date > x; rm y` > z; FOO=1 cat > h; > i; echo x >&- foo": " [writes] +/tmp/a/b +out/my f +f +z +h +i",
		"case \"$1\" in\n clean) rm a;;\n *) echo b;;\nesac":                                                                                                             "rm a []",
		"if false; then if true; then echo; fi; rm a; fi; while x; do y; done; f() { rm b; }; { rm c; }":                                                                 "rm a && x && y && rm b && rm c [] -c",
		"make 2>/dev/null && rm a || true; grep -q T b && sed -i s/T// b; [ -f n ] && echo x > m; cd /p && rm d; ls":                                                     "make && rm a && sed -i s/T// b && rm d [writes] -/p/d",
		"set -e; make; test -f a && rm b; ls": "make && rm b []",
		"echo hi; exit 0; echo x > a":         " [writes]",
		"cat > s.sh <<'EOF'\nf() {\n  cat <<-EOF\n\thi\n  EOF\n  rm a\n}\nEOF\nchmod +x s.sh": "chmod +x s.sh [writes] +s.sh",
		"cat > x <<A && cat > y <<A\n1\nA\nrm a\nA":                                           " [chain writes] +x +y",
		"M=$(cat <<'EOF'\n1) do\nrm a\nEOF\n)\ngit commit -m \"$M\"":                          "git commit -m \"$M\" []",
		"(( x = 1 << 4 ))\necho y > a":                                                        " [writes] +a",
		"jq .a=1 p.json > t.json && mv t.json p.json && make > u && mv u v":                   "mv t.json p.json && make && mv u v [chain writes] *p.json +v",
		"cd /p/w && rm ../old ./b && cd .. && rm c; pushd /q && rm d && popd && rm e":         "rm ../old ./b && rm c && rm d && rm e [] -/p/old -/p/w/b -/p/c -/q/d",
		"(cd /p && make); rm a; (cd /q; rm b)":                                                "make && rm a && rm b [] -a",
		"cd /p && rm -rf logs && mkdir env && mv tree out.txt":                                "rm -rf logs && mkdir env && mv tree out.txt [chain] ? -/p/logs -/p/tree +/p/out.txt",
		"cp a.conf /etc/conf.d && mv LICENSE .github":                                         "cp a.conf /etc/conf.d && mv LICENSE .github [chain] -LICENSE",
		"cat <<< 'a' > b\nrm c":                                                               "rm c [writes] +b -c",
		"if x; then echo a > b; fi; echo c | cat > d; x || echo e > f":                        "x && x [piped writes]",
		"git -C x -c a=b log --oneline && git --no-pager diff":                                " [chain]",
		"git branch -a && git branch new && git tag && git":                                   "git branch new [chain]",
		"git stash && git stash list && git remote -v":                                        "git stash [chain]",
		"gh pr view 3 && gh pr create && gh api x && gh api -X POST y":                        "gh pr create && gh api -X POST y [chain]",
		"curl -s x && curl -sX POST x && curl -o a x":                                         "curl -sX POST x && curl -o a x [chain]",
		"ssh h 'ls /x | head' && ssh h 'rm x' && ssh h":                                       "ssh h rm x && ssh h [chain]",
		"pacman -Qs x && pacman -S x && npm --version":                                        "pacman -S x [chain]",
		"command -v jq && systemctl --user status x":                                          " [chain]",
		"command make # and so on":                                                            "make [chain]",
		"python3 -c 'import x' && bun -e \"f()\" && node -e 'a()\nb()' && sh -c make":         "node -e a() b() && sh -c make [chain]",
		"make &> log":                             "make [chain writes]",
		"2>/dev/null make 3>&1":                   "make [chain]",
		"echo \"$(cat <<'E'\n)\nE\n)\"; rm a":     "rm a [] -a",
		"'unclosed":                               "unclosed []",
		"Get-ChildItem x; Remove-Item y":          "Remove-Item y []",
		"mv a b 2>/dev/null || true; rm c":        "mv a b && rm c [] -a +b -c",
		"if [ -f a ]; then rm a; fi; rm b":        "rm a && rm b [] -b",
		"make || rm a && rm b; rm c | cat":        "make && rm a && rm b && rm c [piped]",
		"(rm a; rm b) && rm c\nrm d & rm e":       "rm a && rm b && rm c && rm d && rm e [] -c -e",
		"cd /p/ && rm x/a ./b && cd c && mv /d e": "rm x/a ./b && mv /d e [chain] -/p/x/a -/p/b -/d +/p/c/e",
		"cd $HOME && rm a":                        "rm a [chain]",
		"rm a\n":                                  "rm a [chain] -a",
		"":                                        " [chain]",
	} {
		s := parse(source)
		got := s.changes() + " ["
		for _, f := range []struct {
			name string
			is   bool
		}{{"chain", s.sequential}, {"piped", s.piped}, {"writes", s.writes}} {
			if f.is {
				got += f.name + " "
			}
		}
		got = strings.TrimRight(got, " ") + "]"
		for _, d := range s.effects() {
			if d.onlyKnown {
				got += " ?"
			}
			got += map[string]string{Deleted: " -", written: " +", Modified: " *"}[d.action] + d.path
		}
		if got != want {
			t.Errorf("%q:\n got %q\nwant %q", source, got, want)
		}
	}
}

// TestRuns checks that a later run of a program on the same file replaces the earlier
// one.
func TestRuns(t *testing.T) {
	for _, tc := range []struct {
		first, then string
		again       bool
	}{
		{"curl -L http://a/x.svg -o ~/icons/x.svg", "curl -fL 'http://b/y.svg' -o ~/icons/x.svg", true},
		{"chmod +x \"s/run.ts\" && bun \"s/run.ts\"", "bun s/run.ts 2>&1 | tail", true},
		{"go test ./a -run X", "go test ./a", false}, {"go test -run X ./a", "go test ./a", true}, {"go build ./...", "go test ./...", false},
		{"git add a.go && git push", "git add b.go && git push", false}, {"git add a.go", "git add b/ a.go", false},
		{"gh pr comment 1 -b 'Done in a.go'", "gh pr comment 2 -b 'See a.go'", false}, {"cp a.txt d/", "cp b.txt d/", false}, {"make", "make -s", false},
	} {
		s := notesOf(historyOf("u: Do it", sh(tc.first, "0", ""), sh(tc.then, "0", "")))
		if again := len(s.Commands) == 1; again != tc.again {
			t.Errorf("%q, %q: again is %v", tc.first, tc.then, again)
		}
	}
}

// TestResolvesCommand checks which later success resolves an earlier failure.
func TestResolvesCommand(t *testing.T) {
	for _, tc := range []struct {
		success, failure string
		want             bool
	}{
		{"make", "make", true}, {"make all", "make", false}, {"make", "make all", false}, {"git push -u origin x", "git push", true}, {"git push", "git pull --rebase && git push", true},
		{"git commit -m b", "git add a && git commit -m a", true}, {"git commit -m b", "git merge origin/main", true}, {"git status", "git push", false}, {"git push", "git commit -m a", true},
		{"go test ./...", "go test ./a", true}, {"go test ./a", "go test ./...", false}, {"go test ./a -run X", "go test ./a", false}, {"go test -race ./a", "go test ./a -run X -v", true},
		{"mise run test", "go test ./a -run X", true}, {"npm test", "npm run test -- a", true}, {"npm run build", "npm run test", false}, {"cargo build", "", false}, {"", "make", false},
		{"mix test test/a.exs", "mix test test/b.exs", false}, {"curl a", "curl b", false}, {"go build ./... && go test ./...", "go test ./b", true},
		{"go test -c ./a -o x", "go build ./a", true}, {"npm test", "npm run build", false}, {"pip install --user a", "pip install a b", true}, {"go test ./a ./b", "go test ./b ./c", false},
	} {
		if got := resolvesCommand(tc.success, tc.failure); got != tc.want {
			t.Errorf("%q resolves %q: %v", tc.success, tc.failure, got)
		}
	}
}
