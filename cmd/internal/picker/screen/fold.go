package screen

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// withMarks lists, after each plain letter, the letters that differ from it only in marks (such
// as accents), which people leave out when they type.
var withMarks = []string{
	"aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ", "bḃḅḇ", "cçćĉċčḉ", "dďđḋḍḏḑḓ", "eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ", "fḟ",
	"gĝğġģǧǵḡ", "hĥħȟḣḥḧḩḫẖ", "iìíîïĩīĭįıǐȉȋḭḯỉị", "jĵǰ", "kķǩḱḳḵ", "lĺļľłḷḹḻḽ", "mḿṁṃ", "nñńņňǹṅṇṉṋ",
	"oòóôõöøōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ", "pṕṗ", "rŕŗřȑȓṙṛṝṟ", "sśŝşšșṡṣṥṧṩ", "tţťŧțṫṭṯṱẗ",
	"uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự", "vṽṿ", "wŵẁẃẅẇẉẘ", "xẋẍ", "yýÿŷȳẏẙỳỵỷỹ", "zźżžẑẓẕ",
	"αά", "εέ", "ηή", "ιίϊΐ", "οό", "υύϋΰ", "ωώ", "σς", "её", "'’",
}

// plainOf maps each letter in [withMarks] to its plain letter.
var plainOf = func() map[rune]rune {
	all := map[rune]rune{}
	for _, letters := range withMarks {
		plain, size := utf8.DecodeRuneInString(letters)
		for _, r := range letters[size:] {
			all[r] = plain
		}
	}
	return all
}()

// The range of the marks that follow a letter in decomposed text, such as file names on macOS.
const (
	firstMark = 0x300
	lastMark  = 0x36f
)

// appendFold appends a text as words are looked for in it: in lower case, without marks.
func appendFold(dst []byte, text string) []byte {
	for _, r := range norm.NFC.String(text) {
		dst = appendFolded(dst, r)
	}
	return dst
}

func appendFolded(dst []byte, r rune) []byte {
	switch r = unicode.ToLower(r); {
	case r < utf8.RuneSelf:
		return append(dst, byte(r))
	case r == 'ß':
		return append(dst, "ss"...)
	case firstMark <= r && r <= lastMark:
		return dst
	}
	if plain, ok := plainOf[r]; ok {
		r = plain
	}
	return utf8.AppendRune(dst, r)
}

// fold returns a folded text.
func fold(text string) string { return string(appendFold(nil, text)) }

// foldAt returns a folded text, and where in the text each of its bytes, and its end, comes from.
func foldAt(text string) (folded string, from []int) {
	var dst []byte
	for at := 0; at < len(text); {
		size := norm.NFC.NextBoundaryInString(text[at:], true) // of a letter with its marks
		dst = appendFold(dst, text[at:at+size])
		for len(from) < len(dst) {
			from = append(from, at)
		}
		at += size
	}
	return string(dst), append(from, len(text))
}
