#!/usr/bin/env bash
# Writes the manual pages of cortext and its commands into a folder, by default
# ~/.local/share/man/man1, where man finds them.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-${XDG_DATA_HOME:-$HOME/.local/share}/man/man1}
go run ./cmd/cortext man "$out"
echo "wrote $(ls "$out"/cortext*.1 | wc -l) pages to $out: man cortext"
