package highlight

import "strings"

// A Lexer describes the tokens of a language.
type Lexer struct {
	words   map[string]bool // keywords
	line    []string        // starts of comments that end with the line
	block   [][2]string     // starts and ends of block comments
	long    []string        // quotation marks of multi-line strings
	quotes  string          // quotation marks of single-line strings
	types   bool            // capitalized words are types
	dollar  bool            // words may contain $
	at      bool            // words may start with @
	hyphen  bool            // words may contain -
	keys    bool            // a word before a colon is a key
	assigns bool            // a word before an equals sign is a key
	noCalls bool            // a word before a parenthesis is not a function
	anyCase bool            // keywords are case-insensitive
}

// named returns the lexer for a language or a file extension.
func named(name string) (*Lexer, bool) {
	slashes := Lexer{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, types: true}
	hashes := Lexer{line: []string{"#"}, quotes: `"'`}
	var l Lexer
	words := ""
	switch name {
	case "go", "golang":
		l, words = slashes, "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota"
		l.long, l.types = []string{"`"}, false
	case "js", "javascript", "mjs", "cjs", "jsx", "ts", "typescript", "tsx", "mts", "vue", "svelte":
		l, words = slashes, "as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in instanceof interface let new null of private protected public readonly return set static super switch this throw true false try type typeof undefined var void while yield"
		l.long, l.dollar, l.at = []string{"`"}, true, true
	case "py", "python", "pyi", "python3":
		l, words = hashes, "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield self"
		l.long, l.types, l.at = []string{`"""`, "'''"}, true, true
	case "rs", "rust":
		l, words = slashes, "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while"
		l.quotes = `"`
	case "java", "kt", "kotlin", "kts", "scala", "groovy", "gradle":
		l, words = slashes, "abstract as assert boolean break byte case catch char class companion const continue data def default do double else enum extends false final finally float for fun if implements import in instanceof int interface internal is lateinit long match new null object open override package private protected public return sealed short static super suspend switch synchronized this throw throws trait true try val var void volatile when while with yield"
		l.long, l.at = []string{`"""`}, true
	case "c", "h", "cc", "cpp", "c++", "cxx", "hpp", "hh", "m", "mm", "objc", "cu", "proto", "glsl":
		l, words = slashes, "alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false final float for friend goto if inline int long message namespace new noexcept nullptr operator override private protected public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while include define ifdef ifndef endif repeated optional"
	case "cs", "csharp", "c#":
		l, words = slashes, "abstract as async await base bool break byte case catch char class const continue decimal default delegate do double else enum event explicit extern false finally fixed float for foreach get if implicit in init int interface internal is lock long namespace new null object operator out override params private protected public readonly record ref return sealed set short static string struct switch this throw true try typeof uint using var virtual void while yield"
	case "swift", "dart", "zig":
		l, words = slashes, "as async await break case catch class const continue default defer do else enum extension export extends false final for func guard if import in init inout is let nil null override private protocol pub public return self static struct super switch this throw throws true try typealias var void where while with"
		l.long, l.at = []string{`"""`}, true
	case "php":
		l, words = slashes, "abstract and array as break case catch class const continue default do echo else elseif extends false final finally fn for foreach function global if implements include interface isset match namespace new null or private protected public require require_once return static switch throw trait true try use var while yield"
		l.line, l.dollar = []string{"//", "#"}, true
	case "rb", "ruby", "rake", "gemfile", "ex", "exs", "elixir", "cr":
		l, words = hashes, "alias and begin break case class cond def defmodule defp defstruct do else elsif end ensure false fn for if import in include module next nil not or private raise redo require rescue return self super then true unless until use when while with yield"
		l.types, l.at = true, true
	case "sh", "bash", "zsh", "shell", "console", "fish", "shellscript", "bashrc", "zshrc":
		l, words = hashes, "case do done elif else esac export fi for function if in local return select set then until unset while echo cd exit source"
		l.dollar, l.noCalls, l.hyphen = true, true, true
	case "ps1", "powershell", "r", "jl", "julia", "pl", "perl", "nix", "tcl":
		l, words = hashes, "begin break case catch do else elseif end export false for foreach function if import in let local my next null package param process return rec struct sub then throw true try unless use using while with inherit"
		l.dollar = true
	case "sql", "psql", "mysql", "sqlite":
		l, words = Lexer{line: []string{"--"}, block: [][2]string{{"/*", "*/"}}, quotes: `'"`, anyCase: true}, "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references replace returning right rollback select set table then transaction trigger union unique update using values view when where with"
	case "json", "jsonc", "json5", "jsonl", "ndjson":
		l, words = Lexer{line: []string{"//"}, quotes: `"`, keys: true}, "true false null"
	case "yaml", "yml", "compose":
		l, words = hashes, "true false null yes no on off"
		l.keys, l.hyphen = true, true
	case "toml", "ini", "cfg", "conf", "properties", "env", "editorconfig", "gitconfig":
		l, words = hashes, "true false"
		l.line, l.assigns, l.hyphen = []string{"#", ";"}, true, true
	case "css", "scss", "less", "sass":
		l, words = Lexer{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, keys: true, hyphen: true, at: true}, "important from to"
	case "html", "xml", "svg", "htm", "xhtml", "plist":
		l = Lexer{block: [][2]string{{"<!--", "-->"}}, quotes: `"`, hyphen: true, assigns: true, noCalls: true}
	case "lua", "hs", "haskell", "elm", "ada":
		l, words = Lexer{line: []string{"--"}, block: [][2]string{{"{-", "-}"}}, quotes: `"`, types: true}, "and break case class data deriving do else elseif end false for function goto if import in instance let local module newtype nil not of or repeat return then true type until where while"
	case "make", "makefile", "mk", "dockerfile", "docker", "cmake", "hcl", "tf", "terraform", "justfile":
		l, words = hashes, "ifeq ifneq else endif include define endef from run cmd copy add workdir env expose entrypoint arg volume user label resource variable output provider module data locals set project"
		l.anyCase, l.assigns = true, true
	case "clj", "cljs", "lisp", "el", "scm", "edn":
		l, words = Lexer{line: []string{";"}, quotes: `"`, hyphen: true, noCalls: true}, "def defn defmacro defun fn if let lambda cond do when loop recur ns require setq nil true false"
	default:
		return nil, false
	}
	l.words = map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		l.words[word] = true
	}
	return &l, true
}
