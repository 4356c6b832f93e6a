package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// chatCommand returns the command that runs if cortext gets no command: it resumes a
// conversation or starts one.
func chatCommand(a *app) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "chat [query] [-- arguments for the agent]",
		Short: "Choose a conversation to resume, or start one",
		Long: `Resumes a conversation in an agent, as cortext resume does, or starts a new one. Without
a query or a flag you choose from a list. Without the word chat, cortext -c, -r, -n and
--session do the same.`,
		Example: "  cortext -c\n  cortext -r \"api design\" --agent gemini\n  cortext -n plan the release",
		Args:    args(cobra.ArbitraryArgs),
	}
	o.define(a, cmd)
	defineChoice(cmd.Flags(), &o.session)
	return cmd
}

// optional is the value of a flag that was given without its optional value. The words
// after the flag are then its value.
const optional = " "

// defineStart defines the flags that resume and chat share for choosing a conversation.
func defineStart(f *pflag.FlagSet, latest *bool) {
	f.BoolVarP(latest, "continue", "c", false, "resume the most recently active conversation")
	f.StringP("new", "n", "", "start a conversation with the `[TYPE] [TOPIC]` that follow")
	f.Lookup("new").NoOptDefVal = optional
}

// defineChoice defines the flags that only chat has.
func defineChoice(f *pflag.FlagSet, session *string) {
	f.StringP("resume", "r", "", "choose a conversation, or resume the one that matches `[QUERY]`")
	f.Lookup("resume").NoOptDefVal = optional
	f.StringVar(session, "session", "", "resume the conversation with `ID`, without asking which")
}

// start evaluates the flags that choose a conversation, of which at most one may be set. It
// returns the words from the flag and the arguments.
func (o *resumeOptions) start(cmd *cobra.Command, list []string) ([]string, error) {
	var set []string
	for _, name := range []string{"continue", "new", "resume", "session"} {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		set = append(set, "--"+name)
		if value := f.Value.String(); f.NoOptDefVal == optional && value != optional {
			list = append([]string{value}, list...)
		}
	}
	o.fresh = slices.Contains(set, "--new")
	switch {
	case len(set) > 1:
		return nil, &usageError{strings.Join(set, " and ") + " cannot be combined", ""}
	case slices.Contains(set, "--session"):
		if len(list) > 0 || o.session == "" {
			return nil, &usageError{"--session takes one id and no query", ""}
		}
		list = []string{o.session}
	case o.latest && len(list) > 0:
		return nil, &usageError{"--continue cannot be combined with a query", ""}
	case o.fresh && (o.print || o.dryRun || o.list || o.here):
		return nil, &usageError{"--new starts a conversation: it cannot be combined with --print, --dry-run, --list or --here", ""}
	}
	return list, nil
}

// only returns a filter for the flags, or nil if they select everything.
func (o *resumeOptions) only(now time.Time) (*listing.Filter, error) {
	f, err := o.candidates.filter(now)
	if err != nil || !o.candidates.narrows() {
		return nil, err
	}
	f.All, f.Archived = len(f.Statuses) == 0, true
	return &f, nil
}

// recent returns the conversations that were active since the time of --since.
func recent(list []store.Entry, since time.Time) (kept []store.Entry) {
	for _, e := range list {
		if !e.Session.LastActive.Time().Before(since) {
			kept = append(kept, e)
		}
	}
	return kept
}

// runFresh starts a conversation in an agent. If the first word is a type, the conversation
// has that type; the other words are the topic.
func runFresh(a *app, cmd *cobra.Command, words []string, o resumeOptions) error {
	if err := o.check(cmd, a.Now()); err != nil {
		return err
	}
	if !o.headless && !a.terminal.present() {
		return noTerminal()
	}
	w, err := a.open(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	defer a.close(ctx, w)
	typ, topic, err := typeAndTopic(w.Prompts, strings.Fields(strings.Join(words, " ")))
	if err != nil {
		return err
	}
	return newStarter(a, w, o).start(ctx, newChat{typ, topic})
}

// A newChat is a conversation to start in an agent.
type newChat struct{ typ, topic string }

// typeAndTopic splits the words of --new. If the first word is not a type, the type is chat,
// unless the word looks like a misspelled type.
func typeAndTopic(p workspace.Prompts, words []string) (typ, topic string, err error) {
	const usual = "chat"
	if len(words) == 0 {
		return usual, "", nil
	}
	err = p.Check(words[0])
	var unknown *workspace.TypeError
	switch {
	case err == nil:
		return words[0], strings.Join(words[1:], " "), nil
	case !errors.As(err, &unknown), unknown.Near != "" && len(words) > 1:
		return "", "", err
	}
	return usual, strings.Join(words, " "), nil
}

// entryFlags are the flags that stand for the command chat.
var entryFlags = []string{"-c", "--continue", "-r", "--resume", "-n", "--new", "--session"}

// withCommand inserts the command chat if the arguments have one of its flags but no
// command.
func withCommand(args []string) []string {
	at := 0
	if completing(args) {
		last := len(args) - 1
		return append(append(args[:1:1], withCommand(args[1:last])...), args[last])
	}
	for ; at < len(args); at++ {
		switch arg := args[at]; {
		case arg == "-C", arg == "--directory":
			at++
			continue
		case strings.HasPrefix(arg, "-C"), strings.HasPrefix(arg, "--directory="), strings.HasPrefix(arg, "--no-pager"):
			continue
		case !strings.HasPrefix(arg, "-"), arg == "-h", arg == "--help", arg == "--version":
			return args
		}
		break
	}
	for i := at; i < len(args) && args[i] != "--"; i++ {
		name, _, _ := strings.Cut(args[i], "=")
		if slices.Contains(entryFlags, name) || len(name) > 2 && slices.Contains(entryFlags, name[:2]) {
			return slices.Insert(slices.Clone(args), at, "chat")
		}
	}
	return args
}

// checkAttached refuses words attached to -n or -r: the flags take no value of their own, so
// -nplan would start a conversation and send "lan" to a model, as -n -p lan does.
func checkAttached(args []string) error {
	if c := commandIn(args); c != "chat" && c != "resume" {
		return nil
	}
	for i, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return nil
		case i > 0 && args[i-1] == "-p": // its text
		case len(name) > 2 && (name[:2] == "-n" || name[:2] == "-r") && name[2:] != "p":
			return &usageError{fmt.Sprintf("%s: nothing may be attached to %s", name, name[:2]), "put a space after it: " + name[:2] + " " + name[2:]}
		}
	}
	return nil
}
