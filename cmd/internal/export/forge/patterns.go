package forge

import (
	"regexp"
	"sync"
)

// linePatterns match lines, and parts of them.
type linePatterns struct {
	// What import reads.
	userLine, answerLine, markLine, foldLine, attachedLine, endedLine, missingLine, leftOutLine, branchesLine *regexp.Regexp
	headingLine, planLine, fenceLine, aboutLine, dayPattern                                                   *regexp.Regexp
	callSummary, cutLine, exitOutcome                                                                         *regexp.Regexp

	// These decide how a text is written; see place and plain. The first group is what
	// precedes the place for a backslash.
	oursInMessage, oursInHead *regexp.Regexp
	// definition matches the beginning of a definition of a link or a footnote, even in a list
	// or a quotation, and even if its name continues on the next line.
	definition *regexp.Regexp
	// container matches the beginning of a line in a list or a quotation, or of a line that is
	// indented like one.
	container *regexp.Regexp
	// looseBackslash matches a line whose last character some readers take for an escape of
	// the next line.
	looseBackslash *regexp.Regexp
}

// patterns compiles the patterns at their first use: cortext and its hook link this package,
// and must not take longer to start.
var patterns = sync.OnceValue(func() *linePatterns {
	return &linePatterns{
		callSummary:    regexp.MustCompile(`^(✓|✗|○) <b>(.*)</b> <code>(.*)</code> ?(.*)$`),
		cutLine:        regexp.MustCompile(`(?m)^… \d+ bytes left out …$`),
		exitOutcome:    regexp.MustCompile(`^exit code (-?\d{1,9})$`),
		userLine:       regexp.MustCompile(`^### #\d+ User` + timePattern + `$`),
		answerLine:     regexp.MustCompile(`^#### #\d+ .*?` + timePattern + `$`),
		markLine:       regexp.MustCompile(`^<sub>#\d+` + timePattern + `</sub>$`),
		foldLine:       regexp.MustCompile(`^<details><summary>(<sub>#\d+` + timePattern + `</sub> )?(.*)</summary>$`),
		attachedLine:   regexp.MustCompile(`^\*Attached: (.*), (\d{1,18}) bytes\*$`),
		endedLine:      regexp.MustCompile(`^\*Ended: (interrupted|no text(?:: .*)?)\*$`),
		missingLine:    regexp.MustCompile(`^○ \*\*(.*)\*\* \*not in the log\*$`),
		leftOutLine:    regexp.MustCompile(`^\*Left out: (.*)\.\*$`),
		branchesLine:   regexp.MustCompile(`^\*Messages on other branches: (\d+), not shown\.\*$`),
		headingLine:    regexp.MustCompile(`^\*\*(Summary|Plan|Notes)\*\*$`),
		planLine:       regexp.MustCompile(`^- \[([ x])\](?: (.*))?$`),
		fenceLine:      regexp.MustCompile("^(`{3,})([a-z0-9]*)$"),
		aboutLine:      regexp.MustCompile(`^(.+) · (\d{1,9}) messages$`),
		dayPattern:     regexp.MustCompile(`^\d{1,2} [A-Z][a-z]+ \d{4}$`),
		container:      regexp.MustCompile("^(?:[ \t]*(?:[-+*>]|[0-9]{1,9}[.)])[ \t]*|    |[ ]{0,3}\t)[-+*>0-9.) \t]*(?:```|~~~)"),
		looseBackslash: regexp.MustCompile(`\\[ \t]+$`),
		definition:     regexp.MustCompile(`^((?:[ \t>]|(?:[-+*]|[0-9]{1,9}[.)])[ \t])*)\\*\[(?:[^\[\]\\]|\\.)*(?:\]:|\\?$)`),
		oursInMessage:  regexp.MustCompile(`^( {0,3})\\*(?:#{1,6}[ \t]+(?:#|\\#|&)|\*Attached: |\*Ended: |○ \*\*|\*Left out: |\*Messages on other branches: |\*Exported by cortext)`),
		oursInHead:     regexp.MustCompile(`^( {0,3})\\*(?:#{1,6}[ \t]+(?:#|\\#|&)|\*Attached: |\*Ended: |○ \*\*|\*Left out: |\*Messages on other branches: |\*Exported by cortext|\*\*(?:Summary|Plan|Notes)\*\*[ \t]*$)`),
	}
})
