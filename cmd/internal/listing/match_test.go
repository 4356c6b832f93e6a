package listing

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cortext/cmd/internal/find"
)

// A writer makes random texts and queries.
type writer struct{ r *rand.Rand }

var manyWords = strings.Fields(`login retry upload search payment ledger design API cache token index branch budget resume picker
	Straße STRASSE Zürich résumé naïve Ελληνικά ΣΊΣΥΦΟΣ σίσυφος привет 日本語 接口设计 検索 ログイン ภาษาไทย api接口 a I x1 to go e2e sha256 utf8 v2.0
	api-design half/way snake_case C++ . - / ... #12 fix:login (retry) user@host ` + "\u212Aelvin \u017Fo \x00nul bad\xffbytes \xff" + `
	internationalization reproducible brainstorm onboarding kubernetes postgresql abcdefghijklmnopqrstuvwxyz aaaaaaaa ı İstanbul ﬁle 2026 0 007 77777 4711 01kce3r1`)

func (w writer) word() string {
	switch w.r.IntN(8) {
	case 0:
		return fmt.Sprint(w.r.IntN(10_000))
	case 1:
		return string(rune('a'+w.r.IntN(26))) + string(rune('a'+w.r.IntN(26))) + string(rune('a'+w.r.IntN(26)))
	}
	return manyWords[w.r.IntN(len(manyWords))]
}

func (w writer) text(most int) string {
	var list []string
	for range w.r.IntN(most + 1) {
		list = append(list, w.word())
	}
	return strings.Join(list, []string{" ", "  ", "\n", "-"}[max(w.r.IntN(12)-8, 0)])
}

func (w writer) records(n int) []*record {
	records := make([]*record, n)
	byHand := w.r.IntN(2) == 0 // whether someone wrote ids
	for i := range records {
		r := &record{}
		r.Title, r.Description, r.Summary = w.text(5), w.text(9), w.text(9)
		for range w.r.IntN(3) {
			r.Tags = append(r.Tags, w.word())
		}
		r.ID = fmt.Sprintf("01kce%d%06d", w.r.IntN(3), w.r.IntN(1_000_000))
		if byHand && w.r.IntN(8) == 0 {
			r.ID = w.text(2)
		}
		r.Path = fmt.Sprintf("conversations/2026-%02d-%02d/%04d-%s", 1+w.r.IntN(12), 1+w.r.IntN(28), w.r.IntN(2400), strings.ReplaceAll(w.text(4), " ", "-"))
		if w.r.IntN(20) == 0 {
			r.Path = "conversations/" + w.text(3)
		}
		r.Status, r.Type = []string{"paused", "completed"}[w.r.IntN(2)], []string{"plan", "chat"}[w.r.IntN(2)]
		r.LastActive = time.Unix(int64(w.r.IntN(1000)), 0).UTC()
		records[i] = r
	}
	slices.SortFunc(records, compareRecords)
	return records
}

// typed returns a query for something that rows have, more or less.
func (w writer) typed(rows []Row) string {
	r := &rows[w.r.IntN(len(rows))]
	from := []string{r.Title, r.Title, r.Description, r.Summary, r.Folder(), r.ID, strings.Join(r.Tags, " "), r.Path, w.text(3), r.Title + " " + r.Summary}
	words := strings.Fields(from[w.r.IntN(len(from))])
	if len(words) > 0 && w.r.IntN(3) > 0 {
		at := w.r.IntN(len(words))
		words = words[at:min(at+1+w.r.IntN(3), len(words))]
	}
	if w.r.IntN(4) == 0 {
		words = append(words, w.word())
	}
	if w.r.IntN(12) == 0 {
		r := &rows[w.r.IntN(len(rows))]
		words = append(words, strings.Fields(r.Summary+" "+r.Folder())...)
		words = words[max(len(words)-2, 0):]
	}
	for i, word := range words {
		if w.r.IntN(3) == 0 {
			words[i] = w.mistyped([]rune(word))
		}
	}
	query := strings.Join(words, []string{" ", " ", " ", ""}[w.r.IntN(4)])
	switch w.r.IntN(10) {
	case 0:
		query = strings.ToUpper(query)
	case 1: // the first letters of words
		query = ""
		for word := range strings.FieldsSeq(r.Title) {
			_, size := utf8.DecodeRuneInString(word)
			query += word[:size]
		}
	case 2:
		query = query[:w.r.IntN(len(query)+1)]
	}
	return query
}

func (w writer) mistyped(word []rune) string {
	for range 1 + w.r.IntN(3) {
		if len(word) < 2 {
			break
		}
		at := w.r.IntN(len(word) - 1)
		switch w.r.IntN(5) {
		case 0:
			word[at], word[at+1] = word[at+1], word[at]
		case 1:
			word = slices.Delete(word, at, at+1)
		case 2:
			word = slices.Insert(word, at, rune('a'+w.r.IntN(26)))
		case 3:
			word[at] = rune('a' + w.r.IntN(26))
		case 4: // vowels left out
			word = slices.DeleteFunc(word, func(r rune) bool { return strings.ContainsRune("aeiou", r) })
		}
	}
	return string(word)
}

// listingOf returns a listing of an index of some records, of which others have replaced some.
func (w writer) listingOf(t *testing.T, records, added []*record) *Listing {
	x, _, err := inMemory(records)
	if err != nil {
		t.Fatal(err)
	}
	up := &update{gone: map[int]bool{}, added: added}
	for range added {
		up.gone[w.r.IntN(len(records))] = true
	}
	v, err := newView(x, up)
	if err != nil {
		t.Fatal(err)
	}
	l := &Listing{}
	l.view.Store(v)
	return l
}

// TestExactID: an id finds its conversation although others begin with it, also an id that
// someone wrote and that folding changes.
func TestExactID(t *testing.T) {
	w := writer{rand.New(rand.NewPCG(1, 7))}
	for _, id := range []string{"strasse-7", "straße-7", "STRASSE-7", "straẞe-7", "\u212A-7", "a\nb"} {
		records := w.records(20)
		for i, r := range records {
			r.ID = id
			if i > 0 {
				r.ID += fmt.Sprint(i)
			}
		}
		for _, typed := range []string{id, strings.ToUpper(id), strings.ToLower(id)} {
			if at, tier := w.listingOf(t, records, nil).Match(typed, everything); !slices.Equal(at, []int{0}) || tier != find.ByID {
				t.Errorf("id %q: %q finds %v in tier %d", id, typed, at, tier)
			}
		}
	}
}

// TestPositions: the position of each row of an index is where the view has it.
func TestPositions(t *testing.T) {
	w := writer{rand.New(rand.NewPCG(2, 7))}
	for range 20 {
		records := w.records(1 + w.r.IntN(300))
		v := w.listingOf(t, records, w.records(w.r.IntN(60))).view.Load()
		want := map[int]int{}
		for i := range v.layout.n {
			if row, _ := v.layout.find(i); row >= 0 {
				want[row] = i
			}
		}
		for row := range records {
			at, ok := v.layout.position(row)
			if i, there := want[row]; ok != there || ok && at != i {
				t.Fatalf("row %d is at %d %v, want %d %v", row, at, ok, i, there)
			}
		}
	}
}

// TestMatchesAsRows: for random rows and queries, an index finds the matches and suggestions
// that examining each row finds.
func TestMatchesAsRows(t *testing.T) {
	rounds, queries := 18, 200
	if testing.Short() {
		rounds, queries = 6, 100
	}
	tiers, near := map[find.Tier]int{}, 0
	for seed := range uint64(rounds) {
		w := writer{rand.New(rand.NewPCG(seed, 7))}
		n, asked := 1+w.r.IntN(150), queries
		if seed%6 == 5 { // with a table of grams
			n, asked = 9000, 10
		}
		l := w.listingOf(t, w.records(n), w.records(w.r.IntN(4)))
		if x := l.view.Load().base; n > 1000 && x.sections.size[gramSection] == 0 {
			t.Fatal("no grams")
		}
		rows := make([]Row, l.Len())
		for i := range rows {
			rows[i] = l.Row(i)
		}
		for _, f := range []Filter{everything, {}, {Types: []string{"plan"}, All: true}, {All: true, Archived: true, Words: []string{"a"}}} {
			var items []find.Item
			var at []int
			for i := range rows {
				if f.Selects(&rows[i]) {
					items, at = append(items, *rows[i].item()), append(at, i)
				}
			}
			for range asked {
				query := w.typed(rows)
				want, wantTier := find.Match(items, query)
				for k := range want {
					want[k] = at[want[k]]
				}
				got, tier := l.Match(query, f)
				if !slices.Equal(got, want) || tier != wantTier {
					t.Fatalf("seed %d, %+v: %q finds %v in tier %d, want %v in tier %d: %+v", seed, f, query, got, tier, want, wantTier, rows[append(want, got...)[0]])
				}
				first, of, _ := l.First(query, f, 3)
				if of != len(want) || !slices.Equal(first, want[:min(3, of)]) {
					t.Fatalf("seed %d: the first for %q are %v of %d, want %v", seed, query, first, of, want)
				}
				wantNear := find.Nearest(items, query, 3)
				for k := range wantNear {
					wantNear[k] = at[wantNear[k]]
				}
				if got := l.Nearest(query, f, 3); !slices.Equal(got, wantNear) {
					t.Fatalf("seed %d, %+v: near %q are %v, want %v", seed, f, query, got, wantNear)
				}
				tiers[tier]++
				near += min(len(wantNear), 1)
			}
		}
	}
	for tier := find.None; tier <= find.ByLetters; tier++ {
		if tiers[tier] < 10 {
			t.Errorf("only %d queries match in tier %d: %v", tiers[tier], tier, tiers)
		}
	}
	t.Log(tiers, near)
}
