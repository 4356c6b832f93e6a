package page

import (
	"strings"

	"cortext/cmd/internal/export/highlight"
)

// mostCode is the maximum number of bytes of code that are coloured.
const mostCode = 128 << 10

// AppendCode appends code in colour. name is the name of a language or file.
func AppendCode(dst []byte, code, name string) []byte {
	if strings.EqualFold(name, "diff") || strings.EqualFold(name, "patch") {
		return appendPatch(dst, code)
	}
	l, ok := highlight.Language(name)
	if !ok || len(code) > mostCode {
		return AppendText(dst, code)
	}
	for _, part := range l.Parts(code) {
		dst = appendPart(dst, part)
	}
	return dst
}

func appendPart(dst []byte, part highlight.Part) []byte {
	if part.Kind == highlight.Plain {
		return AppendText(dst, part.Text)
	}
	dst = append(dst, "<i class=\""...)
	dst = append(dst, byte(part.Kind))
	dst = append(dst, "\">"...)
	dst = AppendText(dst, part.Text)
	return append(dst, "</i>"...)
}

// appendPatch appends a diff with added and removed lines in colour.
func appendPatch(dst []byte, patch string) []byte {
	for l := range strings.Lines(patch) {
		class := ""
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"), strings.HasPrefix(l, "@@"), strings.HasPrefix(l, "***"), strings.HasPrefix(l, "diff "):
			class = "c"
		case strings.HasPrefix(l, "+"):
			class = "add"
		case strings.HasPrefix(l, "-"):
			class = "del"
		}
		if class == "" {
			dst = AppendText(dst, l)
			continue
		}
		dst = append(append(append(dst, "<i class=\""...), class...), "\">"...)
		dst = AppendText(dst, strings.TrimSuffix(l, "\n"))
		dst = append(dst, "</i>"...)
		if strings.HasSuffix(l, "\n") {
			dst = append(dst, '\n')
		}
	}
	return dst
}

// appendPlain appends Markdown as typed, except that it renders code blocks.
func appendPlain(dst []byte, s string) []byte {
	var said strings.Builder
	end := func() {
		for paragraph := range strings.SplitSeq(strings.Trim(said.String(), "\n"), "\n\n") {
			if strings.TrimSpace(paragraph) != "" {
				dst = append(AppendText(append(dst, "<p class=\"typed\">"...), strings.Trim(paragraph, "\n")), "</p>\n"...)
			}
		}
		said.Reset()
	}
	fence, language := "", ""
	for l := range strings.Lines(s) {
		trimmed := strings.TrimSpace(l)
		switch {
		case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
			end()
			language = strings.TrimLeft(trimmed, trimmed[:1])
			fence = trimmed[:len(trimmed)-len(language)]
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
			dst = appendBlock(dst, said.String(), language)
			said.Reset()
			fence = ""
		default:
			said.WriteString(l)
		}
	}
	if fence != "" {
		return appendBlock(dst, said.String(), language)
	}
	end()
	return dst
}

func appendBlock(dst []byte, code, language string) []byte {
	dst = append(dst, "<pre tabindex=\"0\"><code>"...)
	return append(AppendCode(dst, code, language), "</code></pre>\n"...)
}
