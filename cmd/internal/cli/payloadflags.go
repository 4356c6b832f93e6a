package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/payload"
	"cortext/resume"
)

// payloadFlags are the flags that control what a payload includes.
type payloadFlags struct {
	payload.Options
	since     string
	sinceThen bool
}

// A branchFlag is the number of a branch, or [history.AllBranches].
type branchFlag int

func (b *branchFlag) Set(text string) error {
	if text == "all" {
		*b = history.AllBranches
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("it is a number from 1, as cortext show counts, or all")
	}
	*b = branchFlag(n)
	return nil
}

func (b *branchFlag) String() string {
	switch *b {
	case 0:
		return ""
	case history.AllBranches:
		return "all"
	}
	return strconv.Itoa(int(*b))
}

func (b *branchFlag) Type() string { return "branch" }

// define defines the flags.
func (o *payloadFlags) define(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.Budget, "budget", 0, "limit the payload to `N` tokens (default: the model's context window minus what the agent needs)")
	f.IntVar(&o.Window, "window", 0, "the model's context window is `N` tokens (default: the known size)")
	f.StringVar(&o.Strategy, "strategy", "", "how to shorten a history that does not fit: `NAME` is one of "+strings.Join(resume.Strategies(), ", ")+" (default: ranked)")
	f.IntVar(&o.Last, "last", 0, "include only the last `N` messages")
	f.StringVar(&o.since, "since", "", "only conversations active since `WHEN`, and only messages since then: "+whenForms)
	f.Var((*branchFlag)(&o.Branch), "branch", "continue branch `N`, as shown by cortext show, or all: the newest, with the others in the payload (default: the newest)")
	f.BoolVar(&o.sinceThen, "since-then", true, "include the commits and changed files since the last message")
}

// check rejects invalid flags.
func (o *payloadFlags) check(cmd *cobra.Command, now time.Time) error {
	switch {
	case o.Last < 0:
		return &usageError{"--last must not be negative", ""}
	case o.Window < 0:
		return &usageError{"--window must not be negative", ""}
	case cmd.Flags().Changed("budget") && o.Budget < resume.MinBudget:
		return &usageError{fmt.Sprintf("--budget %d is too small: the minimum is %d", o.Budget, resume.MinBudget), ""}
	}
	if o.Strategy = strings.ToLower(o.Strategy); o.Strategy != "" {
		if err := knownWord("--strategy", o.Strategy, resume.Strategies()); err != nil {
			return err
		}
	}
	o.Quiet = !o.sinceThen
	at, err := whenOf("--since", o.since, now)
	o.Since = at.from
	return err
}
