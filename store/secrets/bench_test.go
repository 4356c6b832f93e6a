package secrets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cleanText is text as agents write and read it, without secrets and, like the text of
// messages, without escapes.
func cleanText(size int) string {
	const piece = `I'll look at the failing test first and then run the suite again.

func (s *Store) Load(ctx context.Context, id string) (*Session, error) {
	row := s.db.QueryRowContext(ctx, "SELECT body, updated_at FROM sessions WHERE id = ?", id)
	var body []byte
	if err := row.Scan(&body, &s.updated); err != nil {
		return nil, fmt.Errorf("load session %s: %w", id, err)
	}
	return decode(body), nil
}

ok  	example/store	0.412s
commit 3f2a9c1d7be04e5f8a6b2c3d4e5f60718293a4b5, session 0b7c9f3e-5d2a-4c1b-8e6f-1a2b3c4d5e6f
The cache holds 12,482 input tokens; see https://example.org/docs/cache?page=2#limits for the rest.
` + "| file | lines | note |\n|---|---|---|\n| store/load.go | 214 | reads the password file lazily |\n\n"
	return strings.Repeat(piece, size/len(piece)+1)[:size]
}

func benchmarkText(b *testing.B, s string) {
	r := New()
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Text(s, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText1K(b *testing.B) { benchmarkText(b, cleanText(1<<10)) }

func BenchmarkText1M(b *testing.B) { benchmarkText(b, cleanText(1<<20)) }

func BenchmarkTextEscaped1M(b *testing.B) {
	s := strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(cleanText(1 << 20))
	benchmarkText(b, s)
}

func BenchmarkJSON1K(b *testing.B) {
	s := strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(cleanText(900))
	raw := []byte(`{"file_path": "/src/store/load.go", "limit": 200, "content": "` + s + `"}`)
	r := New()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := r.JSON(raw, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New()
	}
}

// BenchmarkFirstText measures what a process pays to redact one short text.
func BenchmarkFirstText(b *testing.B) {
	s := cleanText(1 << 10)
	for b.Loop() {
		if _, err := New().Text(s, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTranscripts runs over real transcripts if CORTEXT_TRANSCRIPTS is set.
func BenchmarkTranscripts(b *testing.B) {
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		b.Skip("NOT RUN: CORTEXT_TRANSCRIPTS is not set")
	}
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkText(b, all.String())
}
