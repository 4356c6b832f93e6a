#!/usr/bin/env bash
# partial.sh [COUNT]: makes a repository of COUNT conversations (default 100000), clones it in
# full and in part, and prints the time and the bytes that cloning, lists, searches and a
# resume take in each. It needs about 70 kB of disk for each conversation, below TMPDIR.
set -euo pipefail
cd "$(dirname "$0")/.."
CORTEXT_PARTIAL=${1:-100000} go test -count=1 -v -timeout=0 -run '^TestPartialClone$' ./cmd/cortext
