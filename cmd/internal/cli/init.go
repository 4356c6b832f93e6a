package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/commits"
	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/install"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// The values of --commit and of --capture.
var (
	commitTimes = []string{settings.CommitStop, settings.CommitRef, settings.CommitOff}
	captures    = []string{settings.CaptureCommands, settings.CaptureAll}
)

type initOptions struct {
	agents      []string
	commit      string
	capture     string
	dryRun      bool
	plugin      bool
	status      bool
	noUser      bool
	yes         bool
	noDriver    bool
	linkCommits bool
}

func initCommand(a *app) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up a workspace in this folder",
		Long: `Creates .workspace/, which holds the settings and the prompts of the conversation
types, and adds lines to .gitattributes that let git merge conversations. It also makes
cortext the merge driver for them in this clone, because git does not commit that setting.
With --agent it also installs that agent's slash commands and hooks. Commit these files:
they do nothing for people who do not have cortext. On a terminal, init lists its changes
and asks before it makes them.

You can run it again at any time. Without --agent it updates the files of the agents that
are already set up, for example after you add a type to .workspace/commands or change a
setting. It keeps your edits.`,
		Example: "  cortext init",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runInit(a, cmd, o) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.agents, "agent", nil, "install slash commands and hooks for `AGENT`: claude, opencode, gemini, or a comma-separated list")
	f.BoolVar(&o.noUser, "no-user", false, "for gemini: do not change ~/.gemini/settings.json; commands then work only if Gemini CLI starts at the top of the workspace")
	f.BoolVar(&o.plugin, "plugin", false, "for opencode: install a plugin that captures each turn; OpenCode then takes about a minute longer to start if it cannot reach the npm registry")
	f.BoolVar(&o.status, "status-line", false, "for claude: show the conversation below the prompt, after your own status line")
	f.StringVar(&o.commit, "commit", "", "`WHEN` to commit a conversation to git: stop, ref (when it is stopped, but to no branch) or off (default: off; on a terminal, ask)")
	f.StringVar(&o.capture, "capture", "", "`WHICH` sessions to capture: commands (those that use a /workspace command) or all (default: commands; on a terminal, ask)")
	f.BoolVar(&o.noDriver, "no-merge-driver", false, "let git merge conversations in this clone without cortext, and remove the merge driver of an earlier init")
	f.BoolVar(&o.linkCommits, "link-commits", false, "add the active conversation to commit messages, with git hooks in this clone; =false removes the hooks")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask: use the defaults and the agents found on this machine")
	f.BoolVar(&o.dryRun, "dry-run", false, "list the files that would change, without changing them")
	f.BoolVar(&a.screen.asJSON, "json", false, "print the changes as JSON")
	return cmd
}

// check rejects unknown values. In an existing workspace, the values must be those in
// effect, so that init can be repeated after a failure.
func (r *initRun) check() error {
	var now settings.Config
	o := r.initOptions
	if !r.isNew && o.commit+o.capture != "" {
		w, err := install.Open(r.app.env(r.cmd, r.dir))
		if err != nil {
			return err
		}
		now = w.Config
		w.Close()
	}
	for _, f := range []struct {
		name, value, now string
		allowed          []string
	}{
		{"commit", o.commit, now.Commit, commitTimes},
		{"capture", o.capture, now.Capture, captures},
	} {
		switch {
		case f.value == "":
		case !slices.Contains(f.allowed, f.value):
			return &usageError{fmt.Sprintf("--%s is %q, not %s", f.name, f.value, orList(f.allowed)), ""}
		case !r.isNew && !o.dryRun && f.value != f.now:
			return &usageError{"--" + f.name + " is for a new workspace", "change " + f.name + " in " + settings.WorkspaceFile}
		}
	}
	return nil
}

func runInit(a *app, cmd *cobra.Command, o initOptions) error {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	_, err = os.Lstat(filepath.Join(dir, store.AttributesFile))
	r := initRun{app: a, cmd: cmd, dir: dir, isNew: install.IsNew(dir), hasAttributes: err == nil, initOptions: o}
	if err := r.check(); err != nil {
		return err
	}
	if r.isNew { // a new one would take the place of the one that git has
		if err := workspace.WantCheckedOut(cmd.Context(), dir); err != nil {
			return err
		}
	}
	asks := a.terminal.present() && !a.screen.asJSON && !o.dryRun
	if len(o.agents) == 0 {
		if err := r.chooseAgents(asks || o.yes); err != nil {
			return err
		}
	}
	// Report problems with an agent before writing anything.
	planned, err := r.plan()
	if err != nil {
		return err
	}
	if o.dryRun {
		return r.dryRun(planned)
	}
	shown := false // whether the user has seen the changes
	if asks {
		if planned, shown, err = r.confirm(planned); err != nil {
			return err
		}
	}
	created, err := r.write(planned)
	if err != nil {
		return err
	}
	if err := linksOn(a.Machine).make(); err != nil {
		a.screen.warn("the hooks find cortext on the PATH only: " + err.Error())
	}
	merging, driverErr := r.mergeDriver()
	if driverErr != nil {
		a.screen.warn("git's merge driver stays as it was: " + driverErr.Error())
	}
	linked, err := r.commitHooks()
	if err != nil {
		a.screen.warn(err.Error())
	}
	merging += linked
	if a.screen.asJSON {
		return printInitJSON(a.screen, dir, created, planned)
	}
	if !shown {
		printGroups(a.screen, append(r.own(created), planned...), verbs{"made ", "updated ", "removed "})
	}
	printKept(a.screen, planned)
	fmt.Fprint(a.screen.out, merging)
	changed := len(created)+changing(planned)+len(merging) > 0
	if !changed && err == nil && driverErr == nil {
		fmt.Fprintf(a.screen.out, "%s is up to date, nothing to do\n", visible(dir))
	}
	start, missing := r.ready()
	for _, text := range missing {
		fmt.Fprintln(a.screen.out, text)
	}
	r.checkPath()
	if changed {
		printNext(a.screen, r.agents, start)
		if r.isNew && !r.status && slices.Contains(r.agents, "claude") {
			fmt.Fprintln(a.screen.out, "cortext init --status-line shows the conversation below Claude Code's prompt.")
		}
	}
	return nil
}

// An initRun is one call of init.
type initRun struct {
	app           *app
	cmd           *cobra.Command
	dir           string
	isNew         bool
	hasAttributes bool // the folder has a .gitattributes
	found         bool // the agents are those found on this machine
	again         bool // the agents come from an earlier init, so nobody is asked
	initOptions
}

// chooseAgents chooses the agents whose commands are in the workspace. If there are none,
// it chooses the agents installed on this machine, provided that the user can confirm or
// used --yes.
func (r *initRun) chooseAgents(agreed bool) (err error) {
	r.agents, err = r.agentsSetUp()
	switch {
	case err != nil:
	case len(r.agents) > 0:
		r.again = !agreed
	case agreed:
		r.agents, r.found = r.agentsFound(), true
	}
	return err
}

// agentsSetUp lists the agents whose commands are in the workspace.
func (r *initRun) agentsSetUp() (names []string, err error) {
	w, err := install.Open(r.app.env(r.cmd, r.dir))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for _, agent := range r.app.Agents {
		if install.New(w).SetUp(agent.Name()) {
			names = append(names, agent.Name())
		}
	}
	return names, nil
}

// agentsFound lists the agents installed on this machine.
func (r *initRun) agentsFound() (names []string) {
	for _, agent := range r.app.Agents {
		err := r.preflight(agent)
		var stopped *inject.PreflightError
		if !errors.As(err, &stopped) || !stopped.Missing {
			names = append(names, agent.Name())
		}
	}
	return names
}

// preflight reports what prevents using an agent in the folder.
func (r *initRun) preflight(agent inject.Agent) error {
	launcher, ok := agent.(inject.Launcher)
	if !ok {
		return nil
	}
	_, err := launcher.Ready(r.app.Machine, inject.Request{Dir: r.dir, Root: r.dir})
	return err
}

// plan plans the agents' files. If there is no workspace yet, it assumes one with the
// built-in prompts.
func (r *initRun) plan() (all []inject.Change, err error) {
	if len(r.agents) == 0 {
		return nil, nil
	}
	w, err := install.Open(r.app.env(r.cmd, r.dir))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	r.app.screen.warn(w.Warnings...)
	for _, name := range r.agents {
		installer := install.New(w)
		user := !r.noUser && (!r.again || installer.InHome(name)) // what an earlier init left out is not added
		changes, err := installer.Plan(name, install.Options{Plugin: r.plugin, Status: r.status, User: user})
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	return all, nil
}

// dryRun prints what init would do, file by file.
func (r *initRun) dryRun(planned []inject.Change) error {
	missing, err := install.Missing(r.dir)
	if err != nil {
		return err
	}
	if r.app.screen.asJSON {
		return printInitJSON(r.app.screen, r.dir, missing, planned)
	}
	printDryInit(r.app.screen, append(r.own(missing), planned...))
	return nil
}

// showPlan shows the user at the terminal what init will do, and reports whether there is
// anything to do.
func (r *initRun) showPlan(planned []inject.Change) (bool, error) {
	missing, err := install.Missing(r.dir)
	if err != nil || len(missing)+changing(planned) == 0 {
		return false, err
	}
	fmt.Fprintf(r.app.screen.out, "In %s, cortext will\n", visible(r.dir))
	printGroups(r.app.screen, append(r.own(missing), planned...), verbs{"  make ", "  update ", "  remove "})
	fmt.Fprintf(r.app.screen.out, "  link %s/ to this program\n", visible(r.app.screen.fromHome(linksOn(r.app.Machine).dir, "~")))
	if d, err := mergeDriver(linksOn(r.app.Machine)); err == nil && git.CommonDir(r.dir) != "" && !r.noDriver && !d.In(r.dir) {
		fmt.Fprintln(r.app.screen.out, "  set merge.cortext in this clone's git configuration")
	}
	return true, nil
}

// confirm shows the user the changes and asks for settings that no flag sets. If the
// answers change the plan, it returns the new plan, which the user has not seen.
func (r *initRun) confirm(planned []inject.Change) (_ []inject.Change, shown bool, err error) {
	if shown, err = r.showPlan(planned); err != nil || !shown || r.yes {
		return planned, shown, err
	}
	before := r.agents
	if err = r.ask(); err == nil && !slices.Equal(before, r.agents) {
		shown = false
		planned, err = r.plan()
	}
	return planned, shown, err
}

// ask asks for settings that no flag sets. Nothing has been changed yet.
func (r *initRun) ask() (err error) {
	ctx := r.cmd.Context()
	if r.found && len(r.agents) > 0 {
		if r.agents, err = r.askAgents(ctx, r.agents); err != nil {
			return err
		}
	}
	if !r.isNew {
		return nil
	}
	for _, q := range []struct {
		applies  bool
		setting  *string
		yes      string
		question string
	}{
		{len(r.agents) > 0, &r.capture, settings.CaptureAll, "Capture all sessions, not only /workspace ones?"},
		{true, &r.commit, settings.CommitStop, "Commit each conversation's folder when it is stopped?"},
	} {
		if !q.applies || *q.setting != "" {
			continue
		}
		yes, err := r.app.terminal.ask(ctx, q.question)
		if err != nil {
			return err
		}
		if yes {
			*q.setting = q.yes
		}
	}
	return nil
}

// askAgents asks which agents the workspace is for. It returns found if the user presses
// Enter.
func (r *initRun) askAgents(ctx context.Context, found []string) ([]string, error) {
	known := r.app.agentNames()
	for {
		fmt.Fprintf(r.app.screen.out, "For which agents? [%s] ", strings.Join(found, ","))
		line, err := r.app.terminal.line(ctx)
		switch {
		case err != nil || line == "":
			return found, err
		case line == "none":
			return nil, nil
		}
		names := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
		i := slices.IndexFunc(names, func(name string) bool { return !slices.Contains(known, name) })
		if i < 0 {
			return names, nil
		}
		fmt.Fprintf(r.app.screen.out, "there is no agent %q, only %s, or none\n", names[i], strings.Join(known, ", "))
	}
}

// write creates the workspace and writes the agents' files.
func (r *initRun) write(planned []inject.Change) (created []string, err error) {
	created, err = install.Init(r.dir, r.commit, r.capture)
	if err != nil {
		return created, err
	}
	w, err := workspace.Open(r.app.env(r.cmd, r.dir))
	if err != nil {
		return created, err
	}
	defer w.Close()
	_ = w.Registry.Workspaces.See(w.Here)
	if len(planned) == 0 {
		return created, nil
	}
	return created, install.New(w).Apply(planned)
}

// mergeDriver sets up or removes the merge driver of the clone. It returns a line that says
// so, or "" if there was nothing to do.
func (r *initRun) mergeDriver() (done string, err error) {
	d, err := mergeDriver(linksOn(r.app.Machine))
	if err != nil || git.CommonDir(r.dir) == "" {
		return "", err
	}
	if r.noDriver { // do not offer it again
		registry.In(workspace.StateDir(r.app.Machine)).Suggest(driverSuggestion, registry.At(r.dir).Place())
	}
	switch is := d.In(r.dir); {
	case r.noDriver && is:
		done, err = "removed merge.cortext from this clone's git configuration\n", d.Unset(r.cmd.Context(), r.dir)
	case !r.noDriver && !is:
		done, err = "set merge.cortext in this clone's git configuration\n", d.Set(r.cmd.Context(), r.dir)
	}
	if err != nil {
		return "", err
	}
	return done, nil
}

// commitHooks adds our lines to git's hooks or removes them, if the user asks for it. It
// returns lines that say so.
func (r *initRun) commitHooks() (done string, err error) {
	switch {
	case !r.cmd.Flags().Changed("link-commits"):
		return "", nil
	case !r.linkCommits:
		is, err := commits.Unlink(r.cmd.Context(), r.dir)
		if is {
			done = "removed the link from this clone's commits to conversations\n"
		}
		if err != nil {
			err = fmt.Errorf("a git hook still has the lines of cortext: %w", err)
		}
		return done, err
	}
	files, err := commits.Link(r.cmd.Context(), r.dir)
	for _, file := range files {
		done += fmt.Sprintf("made commits name their conversation, in %s\n", visible(file))
	}
	if err != nil {
		err = fmt.Errorf("commits are not linked to conversations: %w", err)
	}
	return done, err
}

// ready returns the first chosen agent that is installed, and a line for each thing that
// prevents an agent from starting.
func (r *initRun) ready() (start string, missing []string) {
	for _, agent := range r.app.Agents {
		chosen := slices.Contains(r.agents, agent.Name())
		if !chosen && !r.found {
			continue
		}
		err := r.preflight(agent)
		var stopped *inject.PreflightError
		uninstalled := errors.As(err, &stopped) && stopped.Missing
		if chosen && !uninstalled && start == "" {
			start = agent.Name()
		}
		switch {
		case err == nil || !chosen && !uninstalled:
		case uninstalled:
			way, _, _ := strings.Cut(stopped.Fix, ";") // the rest is about launching
			missing = append(missing, fmt.Sprintf("%s is not installed: %s", stopped.Agent, way))
		case stopped != nil:
			missing = append(missing, fmt.Sprintf("%s: %s", visible(err.Error()), visible(stopped.Fix)))
		default:
			missing = append(missing, visible(err.Error()))
		}
	}
	if slices.Contains(r.agents, "opencode") {
		if _, err := companion.OpenCode.Find(); err != nil {
			missing = append(missing, fmt.Sprintf("cortext cannot read OpenCode's conversations: %v", err))
		}
	}
	return start, missing
}

// checkPath says what to do if cortext is not on the PATH.
func (r *initRun) checkPath() {
	if _, err := exec.LookPath("cortext"); err == nil {
		return
	}
	links := linksOn(r.app.Machine)
	if _, err := os.Stat(filepath.Join(links.dir, "cortext")); err != nil {
		r.app.screen.warn("cortext is not on your PATH, where the hooks look for it: they do nothing until it is")
		return
	}
	fmt.Fprintf(r.app.screen.out, "cortext is not on your PATH. The agents find it. To type it:\n  export PATH=\"$PATH:%s\"\n", visible(r.app.screen.fromHome(links.dir, "$HOME")))
}
