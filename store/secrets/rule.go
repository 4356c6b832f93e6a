package secrets

// A Rule describes one kind of secret.
type Rule struct {
	// ID is the name in the replacement, "[redacted: <id>]".
	ID string
	// Description says what the secret gives access to.
	Description string
	// Source says where the format is published. If it begins with "observed", the vendor
	// documents the credential but not its format.
	Source string
	// Keywords trigger the rule: a text that has none of them is not searched.
	Keywords []string
	// Fold ignores the case of letters in the keywords.
	Fold bool

	// pattern is the regexp of the rule. Its first group is replaced, or the whole match
	// if it has no group. It must match at the start of a keyword, unless one of the next
	// three fields says otherwise.
	pattern string
	// before moves the start of the match back over the characters in lead that precede
	// the keyword, by at most this many bytes.
	before int
	lead   string
	// named means that the keyword is part of a name, and that the pattern applies to the
	// value of that name. If there are qualifiers, the rest of the name must contain one
	// of them.
	named      bool
	qualifiers []string
	// near is the maximum number of bytes between the keyword and the start of a value.
	// Every match in that range counts. A range that does not contain mark is skipped.
	near int
	mark string
	// loose allows keyword and value inside a longer word, unless the pattern says
	// otherwise.
	loose bool
	// separate forbids every character of the base64 alphabets next to the value, not
	// only letters and digits.
	separate bool
	// check, if set, must accept the value.
	check func(value string) bool
	// find replaces pattern where a regexp is not enough. The keyword is s[at:end]; the
	// value is s[start:stop].
	find func(s string, at, end int) (start, stop int, ok bool)
	// findAll is find for a value that may have several parts.
	findAll func(s string, at, end int) []stretch
}

// Rules returns all rules in order of precedence: if two rules find overlapping values,
// the earlier rule names the replacement.
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
