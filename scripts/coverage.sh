#!/usr/bin/env bash
# Fails if the tests of schema, store, resume or inject cover less than 90 % of the
# statements in that package and the packages below it. For cmd/internal it only prints
# what the tests of its packages and some scripts cover.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=$(mktemp)
tests=$(mktemp)
reached=$(mktemp -d)
trap 'rm -rf "$profile" "$tests" "$reached"' EXIT
run() {
	go test -vet=off -timeout 40m "$@" >"$tests" 2>&1 || {
		cat "$tests"
		exit 1
	}
}
failed=0
for pkg in schema store resume inject; do
	run -coverpkg="./$pkg/..." -coverprofile="$profile" "./$pkg/..."
	percent=$(go tool cover -func="$profile" | awk '/^total:/ {print $3}')
	printf '%-7s %s\n' "$pkg" "$percent"
	if awk -v p="${percent%\%}" 'BEGIN {exit !(p < 90)}'; then
		failed=1
	fi
done

# Running all scripts would take minutes; these are the ones that show what cortext does.
scripts='commands compact context first-use git hook import new restore resume skip-rm stop-commit sync'
for name in $scripts; do
	ls "testdata/script/$name.txtar" >/dev/null
done
packages=$(go list ./cmd/internal/... | grep -v '/agenttest$')
# shellcheck disable=SC2086 # a package is a word
run -short -cover -coverpkg="${packages//$'\n'/,}" $packages -args -test.gocoverdir="$reached"
# With all rounds, which the race detector makes twenty times as slow.
run -cover ./cmd/internal/export/forge -args -test.gocoverdir="$reached"
GOCOVERDIR=$reached run -count=1 -short -run "^TestScripts\$/^(${scripts// /|})\$" ./cmd/cortext
echo "cmd/internal without agenttest, by the tests of its packages and the scripts $scripts:"
go tool covdata textfmt -i="$reached" -o "$profile"
go tool covdata percent -i="$reached" | grep '/internal/' | grep -v '/agenttest' | sed 's,^.cortext/,  ,; s,coverage: ,,'
printf '%-12s %s\n' cmd/internal "$(grep '^cortext/cmd/internal/' "$profile" | grep -v '/agenttest/' | awk '{if ($3 > 0) hit[$1] = 1; size[$1] = $2} END {for (b in size) {all += size[b]; if (b in hit) n += size[b]}; printf "%.1f%%", 100 * n / all}')"
if [ $failed = 1 ]; then
	echo "coverage is below 90 %"
	exit 1
fi
