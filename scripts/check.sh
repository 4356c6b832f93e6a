#!/usr/bin/env bash
# Everything that must hold before a change goes in. Needs Go and git; what needs
# more is named at the end if it was not run. CORTEXT_REQUIRE_ALL=1 makes that
# an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# A machine without a home folder still has to be able to build.
if [ -z "${HOME:-}" ]; then
	HOME=$(mktemp -d)
	export HOME
fi
missing=()
results=$(mktemp -d)

# Steps and parts of a step are noted with the second in which they begin.
begins() { printf '%d\t%s\n' "$SECONDS" "$2" >>"$results/$1"; }
say() {
	begins steps "$*"
	printf '\n== %s (after %d s)\n' "$*" "$SECONDS"
}
part() {
	begins parts "$*"
	echo "-- $*"
}
minutes() {
	awk -F'\t' 'NR > 1 {printf "%6.1f  %s\n", ($1 - at) / 60, name} {at = $1; name = $2}' "$results/$1"
}

trap 'kill $(jobs -pr) 2>/dev/null || :; rm -rf "$results"' EXIT
scripts/install-agents.sh >"$results/agents" 2>&1 & # waits for the network
installing=$!

say "formatting"
unformatted=$(gofmt -l $(git ls-files '*.go'))
if [ -n "$unformatted" ]; then
	printf 'not formatted by gofmt:\n%s\n' "$unformatted"
	exit 1
fi

say "go vet"
go vet ./...

say "go mod verify, and go.mod as go mod tidy would leave it"
go mod verify
go mod tidy -diff

say "staticcheck"
# Pinned, and run as a tool of its own, so that it is no requirement of the module.
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

say "the README's commands"
scripts/readme.sh

say "the real agents, in the versions that the tests are for"
if ! wait "$installing"; then
	missing+=("the tests with the real agents: scripts/install-agents.sh failed, see below")
fi
cat "$results/agents"

say "the real transcripts"
if [ -n "${CORTEXT_TRANSCRIPTS:-}" ] && [ -d "$CORTEXT_TRANSCRIPTS" ]; then
	CORTEXT_TRANSCRIPTS=$(cd "$CORTEXT_TRANSCRIPTS" && pwd)
	export CORTEXT_TRANSCRIPTS
	echo "$CORTEXT_TRANSCRIPTS"
else
	unset CORTEXT_TRANSCRIPTS
	missing+=("the tests on real transcripts: set CORTEXT_TRANSCRIPTS to a folder of them")
fi

# What needs no terminal runs behind all that follows, so that no processor waits at the
# end of a long test. No benchmark asserts a time: that each runs is what is looked at here,
# and -short makes what two of them prepare ten times smaller.
# The builds are without optimization, which changes nothing about whether they build.
alone=(env -u CORTEXT_TRANSCRIPTS CORTEXT_REQUIRE_ALL=0 CORTEXT_AGENTS=/nonexistent)
behind() {
	part "coverage: at least 90 % of schema, store, resume, inject each; cmd/internal as it is"
	nice "${alone[@]}" scripts/coverage.sh || return 1
	for os in darwin windows; do
		part "build for $os"
		GOOS=$os CGO_ENABLED=0 nice go build -gcflags='all=-N -l' -o "$results/" ./cmd/cortext ./cmd/cortext-hook || return 1
	done
	part "kill -9 in the middle of appends (short form)"
	scripts/kill9.sh 200 || return 1
	part "benchmarks, once each"
	if ! nice go test -short -run='^$' -bench=. -benchtime=1x ./... >"$results/benchmarks" 2>&1; then
		cat "$results/benchmarks"
		return 1
	fi
	grep '^Benchmark' "$results/benchmarks"
	begins parts end
}
behind >"$results/behind" 2>&1 &
running=$!

# tests runs go test, prints what it says of packages and failures, and keeps the names of
# the tests that were skipped, with their reasons.
tests() {
	local failed=0
	go test -v "$@" >"$results/tests" 2>&1 || failed=1
	if [ $failed = 1 ]; then
		grep -vE '^(=== |PASS$| *--- PASS)' "$results/tests" || true
		return 1
	fi
	grep -E '^ok' "$results/tests"
	awk '/^=== / {now = $3} /_test\.go:[0-9]+: / {why[now] = $0; sub(/^ */, "", why[now])} /--- SKIP/ {print $3 ": " why[$3]}' "$results/tests" >>"$results/skipped"
}

# First what needs only Go and git, with the race detector; the agents are
# programs of others, and the transcripts many: both run once, without it. -short
# takes fewer rounds of the random tests, which run in one goroutine; all of them
# are run for the coverage.
say "go test -race -short ./..."
if ! go env CGO_ENABLED | grep -q 1 || ! command -v "$(go env CC)" >/dev/null; then
	missing+=("the race detector: it needs a C compiler")
	(unset CORTEXT_TRANSCRIPTS; CORTEXT_REQUIRE_ALL=0 CORTEXT_AGENTS=/nonexistent tests -short ./...)
else
	(unset CORTEXT_TRANSCRIPTS; CORTEXT_REQUIRE_ALL=0 CORTEXT_AGENTS=/nonexistent tests -race -short ./...)
fi

say "go test, with the real agents and transcripts"
# The packages that ask for them; of what is random a few rounds, as above. The scripts
# ask for neither.
asking=$(git grep -lE 'CORTEXT_TRANSCRIPTS|agenttest' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's,^,./,')
# shellcheck disable=SC2086 # a package is a word
tests -short -timeout 30m -parallel 3 -skip '^TestScripts$' $asking

say "coverage, builds for other systems, kill -9, benchmarks"
if ! wait "$running"; then
	cat "$results/behind"
	exit 1
fi
cat "$results/behind"

say "go vet's sister govulncheck"
echo "NOT RUN: govulncheck (its database is fetched from the network; run it where that is allowed)"

# What asks for transcripts runs in the second pass, or is named below.
if grep -v 'NOT RUN' "$results/skipped" | sort -u >"$results/named"; then
	say "skipped, each for the reason that it gives"
	cat "$results/named"
fi

say "minutes of each step"
minutes steps
echo "and of what ran behind them:"
minutes parts

if [ ${#missing[@]} -gt 0 ]; then
	printf '\nNOT RUN:\n'
	printf '  - %s\n' "${missing[@]}"
	if [ "${CORTEXT_REQUIRE_ALL:-}" = 1 ]; then
		exit 1
	fi
fi
say "all checks passed"
