package secrets

// Rule describes one kind of secret.
type Rule struct {
	// ID stands in the replacement, "[redacted: <id>]".
	ID string
	// Description says what the secret gives access to.
	Description string
	// Source is where the format is published. Where it begins with
	// "observed", the vendor documents the credential but not its format.
	Source string
	// Keywords are the texts of which one must occur for the rule to be tried.
	Keywords []string
	// Fold says that letter case does not matter in the keywords.
	Fold bool

	// pattern is the regexp of the rule. Its first group, or else its whole
	// match, is what is replaced. It must match where a keyword starts, unless
	// one of the next three fields says otherwise.
	pattern string
	// before is how far in front of the keyword the match may start: as many of
	// the characters in lead as stand there, at most before of them.
	before int
	lead   string
	// named says that the keyword is part of a name and that the pattern is for
	// the value which is given to that name. The rest of the name must have one
	// of the qualifiers, if there are any.
	named      bool
	qualifiers []string
	// near is how far behind the keyword a value may start. All matches in
	// that stretch count. A stretch without mark has none.
	near int
	mark string
	// loose allows keyword and value to stand inside a longer word, unless the
	// pattern says otherwise.
	loose bool
	// separate asks for more than letters and digits to be absent around the
	// value: no character of the base64 alphabets may touch it.
	separate bool
	// check, if set, must accept the value.
	check func(value string) bool
	// find replaces pattern where a regexp will not do. The keyword stands at
	// s[at:end]; the value is returned as s[start:stop].
	find func(s string, at, end int) (start, stop int, ok bool)
	// findAll does the same for what may be in several places.
	findAll func(s string, at, end int) []stretch
}

// Rules returns all rules, in the order of their precedence: where findings of
// two rules overlap, the earlier rule names the replacement.
func Rules() []Rule {
	var all []Rule
	for _, group := range [][]Rule{
		keyRules(), modelRules(), cloudRules(), hostingRules(), forgeRules(),
		toolRules(), messageRules(), paymentRules(), commonRules(),
	} {
		all = append(all, group...)
	}
	return all
}

// wordBytes are the characters of most tokens.
const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
