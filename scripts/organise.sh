#!/usr/bin/env bash
# organise.sh [COUNT]: runs every command that organises conversations on COUNT of them
# (default 10000, which takes minutes): twice, taken back, and in two clones that git merges.
set -euo pipefail
cd "$(dirname "$0")/.."
CORTEXT_ORGANISE=${1:-10000} go test -count=1 -v -timeout=0 -run '^TestOrganise$' ./cmd/cortext
