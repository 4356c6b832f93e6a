#!/usr/bin/env bash
# other-git.sh [GIT]: runs the tests that drive git with another git, given by its path, for
# instance the newest, built from its source. By default it is the one on PATH. It runs them as
# the git comes, with SHA-256 ids, and with references in a table (git's --ref-format=reftable,
# from 2.45 on).
set -euo pipefail
cd "$(dirname "$0")/.."

git=$(realpath "$(command -v "${1:-git}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tests NAME [VARIABLE=VALUE]: runs them with git in that environment, and prints what failed.
tests() {
	local name=$1 failed=0
	shift
	mkdir "$work/bin"
	printf '#!/bin/sh\nexec env %s "%s" "$@"\n' "$*" "$git" >"$work/bin/git"
	chmod +x "$work/bin/git"
	printf '%s, %s: ' "$("$git" version)" "$name"
	PATH="$work/bin:$PATH" CORTEXT_AGENTS=/nonexistent go test -vet=off -short -timeout 60m -count=1 \
		./cmd/cortext -run '^Test(Scripts|Histories|Moves|Pushers.*)$' >"$work/log" 2>&1 || failed=1
	PATH="$work/bin:$PATH" go test -vet=off -short -timeout 60m -count=1 ./cmd/internal/git >>"$work/log" 2>&1 || failed=1
	rm -r "$work/bin"
	if [ $failed = 1 ]; then
		echo "failed"
		grep -aE '^ *--- FAIL|FAIL: ' "$work/log" || cat "$work/log"
		all=1
	else
		echo "passed"
	fi
}

all=0
tests "files and SHA-1"
tests "files and SHA-256" GIT_DEFAULT_HASH=sha256
if "$git" init -q --ref-format=reftable "$work/table" 2>/dev/null; then
	tests "references in a table" GIT_DEFAULT_REF_FORMAT=reftable
else
	echo "NOT RUN: references in a table, which this git does not know"
fi
exit $all
