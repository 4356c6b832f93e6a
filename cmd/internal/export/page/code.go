package page

import (
	"strings"

	"cortext/cmd/internal/export/highlight"
)

// mostCode is how many bytes of code are coloured.
const mostCode = 128 << 10

// AppendCode appends code with its parts in colours. name is that of a language or file.
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

// appendPatch appends a diff with its added and removed lines in colours.
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

// mostMarkdown is how many bytes of Markdown are rendered at once. A longer text, such as a
// pasted log, is shown as it is.
const mostMarkdown = 256 << 10

// markdown writes a text of a message.
func (w *writer) markdown(s string) {
	s = clean(s)
	if len(s) > mostMarkdown {
		w.pre(s, "")
		return
	}
	if w.r.markdown != nil {
		if html, ok := w.r.markdown(w.buf[:0], s); ok {
			w.buf = html
			_, _ = w.out.Write(html)
			return
		}
	}
	w.buf = appendPlain(w.buf[:0], s)
	_, _ = w.out.Write(w.buf)
}

// appendPlain appends Markdown as it was typed, except that code blocks are code.
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
