#!/usr/bin/env bash
# Recreates testdata/workspace: the real agent holds the conversation scripted in
# cmd/cortext/workspace_test.go, against a model server on loopback. Installs the agent
# first if it is missing (see install-agents.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-agents.sh
CORTEXT_REQUIRE_ALL=1 go test ./cmd/cortext -run '^TestWorkspace$' -count=1 -update
git status --short testdata/workspace
echo "commit this, then: go test ./cmd/cortext -run '^TestWorkspaceIsCurrent$'"
