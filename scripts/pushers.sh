#!/usr/bin/env bash
# pushers.sh [CLONES [SECONDS]]: lets CLONES clones (default 20) add to one conversation and
# push it to one remote for SECONDS (default 600), and checks that every message arrives
# once. It prints how often each lost a race.
set -euo pipefail
cd "$(dirname "$0")/.."
CORTEXT_PUSHERS=${1:-20} CORTEXT_PUSHERS_SECONDS=${2:-600} go test -count=1 -v -timeout=0 -run '^TestPushers$' ./cmd/cortext
