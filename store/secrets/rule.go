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
	// match, is what is replaced. It is applied where a keyword stands: it
	// starts there unless before or near is set.
	pattern string
	// before is how far in front of the keyword the match may start.
	before int
	// near is how far behind the keyword a value may start. All matches in
	// that stretch count.
	near int
	// loose allows the keyword to stand inside a longer word.
	loose bool
	// solid asks for more than letters and digits to be absent around the
	// value: no character of the base64 alphabets may touch it.
	solid bool
	// check, if set, must accept the value.
	check func(value string) bool
	// find replaces pattern where a regexp will not do. The keyword stands at
	// s[at:end]; the value is returned as s[start:stop].
	find func(s string, at, end int) (start, stop int, ok bool)
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

// assigned is the pattern of a value that is given to a name: the name begins
// with a match of name, the value matches value. Only the value is replaced.
func assigned(name, value string) string {
	return `(?i:` + name + `)[\w .-]{0,32}["'\x60]?\]?[ \t]{0,4}(?::=|=>|[:=,])[ \t]{0,4}["'\x60]?(` + value + `)`
}
