package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mozillazg/go-unidecode"

	"cortext/schema"
)

// The names in a workspace (FORMAT.md, "Files"), relative to it.
const (
	workspaceDir     = ".workspace"
	localDir         = workspaceDir + "/local"
	cacheDir         = localDir + "/cache"
	tmpDir           = cacheDir + "/tmp"
	locksDir         = cacheDir + "/locks"
	keptDir          = localDir + "/kept"
	backupsDir       = keptDir + "/backups"
	waitingDir       = keptDir + "/waiting" // records that could not be put into the work tree
	takenDir         = keptDir + "/taken"   // records that git took from the work tree
	conversationsDir = "conversations"

	sessionDir   = ".session"
	sessionFile  = "session.json"
	messagesFile = "messages.jsonl"
	toolsFile    = "tools.jsonl"
	subagentsDir = "subagents"
	summariesDir = "summaries"
)

// MessagesLog is the path of the log of messages within a conversation's folder.
const MessagesLog = sessionDir + "/" + messagesFile

// ToolsLog is the path of the log of tool calls, likewise.
const ToolsLog = sessionDir + "/" + toolsFile

// The modes of private files: conversations, backups, bytes set aside.
const (
	privateDirMode  fs.FileMode = 0o700
	privateFileMode fs.FileMode = 0o600
)

// checkPath rejects a name that is not a path in the workspace.
func checkPath(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00") {
		return fmt.Errorf("%q is not a path relative to the workspace, with slashes", name)
	}
	return nil
}

func checkConversationPath(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	if parts := strings.Split(name, "/"); len(parts) != 3 || parts[0] != conversationsDir {
		return fmt.Errorf("%q is not of the form %s/<day>/<folder>: %w", name, conversationsDir, ErrNotFound)
	}
	return nil
}

// private reports whether only the owner may read a path.
func private(name string) bool {
	return within(localDir, name) || slices.Contains(strings.Split(name, "/"), sessionDir)
}

func dirMode(name string) fs.FileMode {
	if private(name) {
		return privateDirMode
	}
	return 0o777
}

func fileMode(name string) fs.FileMode {
	if private(name) {
		return privateFileMode
	}
	return 0o666
}

// disposable reports whether a power cut may lose a folder: the cache, the backups, which
// are needed only while session.json is unreadable, and summaries.
func disposable(dir string) bool {
	return within(cacheDir, dir) || within(backupsDir, dir) || path.Base(dir) == summariesDir && path.Base(path.Dir(dir)) == sessionDir
}

// within reports whether a path is dir or below it.
func within(dir, name string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// slugBytes bounds a slug, so that folder names stay readable in a list and far below the
// limits of file systems.
const slugBytes = 48

// Slug turns a title into a part of a folder name: lower-case ASCII letters, digits and
// single hyphens, at most 48 bytes. Letters of other scripts are transliterated. It is
// "untitled" if nothing is left, and never a name that Windows reserves.
func Slug(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range title {
		if b.Len() > 2*slugBytes {
			break
		}
		if r >= 0x80 && r != '’' && !unicode.IsMark(r) {
			latin := unidecode.Unidecode(string(r))
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				latin = " " // a sign, such as © or an emoji
			}
			gap = gap || strings.HasPrefix(latin, " ")
			for _, c := range []byte(strings.ToLower(latin)) {
				gap = appendSlug(&b, rune(c), gap)
			}
			continue
		}
		gap = appendSlug(&b, unicode.ToLower(r), gap)
	}
	slug := b.String()
	if len(slug) > slugBytes {
		cut := slug[:slugBytes+1]
		if i := strings.LastIndexByte(cut, '-'); i > 0 {
			slug = cut[:i]
		} else {
			slug = cut[:slugBytes]
		}
	}
	if slug == "" {
		return "untitled"
	}
	if schema.ReservedName(slug) {
		slug += "-0"
	}
	return slug
}

// appendSlug appends a character to a slug if it belongs in one. gap says whether anything
// was left out since the last character, as does the result.
func appendSlug(b *strings.Builder, r rune, gap bool) bool {
	if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') {
		return gap || r != '\'' && r != '’' && !unicode.IsMark(r)
	}
	if gap && b.Len() > 0 {
		b.WriteByte('-')
	}
	b.WriteRune(r)
	return false
}

// digest returns a short name for bytes: 32 hex digits of their SHA-256.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// folderName parses a conversation's folder name. 1030-brainstorm-api-design-hv37 and,
// from older versions, 001-brainstorm-api-design are of type brainstorm and about "api
// design".
func folderName(name string) (typ, about string) {
	number, rest, ok := strings.Cut(name, "-")
	if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return "", strings.ReplaceAll(name, "-", " ")
	}
	if _, err := time.Parse("1504", number); err == nil {
		if i := strings.LastIndexByte(rest, '-'); isIDEnd(rest[i+1:]) && strings.Count(rest, "-") > 1 {
			rest = rest[:i]
		}
	}
	typ, about, _ = strings.Cut(rest, "-")
	return typ, strings.ReplaceAll(about, "-", " ")
}

// isIDEnd reports whether s may be the end of an id.
func isIDEnd(s string) bool {
	return len(s) >= idEndLen && strings.Trim(s, "0123456789abcdefghjkmnpqrstvwxyz") == ""
}
