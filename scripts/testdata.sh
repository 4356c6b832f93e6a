#!/usr/bin/env bash
# Makes testdata/workspace again: the real agent has the conversation that
# cmd/cortext/workspace_test.go holds, against a model server on loopback. Brings
# the agent first if it is not there (see install-agents.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-agents.sh
CORTEXT_REQUIRE_ALL=1 go test ./cmd/cortext -run '^TestWorkspace$' -count=1 -update
git status --short testdata/workspace
echo "commit this, then: go test ./cmd/cortext -run '^TestWorkspaceIsCurrent$'"
