package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// The repository's own pages have names in capitals (FORMAT.md); names such as
	// brainstorm.md belong to users' files. Headings may follow.
	citation = regexp.MustCompile(`([\w./-]*\b[A-Z]{2,}\.md)\b((?:, (?:section [0-9]+|"[^"]+"))*)`)
	place    = regexp.MustCompile(`section ([0-9]+)|"([^"]+)"`)

	// A link from a page to a file.
	link = regexp.MustCompile(`\]\(([^):#]+)\)`)

	// A path in the repository, as the pages in .github write it.
	named = regexp.MustCompile("`((?:cmd|inject|resume|schema|scripts|store|testdata|\\.ci|\\.github)/[\\w./*-]+|\\.[\\w-]+\\.yml)`")

	// Citations by something other than a file name.
	vague = regexp.MustCompile(`\bFACTS\b(?:[^.]|\.[^m]|$)|\b[A-Z]{2,},? sections? [0-9]|\bseed [0-9]|\bhouse/`)

	// What a page can be cited by: a numbered heading, or bold text that begins a
	// paragraph.
	heading = regexp.MustCompile(`(?m)^(?:#+ (?:([0-9]+)\. )?(.+)|\*\*([^*]+?)\.?\*\*.*)$`)
)

// TestCitations: everything that a comment or page cites is in the repository.
func TestCitations(t *testing.T) {
	const root = "../.."
	pages := map[string][]string{} // paths from the root, by name
	texts := map[string][]string{} // text with citations, by file
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch path, _ := filepath.Rel(root, file); {
		case err != nil:
			return err
		case d.IsDir() && path != "." && path != ".github" && (d.Name()[0] == '.' || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir():
		case strings.HasSuffix(path, ".go"):
			texts[path] = comments(t, file)
		case slices.Contains([]string{".md", ".sh", ".js", ".json"}, filepath.Ext(path)):
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			texts[path] = []string{strings.ReplaceAll(string(text), `\"`, `"`)}
			pages[d.Name()] = append(pages[d.Name()], path)
		}
		return nil
	})
	if err != nil || len(pages["FACTS.md"]) < 3 {
		t.Fatalf("pages %v, %v", pages, err)
	}
	for path, list := range texts {
		for _, text := range list {
			for _, s := range vague.FindAllString(text, -1) {
				t.Errorf("%s cites %q: name a page of the repository, or the reason itself", path, s)
			}
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				if _, err := os.Stat(filepath.Join(root, filepath.Dir(path), m[1])); err != nil && filepath.Ext(path) == ".md" {
					t.Errorf("%s links to what is not there: %v", path, err)
				}
			}
			for _, m := range named.FindAllStringSubmatch(text, -1) {
				if files, err := filepath.Glob(filepath.Join(root, m[1])); len(files) == 0 && filepath.Dir(path) == ".github" {
					t.Errorf("%s names %s, which is not there (%v)", path, m[1], err)
				}
			}
			for _, m := range citation.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) {
				page := resolve(root, path, m[1], pages[filepath.Base(m[1])])
				if page == "" {
					t.Errorf("%s cites %s: there is no such page, or it could be one of several", path, m[1])
					continue
				}
				for _, p := range place.FindAllStringSubmatch(m[2], -1) {
					if !slices.Contains(headings(t, page), p[1]+p[2]) {
						t.Errorf("%s cites %s in %s: there is no such heading", path, p[0], page)
					}
				}
			}
		}
	}
}

// TestArchitecture: the page names every package, except packages inside an adapter.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("../../.github/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, "cortext/")
		adapter := regexp.MustCompile(`^inject/\w+/\w+$`).MatchString(path)
		if !adapter && !strings.HasPrefix(path, "scripts/") && !strings.Contains(string(page), "`"+path+"`") {
			t.Errorf(".github/ARCHITECTURE.md does not name the package %s", path)
		}
	}
}

// comments returns the comments of a Go file.
func comments(t *testing.T, file string) (list []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Comments {
		list = append(list, c.Text())
	}
	return list
}

// resolve finds the page that a file refers to: in its own folder or one above, else the
// only page of that name.
func resolve(root, from, name string, named []string) string {
	for dir := filepath.Dir(from); ; dir = filepath.Dir(dir) {
		page := filepath.Join(root, dir, name)
		if _, err := os.Stat(page); err == nil {
			return page
		}
		if dir == "." {
			break
		}
	}
	if len(named) == 1 && name == filepath.Base(name) {
		return filepath.Join(root, named[0])
	}
	return ""
}

// headings returns what a page can be cited by: numbers and words.
func headings(t *testing.T, page string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1], m[2]+m[3])
	}
	return list
}

// TestNotRun: scripts/check.sh runs those tests with the real transcripts that say NOT RUN
// without them. A test that uses them and does not say so would never run there.
func TestNotRun(t *testing.T) {
	uses := 0
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		read := strings.Count(string(text), ":= os.Getenv(\"CORTEXT_TRANSCRIPTS\")")
		uses += read
		if said := strings.Count(string(text), "NOT RUN"); said < read {
			t.Errorf("%s reads CORTEXT_TRANSCRIPTS in %d places, and says NOT RUN in %d", file, read, said)
		}
		return err
	})
	if err != nil || uses < 10 {
		t.Errorf("%d uses, %v", uses, err)
	}
}
