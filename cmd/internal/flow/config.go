package flow

import "cortext/cmd/internal/workspace"

// Config holds the settings of a workspace.
type Config = workspace.Config

// ConfigFile holds the settings of a workspace.
const ConfigFile = workspace.ConfigFile

// The values of Config.Commit.
const (
	CommitOff  = workspace.CommitOff
	CommitStop = workspace.CommitStop
)

// The values of Config.Autosave.
const (
	AutosaveTurn  = workspace.AutosaveTurn
	AutosavePause = workspace.AutosavePause
	AutosaveOff   = workspace.AutosaveOff
)

// The values of Config.Summarizer.
const (
	Extractive    = workspace.SummarizerExtractive
	ByAgent       = workspace.SummarizerAgent
	ByOpenAI      = workspace.SummarizerOpenAI
	SummarizerOff = workspace.SummarizerOff
)
