#!/usr/bin/env bash
# Runs the commands in the README's first code block, except the tests, which check.sh
# runs itself, and checks the output of the first command.
set -euo pipefail
cd "$(dirname "$0")/.."
commands=$(awk '/^```/ {n++; next} n == 1' README.md)
ran=0
while IFS= read -r line; do
	case "$line" in
	"" | "#"* | "go test ./...") continue ;;
	esac
	echo "$ $line"
	out=$(eval "$line")
	ran=$((ran + 1))
	for want in "[RESUMED CONVERSATION]" "Conversation: brainstorm / " "[END RESUMED CONTEXT]" "openapi.yaml"; do
		if ! grep -qF -- "$want" <<<"$out"; then
			printf 'it does not print %s:\n%s\n' "$want" "$out"
			exit 1
		fi
	done
done <<<"$commands"
if [ $ran -ne 1 ] || ! grep -qx 'go test ./...' <<<"$commands"; then
	echo "the README's first code block must hold the command that resumes and go test ./..."
	exit 1
fi
if [ -n "$(git status --porcelain testdata)" ]; then
	git status --short testdata
	echo "reading changed the workspace in testdata"
	exit 1
fi
