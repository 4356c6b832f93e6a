package find

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// conversations returns a typical list after some weeks, newest first.
func conversations() []Item {
	return []Item{
		{ID: "01kdq2a7x0c4w8h1m5n9p3r6t2", Folder: "2025-12-29/002-debug-flaky-upload-test", Title: "Flaky upload test", Summary: "Decided: retry with backoff. Last: test passes 200 times."},
		{ID: "01kdpzx3y1d5v9j2k6q0s4u7w3", Folder: "2025-12-29/001-brainstorm-api-versioning", Title: "API versioning", Summary: "Leaning toward a header. Open: do we need v1 at all?"},
		{ID: "01kd3m8b2f6x0z3a7c1e5g9j4k", Folder: "2025-12-22/001-review-login-page", Title: "Review of the login page", Summary: "Last: three findings written down."},
		{ID: "01kce5n9d3g7y1b4d8f2h6k0m5", Folder: "2025-12-14/003-plan-database-migration", Title: "Database migration to PostgreSQL 17", Summary: "Decided: dump and restore over a weekend."},
		{ID: "01kce4q0e4h8z2c5e9g3j7m1n6", Folder: "2025-12-14/002-brainstorm-onboarding", Title: "Onboarding for new users", Summary: "Open: who writes the mails?"},
		{ID: "01kce3r1f5j9a3d6f0h4k8n2p7", Folder: "2025-12-14/001-brainstorm-api-design", Title: "API Design Discussion", Summary: "Discussing REST vs GraphQL for internal APIs, leaning toward REST"},
		{ID: "01kbx7s2g6k0b4e7g1j5m9p3q8", Folder: "2025-12-07/001-refactor-payment-service", Title: "Split the payment service", Summary: "Last: ledger moved out, tests pass."},
		{ID: "01kb8at3h7m1c5f8h2k6n0q4r9", Folder: "2025-11-29/001-docs-straßenkarte", Title: "Straßenkarte für Zürich", Summary: "Zuletzt: Legende übersetzt."},
		{ID: "01kajcw4j8n2d6g9j3m7p1r5s0", Folder: "2025-11-22/002-plan-接口设计", Title: "接口设计讨论", Summary: "决定使用 REST"},
		{ID: "01kajbx5k9p3e7h0k4n8q2s6t1", Folder: "2025-11-22/001-brainstorm-api-design", Title: "Design of the public API", Summary: "Open: paging by cursor or by number?"},
		{ID: "01kajay6m0q4f8j1m5p9r3t7v2", Folder: "2025-11-21/001-résumé-parser", Title: "Résumé parser in Go", Summary: "Last: reads PDF."},
		{ID: "01kaj9z7n1r5g9k2n6q0s4v8w3", Folder: "2025-11-20/001-plan-kubernetes-upgrade", Title: "Kubernetes upgrade", Summary: "Waiting for an answer to: which cluster first?"},
	}
}

// match returns what Match finds, without the tier.
func match(items []Item, query string) []int {
	hits, _ := Match(items, query)
	return hits
}

func ids(hits []int) string { return strings.Trim(fmt.Sprint(hits), "[]") }

func TestMatch(t *testing.T) {
	for _, tc := range []struct{ tier, query, want string }{
		{"id", "01kce3r1f5j9a3d6f0h4k8n2p7", "5"},
		{"id, as typed on a phone", " 01KCE3R1F5J9A3D6F0H4K8N2P7 ", "5"},
		{"id in the workspace", "001-brainstorm-api-versioning", "1"},
		{"id in the workspace, on two days", "001-brainstorm-api-design", "5 9"},
		{"id that is another's title", "002-plan-接口设计", "8"},

		{"folder", "2025-11-22/001-brainstorm-api-design", "9"},
		{"folder, completed by the shell", "conversations/2025-11-22/001-brainstorm-api-design/", "9"},
		{"folder, from within the workspace", "../../conversations/2025-12-14/001-brainstorm-api-design", "5"},
		{"folder, from within the day", "./002-plan-接口设计/", "8"},
		{"folder, from the next one", "../002-brainstorm-onboarding", "4"},
		{"folder, absolute", "/srv/shop/conversations/2025-12-14/002-brainstorm-onboarding", "4"},
		{"folder, with detours", "2025-12-22/../2025-12-14//002-brainstorm-onboarding/.", "4"},
		{"file in the folder", "conversations/2025-12-22/001-review-login-page/review.md", "2"},
		{"folder, Windows", `conversations\2025-12-22\001-review-login-page`, "2"},
		{"folder, in capitals", "2025-12-22/001-Review-Login-Page", "2"},

		{"beginning of an id", "01kce", "3 4 5"},
		{"beginning of an id, in capitals", "01KD", "0 1 2"},
		{"beginning of a folder's name", "001-brainstorm", "1 5 9"},
		{"number", "003", "3"},
		{"beginning of a folder", "2025-11-22/00", "8 9"},
		{"day", "2025-12-14", "3 4 5"},
		{"day, completed by the shell", "conversations/2025-12-14/", "3 4 5"},
		{"beginning of a folder in capitals", "001-BRAINSTORM-API-V", "1"},

		{"title", "api design discussion", "5"},
		{"title with another's words in it", "API versioning", "1"},
		{"title, loosely spaced", " Kubernetes   upgrade ", "11"},
		{"title in capitals, German", "STRASSENKARTE FÜR ZÜRICH", "7"},
		{"title in capitals, French", "RÉSUMÉ PARSER IN GO", "10"},

		{"word", "login", "2"},
		{"words of title and folder", "api design", "5 9"},
		{"words in any order", "design api", "5 9"},
		{"words of title and summary", "graphql api", "5"},
		{"word and day", "2025-12-14 brainstorm", "4 5"},
		{"part of a word", "ledg", "6"},
		{"words, Unicode", "zürich STRASSE", "7"},
		{"words without spaces", "接口", "8"},
		{"word of a summary only", "weekend", "3"},

		{"vowels left out", "brnstrm onbrdng", "4"},
		{"letters left out", "kubrnetes", "11"},
		{"beginnings of words", "payserv", "6"},
		{"space left out", "paymentservice", "6"},
		{"space left out, best first", "apidesign", "5 9"},
		{"some words right, some shortened", "plan mgration", "3"},
		{"a word that is folded and one shortened", "strassenkarte zürch", "7"},
		{"ideographs left out", "接口计讨论", "8"},

		{"nothing", "", ""},
		{"only spaces", " \t\n", ""},
		{"one word too many", "api design banana", ""},
		{"another day", "2025-12-23", ""},
		{"another day, right name", "2025-12-23/001-review-login-page", ""},
		{"id with a wrong end", "01kce3r1f5j9a3d6f0h4k8n2px", ""},
		{"swapped letters", "kubenretes", ""},
		{"path without a folder", "../..", ""},
		{"root", "/", ""},
		{"dot", "./", ""},
	} {
		if got := ids(match(conversations(), tc.query)); got != tc.want {
			t.Errorf("%s: %q means %q, want %q", tc.tier, tc.query, got, tc.want)
		}
	}
}

// TestMatchNotByAccident: letters that occur anywhere in a title do not match, although
// package fuzzy accepts all of these queries.
func TestMatchNotByAccident(t *testing.T) {
	titles := []string{
		"Database migration to PostgreSQL 17",
		"Review of the login page and its error messages",
		"Improve the caching layer of the product catalogue",
		"Investigate a memory leak in the upload worker",
		"Write release notes for the next minor version",
		"Code review of the retry logic",
		"Client redirects after the session has expired",
	}
	var items []Item
	for i, title := range titles {
		items = append(items, Item{Title: title, Folder: fmt.Sprintf("2025-12-%02d/001-x", i+1)})
	}
	for _, query := range []string{
		"table", "rails", "mole", "core", "login flow", "irate", "peer", "lint", "credit", "stripe", "wine", "vite",
		"catalog rust", "tomato", "delete", "e2e", "ivy", "a b c d", "test", "deploy", "xyz", "mint", "rest", "react",
	} {
		if got := match(items, query); got != nil {
			t.Errorf("%q means %q", query, titles[got[0]])
		}
	}
}

func TestMatchEmptyFields(t *testing.T) {
	items := []Item{{}, {Title: "."}, {ID: "01kce"}, {Folder: "001-x"}, {ID: "01kcex", Folder: "2025-12-01/001-xy"}}
	for query, want := range map[string]string{".": "1", "/.": "", "01kce": "2", "001-x": "3", "0": "2 3 4", "01kcex": "4", "..": "", "/": ""} {
		if got := ids(match(items, query)); got != want {
			t.Errorf("%q means %q, want %q", query, got, want)
		}
	}
	if got := match(nil, "api"); got != nil {
		t.Errorf("in an empty list: %v", got)
	}
}

func TestMatchLettersBestFirst(t *testing.T) {
	items := []Item{
		{Title: "Notes on the old brainstorm about caching of rendered pages", Folder: "2025-12-03/001-a"},
		{Title: "Brainstorm", Folder: "2025-12-02/001-b"},
		{Title: "Second brainstorm", Folder: "2025-12-01/001-c"},
	}
	if got := ids(match(items, "brnstorm")); got != "1 2 0" {
		t.Errorf("order %q", got)
	}
}

func TestNearest(t *testing.T) {
	for _, tc := range []struct{ why, query, first string }{
		{"swapped letters", "kubenretes", "11"},
		{"mistyped beginning", "kubren", "11"},
		{"one word wrong", "payment gateway", "6"},
		{"all words mistyped", "fleaky uplaod", "0"},
		{"id with a wrong end", "01kce3r1f5j9a3d6f0h4k8n2px", "5"},
		{"beginning of an id with a slip", "01kce3r1g5j9", "5"},
		{"folder with a slip", "2025-11-22/001-brainstorm-api-desing", "9"},
		{"right name, wrong day", "2025-12-23/001-review-login-page", "2"},
		{"wrong number of a day", "2025-11-20/007", "11"},
		{"shortened word", "pstgres", "3"},
		{"three letters, one wrong", "aps", "1"},
		{"first letters of words", "stps", "6"},
		{"a character wrong", "接口涉及", "8"},
		{"beginning of a word", "kuber", "11"},
		{"vowels left out", "kbrnts", "11"},
		{"two letters", "re", ""},
		{"beginning of a year", "202", ""},
		{"a year and nonsense", "2025 qwertzuiop", ""},
		{"nonsense", "qwzx", ""},
		{"longer nonsense", "wubba lubba dub", ""},
		{"nothing", "", ""},
		{"numbers of no day", "4711", ""},
	} {
		got := Nearest(conversations(), tc.query, 3)
		if len(got) > 3 || len(got) == 0 && tc.first != "" || len(got) > 0 && fmt.Sprint(got[0]) != tc.first {
			t.Errorf("%s: near %q is %v, want %q first", tc.why, tc.query, got, tc.first)
		}
	}
	if got := Nearest(conversations(), "brainstrom", 2); ids(got) != "1 4" {
		t.Errorf("the newest of equals first, two at most: %v", got)
	}
	if got := Nearest(conversations(), "brainstrom", -1); len(got) != 0 {
		t.Errorf("fewer than none: %v", got)
	}
}

func TestNearestInitials(t *testing.T) {
	items := []Item{{Title: "Fix login bug", Folder: "2025-12-02/001-fix-login-bug"}, {Title: "Database migration"}}
	if got := ids(Nearest(items, "flb", 5)); got != "0" {
		t.Errorf("near are %q", got)
	}
}

func TestScattered(t *testing.T) {
	for _, tc := range []struct {
		word, text string
		want       bool
	}{
		{"cnfg", "config loader", true},
		{"cfg", "config loader", false}, // too short to rule out accident
		{"bstorm", "brainstorm", true},
		{"rainstrm", "brainstorm", false}, // not from the beginning of a word
		{"brapi", "brainstorm api", true},
		{"paymse", "payment service", true},
		{"payms", "payment service", false}, // a single last letter
		{"apidsgn", "api design", true},
		{"core", "code review", false},                // too short to begin two words
		{"payow", "payment of services owned", false}, // skips too many words
		{"setsable", "sets of enable", false},         // continues inside another word
		{"sabled", "saved enabled", false},
		{"apidesign", "api design", true},
		{strings.Repeat("ab", 33), strings.Repeat("ab", 33), false},
		{strings.Repeat("ab", 32), strings.Repeat("ab", 32), true},
		{"cnfg", "", false},
		{"cnfg", strings.Repeat("x ", 300) + "config", false}, // too far back
	} {
		if got := scattered(tc.word, tc.text); got != tc.want {
			t.Errorf("%q in %q: %v, price %d", tc.word, tc.text, got, price([]rune(tc.word), tc.text))
		}
	}
}

func TestNearestWord(t *testing.T) {
	commands := []string{"resume", "list", "stop", "status", "show", "search", "export", "import", "archive", "tag"}
	for typed, want := range map[string]string{
		"resum": "resume", "rseume": "resume", "RESUME": "resume", "resmue": "resume", "lst": "list", "lits": "list",
		"stauts": "status", "stat": "status", "exprt": "export", "imoprt": "import", "archvie": "archive", "arhcvie": "archive", "sea": "search", "tga": "tag",
		"": "", "x": "", "r": "", "xx": "", "banana": "", "commit": "", "stopwatch": "", "ta": "", "dig": "", "rasimo": "", "rasome": "resume", strings.Repeat("r", 1000): "",
	} {
		if got := NearestWord(commands, typed); got != want {
			t.Errorf("%q is near %q, want %q", typed, got, want)
		}
	}
	if got := NearestWord([]string{"start", "stare"}, "stark"); got != "start" {
		t.Errorf("not the first of two that are as near: %q", got)
	}
	if got := NearestWord([]string{strings.Repeat("resume", 50), "ÄNDERN"}, "änden"); got != "ÄNDERN" {
		t.Errorf("Unicode: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"ab", "ab", 0}, {"ab", "b", 1}, {"b", "ab", 1}, {"ab", "cb", 1}, {"ab", "ba", 1}, {"abcd", "bacd", 1}, {"abcd", "badc", 2}, {"abc", "ca", 3}, {"kitten", "sitting", 3},
	} {
		if got := distance([]rune(tc.a), []rune(tc.b)); got != tc.want {
			t.Errorf("from %q to %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, equal := range [][]string{{"API", "api"}, {"Straße", "STRASSE", "STRAẞE"}, {"ΣΊΣΥΦΟΣ", "σίσυφος"}, {"\u212Aelvin", "kelvin", "KELVIN"}, {"\u017Fo", "SO"}, {"Caf\u00e9", "cafe\u0301", "CAFE\u0301"}, {"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"}, {"\u304c", "\u304b\u3099"}, {"\xff", "\uFFFD"}} {
		for _, s := range equal {
			if fold(s) != fold(equal[0]) {
				t.Errorf("%q and %q differ: %q, %q", s, equal[0], fold(s), fold(equal[0]))
			}
		}
	}
	if fold("resume") == fold("résumé") {
		t.Error("accents are folded")
	}
}

func FuzzMatch(f *testing.F) {
	for _, q := range []string{"api", "01kce", "2025-12-14/", "brnstrm", "接口计", "\xff\x00/", "a/../b", strings.Repeat("ab ", 40)} {
		f.Add(q, "API Design", "2025-12-14/001-x", "01kce")
	}
	f.Fuzz(func(t *testing.T, query, title, folder, id string) {
		items := append(conversations(), Item{ID: id, Folder: folder, Title: title, Summary: query})
		for name, got := range map[string][]int{"match": match(items, query), "nearest": Nearest(items, query, 5)} {
			sorted := slices.Sorted(slices.Values(got))
			if len(slices.Compact(sorted)) != len(got) || len(got) > 0 && (sorted[0] < 0 || sorted[len(sorted)-1] >= len(items)) {
				t.Fatalf("%s: %v", name, got)
			}
		}
		if !slices.Equal(match(items, query), match(items, query)) {
			t.Fatal("two answers")
		}
		if id != "" && strings.Join(strings.Fields(id), " ") == id && !slices.Contains(match(items, id), len(items)-1) {
			t.Fatalf("the id %q does not find its own", id)
		}
		if strings.Trim(strings.Join(strings.Fields(query), ""), `./\`) != "" && len(match(items, query)) == 0 {
			t.Fatalf("%q stands in a summary and means nothing", query)
		}
		near := NearestWord([]string{title, folder}, query)
		if near != "" && near != title && near != folder {
			t.Fatalf("near is %q", near)
		}
	})
}

func many() []Item {
	base := conversations()
	items := make([]Item, 100_000)
	for i := range items {
		it := base[i%len(base)]
		it.ID = fmt.Sprintf("01k%023d", i)
		it.Folder = fmt.Sprintf("%s-%d", it.Folder, i)
		it.Title = fmt.Sprintf("%s, part %d", it.Title, i)
		items[i] = it
	}
	return items
}

func BenchmarkMatch(b *testing.B) {
	items := many()
	for _, query := range []string{"api design", "brnstrm onbrdng", "nothing like it"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				match(items, query)
			}
		})
	}
}

func BenchmarkNearest(b *testing.B) {
	items := many()
	for _, query := range []string{"kubenretes", "01k0000000000000000x0000071", "qwzx"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				Nearest(items, query, 5)
			}
		})
	}
}

// TestSignature: what a signature rejects has no score, and plain texts have the score of
// their folded name.
func TestSignature(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	pieces := strings.Split("tab\tretry login Retry tokenBudget API api e2e x I Straße \u212Aelvin İstanbul naïve 日本語 a\x00b user_name half/way v2.0 fix:it C++ 77777 0", " ")
	text := func() string {
		s := ""
		for range r.IntN(5) {
			s += pieces[r.IntN(len(pieces))] + []string{" ", " ", "-", "  ", ""}[r.IntN(5)]
		}
		return s
	}
	accepted, rejected, plain := 0, 0, 0
	for range 50_000 {
		title, folder := text(), "2026-03-01/"+strings.ReplaceAll(text(), "/", "")
		typed := ""
		for _, w := range strings.Fields(title + folder[11:]) {
			letters := []rune(w)
			typed += string(letters[:min(len(letters), r.IntN(3))])
		}
		if r.IntN(3) == 0 {
			typed = text()
		}
		name := AppendName(nil, title, folder, "x")
		ty, s := ParseTyped(typed), SignatureOf(title, folder, name)
		adjacent := 0
		for _, pair := range ty.Pairs() {
			if bytes.Contains(name, []byte(pair)) {
				adjacent++
			}
		}
		score, ok := ty.Initials(title, folder)
		may := s.HasLetters(ty.Letters()) && ty.MayHaveInitials(s, adjacent)
		if ok && !may {
			t.Fatalf("%q in %q, %q: score %d, but its signature %x is rejected", typed, title, folder, score, s)
		}
		if ok {
			accepted++
		} else if !may {
			rejected++
		}
		if !s.IsPlain() {
			continue
		}
		plain++
		foldedTitle, foldedFolder := SplitName(name)
		if same, has := ty.Initials(string(foldedTitle), string(foldedFolder)); same != score || has != ok {
			t.Fatalf("%q in %q, %q: score %d %v, folded %d %v", typed, title, folder, score, ok, same, has)
		}
		if q, ok := Parse(typed); ok {
			score, ok := q.Letters(title, folder)
			if same, has := q.Letters(string(foldedTitle), string(foldedFolder)); same != score || has != ok {
				t.Fatalf("%q in %q, %q: letters %d %v, folded %d %v", typed, title, folder, score, ok, same, has)
			}
		}
	}
	if accepted < 1000 || rejected < 1000 || plain < 1000 {
		t.Errorf("%d accepted, %d rejected, %d plain", accepted, rejected, plain)
	}
}

// TestNames: what names a conversation, and what only describes it.
func TestNames(t *testing.T) {
	it := Item{ID: "01kce3r1f5j9a3d6f0h4k8hv37", Folder: "2025-11-22/1030-brainstorm-api-design-hv37", Title: "API Design", Prompt: "design the api", Tags: []string{"backend"}}
	for query, want := range map[string]bool{
		it.ID: true, "01KCE3": true, "01kc": true, "01k": false, "0": false, "": false,
		"hv37": true, "v37": false, "8hv37": false,
		it.Folder: true, "1030-brainstorm-api-design-hv37": true, "conversations/" + it.Folder + "/plan.md": true,
		"1030-brainstorm": false, "2025-11-22": false, "1030": false,
		"api  design": true, "api": true, "design api": true, "ap": false, "a": false, "backend": false, "design the api": false,
	} {
		if got := it.Names(query); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}
