#!/usr/bin/env bash
# Fails where the tests of schema, store, resume or inject reach less than 90 %
# of the statements of these packages and those below them.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=$(mktemp)
tests=$(mktemp)
trap 'rm -f "$profile" "$tests"' EXIT
failed=0
for pkg in schema store resume inject; do
	go test -coverpkg="./$pkg/..." -coverprofile="$profile" "./$pkg/..." >"$tests" 2>&1 || {
		cat "$tests"
		exit 1
	}
	percent=$(go tool cover -func="$profile" | awk '/^total:/ {print $3}')
	printf '%-7s %s\n' "$pkg" "$percent"
	if awk -v p="${percent%\%}" 'BEGIN {exit !(p < 90)}'; then
		failed=1
	fi
done
if [ $failed = 1 ]; then
	echo "coverage is below 90 %"
	exit 1
fi
