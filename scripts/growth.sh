#!/usr/bin/env bash
# growth.sh [TURNS]: commits a conversation after each of TURNS turns (default 200), and prints
# how many bytes a message adds to the repository after git gc, with the outputs of tool
# calls in it and without.
set -euo pipefail
cd "$(dirname "$0")/.."
CORTEXT_GROWTH=${1:-200} go test -count=1 -v -timeout=0 -run '^TestGrowth$' ./cmd/cortext
