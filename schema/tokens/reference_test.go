package tokens

import (
	"encoding/base64"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/pkoukk/tiktoken-go-loader/assets"
	"github.com/tiktoken-go/tokenizer"
)

// pattern is tiktoken's pattern. It is in parentheses because without them the regexp2
// library would run the code that the tokenizer library registers for the pattern, which
// has two defects in v0.10.0: for \s*[\r\n]+ it goes back to the first line ending in the
// white space instead of the last one, and it leaves U+007F out of negated sets, so that
// nothing matches it.
const pattern = `(?:` +
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
	`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
	`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)`

var splitter = regexp2.MustCompile(pattern, regexp2.None)

// referencePieces splits text with a regular expression engine.
func referencePieces(t testing.TB, text string) []string {
	t.Helper()
	var pieces []string
	m, err := splitter.FindStringMatch(text)
	for ; m != nil && err == nil; m, err = splitter.FindNextMatch(m) {
		pieces = append(pieces, m.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

// library is another implementation of the encoding.
var library = sync.OnceValues(func() (tokenizer.Codec, error) {
	return tokenizer.Get(tokenizer.O200kBase)
})

// defective finds the text that the library gets wrong.
var defective = regexp.MustCompile(`[\r\n][\t\v\f \x{85}\pZ]+[\r\n]|\x7f`)

// referenceCount counts text with the library, and the parts that the library gets wrong
// with the regular expression and [naiveCount].
func referenceCount(t testing.TB, text string) int {
	t.Helper()
	codec, err := library()
	if err != nil {
		t.Fatal(err)
	}
	text = string([]rune(text))
	pieces := []string{text}
	if defective.MatchString(text) {
		pieces = referencePieces(t, text)
	}
	sum := 0
	for _, piece := range pieces {
		if defective.MatchString(piece) {
			sum += naiveCount(piece)
			continue
		}
		n, err := codec.Count(piece)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// ranks maps the tokens of the embedded file to their ranks.
var ranks = sync.OnceValue(func() map[string]int {
	raw, err := assets.Assets.ReadFile(tableFile)
	if err != nil {
		panic(err)
	}
	ranks := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		token, rank, _ := strings.Cut(strings.TrimSpace(line), " ")
		b, err := base64.StdEncoding.DecodeString(token)
		if err != nil {
			panic(err)
		}
		if ranks[string(b)], err = strconv.Atoi(rank); err != nil {
			panic(err)
		}
	}
	return ranks
})

// naiveCount implements byte pair encoding by its definition.
func naiveCount(piece string) int {
	if _, ok := ranks()[piece]; ok {
		return 1
	}
	var parts []string
	for i := range len(piece) {
		parts = append(parts, piece[i:i+1])
	}
	for {
		at, least := -1, math.MaxInt
		for i := range len(parts) - 1 {
			if rank, ok := ranks()[parts[i]+parts[i+1]]; ok && rank < least {
				at, least = i, rank
			}
		}
		if at < 0 {
			return len(parts)
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
}
