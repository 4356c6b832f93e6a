#!/usr/bin/env bash
# kill9.sh [N]: kills writers with kill -9 in the middle of appends, N times (default
# 10000, which takes some minutes), with four writers at a time and messages of 100 B to
# 5 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run ./scripts/kill9 -kills "${1:-10000}"
