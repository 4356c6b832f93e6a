// Package markdown renders Markdown with goldmark as HTML that is safe in a page: HTML in
// the text is escaped, links lead only to http, https and mailto, and elements have no ids.
// goldmark makes a program's start a third longer, so cortext does not link it.
package markdown

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"cortext/cmd/internal/export/page"
)

// A Markdown renders Markdown.
type Markdown struct{ goldmark goldmark.Markdown }

// New returns a Markdown.
func New() Markdown {
	return Markdown{goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.TaskList,
			extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http", "https", "mailto"}))),
		goldmark.WithRendererOptions(html.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(nodes{}, 1))),
	)}
}

// Append appends the HTML of a text. ok is false if it cannot be rendered.
func (m Markdown) Append(dst []byte, s string) (html []byte, ok bool) {
	source := []byte(s)
	tree := m.goldmark.Parser().Parse(text.NewReader(source))
	prepare(tree)
	out := bytes.NewBuffer(dst)
	if err := m.goldmark.Renderer().Render(out, source, tree); err != nil {
		return dst, false
	}
	return out.Bytes(), true
}

// prepare moves the headings of a text below those of the page, without gaps between levels,
// and lets the keyboard scroll tables.
func prepare(tree ast.Node) {
	last := 2
	_ = ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+2, last+1, 6)
			last = n.Level
		case *east.Table:
			n.SetAttributeString("tabindex", []byte("0"))
		}
		return ast.WalkContinue, nil
	})
}

// nodes renders the nodes for which goldmark's output would not be safe in a page.
type nodes struct{}

func (n nodes) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	to.Register(ast.KindRawHTML, n.rawHTML)
	to.Register(ast.KindHTMLBlock, n.htmlBlock)
	to.Register(ast.KindLink, n.link)
	to.Register(ast.KindAutoLink, n.autoLink)
	to.Register(ast.KindImage, n.image)
	to.Register(ast.KindHeading, n.heading)
	to.Register(ast.KindCodeBlock, n.code)
	to.Register(ast.KindFencedCodeBlock, n.code)
	to.Register(east.KindTaskCheckBox, n.checkBox)
}

// rawHTML escapes HTML in a text, because a reader of code wants to see it.
func (nodes) rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		lines := node.(*ast.RawHTML).Segments
		for i := range lines.Len() {
			at := lines.At(i)
			_, _ = w.Write(page.AppendText(nil, string(at.Value(source))))
		}
	}
	return ast.WalkSkipChildren, nil
}

func (nodes) htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := node.(*ast.HTMLBlock)
	raw := linesOf(node, source)
	if block.HasClosure() {
		raw += string(block.ClosureLine.Value(source))
	}
	_, _ = w.WriteString("<p class=\"html\">")
	for i, l := range strings.Split(strings.TrimRight(raw, "\n"), "\n") {
		if i > 0 {
			_, _ = w.WriteString("<br>\n")
		}
		_, _ = w.Write(page.AppendText(nil, l))
	}
	_, _ = w.WriteString("</p>\n")
	return ast.WalkSkipChildren, nil
}

func linesOf(node ast.Node, source []byte) string {
	var b strings.Builder
	for i := range node.Lines().Len() {
		at := node.Lines().At(i)
		b.Write(at.Value(source))
	}
	return b.String()
}

// linkTo returns the address of a link if it is allowed in a page.
func linkTo(address string) (string, bool) {
	address = strings.TrimSpace(address)
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return address, u.Host != ""
	case "mailto":
		return address, true
	}
	return "", false
}

const linkEnd = "\" rel=\"noopener noreferrer nofollow\">"

func (nodes) link(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	link := node.(*ast.Link)
	address, ok := linkTo(string(link.Destination))
	switch {
	case ok && entering:
		_, _ = w.Write(page.AppendText([]byte("<a href=\""), address))
		_, _ = w.WriteString(linkEnd)
	case ok:
		_, _ = w.WriteString("</a>")
	case !entering && len(link.Destination) > 0: // a file, or an address that a page must not open
		_, _ = w.Write(page.AppendText([]byte(" <span class=\"to\">("), string(link.Destination)))
		_, _ = w.WriteString(")</span>")
	}
	return ast.WalkContinue, nil
}

func (nodes) autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := node.(*ast.AutoLink)
	address := string(link.URL(source))
	if link.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
		address = "mailto:" + address
	}
	label := page.AppendText(nil, string(link.Label(source)))
	if address, ok := linkTo(address); ok {
		_, _ = w.Write(page.AppendText([]byte("<a href=\""), address))
		_, _ = w.WriteString(linkEnd)
		_, _ = w.Write(label)
		_, _ = w.WriteString("</a>")
		return ast.WalkContinue, nil
	}
	_, _ = w.Write(label)
	return ast.WalkContinue, nil
}

// image writes a link, because a page loads nothing.
func (nodes) image(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	image := node.(*ast.Image)
	address, ok := linkTo(string(image.Destination))
	switch {
	case entering && ok:
		_, _ = w.Write(page.AppendText([]byte("<a href=\""), address))
		_, _ = w.WriteString(linkEnd + "Image: ")
	case entering:
		_, _ = w.WriteString("Image: ")
	case ok:
		_, _ = w.WriteString("</a>")
	default:
		_, _ = w.Write(page.AppendText([]byte(" <span class=\"to\">("), string(image.Destination)))
		_, _ = w.WriteString(")</span>")
	}
	return ast.WalkContinue, nil
}

// heading writes a heading without an id, because ids could collide with the page's.
func (nodes) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	level := string(rune('0' + min(node.(*ast.Heading).Level, 6)))
	if entering {
		_, _ = w.WriteString("<h" + level + ">")
	} else {
		_, _ = w.WriteString("</h" + level + ">\n")
	}
	return ast.WalkContinue, nil
}

func (nodes) code(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if fenced, ok := node.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(source))
	}
	_, _ = w.WriteString("<pre tabindex=\"0\"><code>")
	_, _ = w.Write(page.AppendCode(nil, linesOf(node, source), language))
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

func (nodes) checkBox(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		mark := "☐ "
		if node.(*east.TaskCheckBox).IsChecked {
			mark = "☑ "
		}
		_, _ = w.WriteString(mark)
	}
	return ast.WalkContinue, nil
}
