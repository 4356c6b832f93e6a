#!/usr/bin/env bash
# Redraws .github/resume.svg: resumes the conversation in testdata/workspace in the
# real agent, in a terminal of fixed size. Installs the agent first if it is missing
# (see install-agents.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-agents.sh
CORTEXT_REQUIRE_ALL=1 go test ./cmd/cortext -run '^TestPicture$' -count=1 -update
git status --short .github/resume.svg
echo "commit this, then: go test ./cmd/cortext -run '^TestPicture$'"
