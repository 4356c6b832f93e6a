#!/usr/bin/env bash
# Runs every check that a change must pass. Needs Go and git. At the end it lists the
# checks that need more and did not run; with CORTEXT_REQUIRE_ALL=1 these are an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# Building must work on a machine without a home folder, too.
if [ -z "${HOME:-}" ]; then
	HOME=$(mktemp -d)
	export HOME
fi
missing=()
results=$(mktemp -d)

# The compiler and the tests collect garbage less often, which takes a fifth less CPU time and
# up to twice the memory. cortext and cortext-hook set this for themselves.
export GOGC=${GOGC:-400}

# begins records the second in which a step, or a part of one, begins.
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
{ scripts/install-agents.sh && scripts/install-axe.sh; } >"$results/agents" 2>&1 & # waits for the network
installing=$!
scripts/install-tools.sh >"$results/tools" 2>&1 &
tools=$!

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
# Pinned, and run as a separate tool, so that the module does not require it.
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

say "the README's commands"
scripts/readme.sh

say "the real agents, in the versions that the tests are for"
if ! wait "$installing"; then
	missing+=("the tests with the real agents, or with axe: scripts/install-agents.sh or install-axe.sh failed, see above")
fi
cat "$results/agents"
if ! wait "$tools"; then
	missing+=("the tests with a browser and other shells: scripts/install-tools.sh failed, see above")
fi
cat "$results/tools"

say "the real transcripts"
if [ -n "${CORTEXT_TRANSCRIPTS:-}" ] && [ -d "$CORTEXT_TRANSCRIPTS" ]; then
	CORTEXT_TRANSCRIPTS=$(cd "$CORTEXT_TRANSCRIPTS" && pwd)
	export CORTEXT_TRANSCRIPTS
	echo "$CORTEXT_TRANSCRIPTS"
else
	unset CORTEXT_TRANSCRIPTS
	missing+=("the tests on real transcripts: set CORTEXT_TRANSCRIPTS to a folder of them")
fi

# Syncing files takes time. The run with the race detector and the benchmarks keep theirs in
# memory, where it can hold them. The tests with agents, and the coverage run with the tests of
# packages and some scripts, write to the disk.
memory=${TMPDIR:-/tmp}
if shm=$(mktemp -d /dev/shm/cortext-check.XXXXXX 2>/dev/null); then
	trap 'kill $(jobs -pr) 2>/dev/null || :; rm -rf "$results" "$shm"' EXIT
	chmod 755 "$shm" # tests run as another user, too
	printf '#!/bin/sh\n' >"$shm/program" && chmod +x "$shm/program"
	if "$shm/program" 2>/dev/null && [ "$(stat -f -c %T "$shm")" = tmpfs ] && [ "$(df -Pk "$shm" | awk 'NR == 2 {print $4}')" -gt $((4 << 20)) ]; then
		memory=$shm
	fi
fi

# Checks that need no terminal run in the background of everything below, so that no
# processor is idle at the end of a long test. Benchmarks assert no times: this only checks
# that each one runs, and -short makes the input of some of them smaller.
# The builds skip optimization and debug information, which do not affect whether they succeed.
alone=(env -u CORTEXT_TRANSCRIPTS CORTEXT_REQUIRE_ALL=0 CORTEXT_AGENTS=/nonexistent)
behind() {
	part "coverage: at least 90 % of schema, store, resume, inject each; cmd/internal as it is"
	nice "${alone[@]}" scripts/coverage.sh || return 1
	for system in darwin/arm64 windows/amd64 linux/386; do
		part "build for $system"
		GOOS=${system%/*} GOARCH=${system#*/} CGO_ENABLED=0 nice go build -gcflags='all=-N -l -dwarf=false' -ldflags='-s -w' -o "$results/" ./cmd/cortext ./cmd/cortext-hook ./cmd/cortext-opencode ./cmd/cortext-picker ./cmd/cortext-web ./cmd/cortext-zstd ./cmd/cortext-serve || return 1
	done
	part "kill -9 in the middle of appends (short form)"
	scripts/kill9.sh 200 || return 1
	part "benchmarks, once each"
	# shellcheck disable=SC2046 # a package is a word
	if ! TMPDIR=$memory nice go test -vet=off -short -run='^$' -bench=. -benchtime=1x \
		$(git grep -l '^func Benchmark' -- '*_test.go' | sed 's,^,./,; s,/[^/]*$,,' | sort -u) >"$results/benchmarks" 2>&1; then
		cat "$results/benchmarks"
		return 1
	fi
	grep '^Benchmark' "$results/benchmarks"
	begins parts end
}
behind >"$results/behind" 2>&1 &
running=$!

# tests runs go test, prints its output on packages and failures, and records the names of
# skipped and passed tests, with the reasons for skipping. go vet has run by now.
tests() {
	local failed=0
	go test -vet=off -timeout 40m -v "$@" >"$results/tests" 2>&1 || failed=1
	if [ $failed = 1 ]; then
		grep -avE '^(=== |PASS$| *--- PASS)' "$results/tests" || true
		return 1
	fi
	grep -aE '^ok' "$results/tests"
	awk '
		/^=== / {now = $3}
		/^ *[a-z_]+\.go:[0-9]+: / && why[now] !~ /NOT RUN/ {why[now] = $0; sub(/^ */, "", why[now])}
		/--- (SKIP|PASS): / {result[$3] = $2}
		/^ok/ {
			for (name in result) printf "%s\t%s %s\t%s\n", result[name], $2, name, why[name]
			delete why
			delete result
		}' "$results/tests" >>"$results/each"
}

# First run the tests that need only Go and git, with the race detector. The tests with
# agents, which are not our programs, and with the many transcripts run once, without it.
# -short runs fewer rounds of the random tests, which use one goroutine; the coverage run
# does all rounds, on the disk.
say "go test -race -short ./..."
if ! go env CGO_ENABLED | grep -q 1 || ! command -v "$(go env CC)" >/dev/null; then
	missing+=("the race detector: it needs a C compiler")
	(unset CORTEXT_TRANSCRIPTS; CORTEXT_REQUIRE_ALL=0 CORTEXT_AGENTS=/nonexistent tests -short ./...)
else
	(unset CORTEXT_TRANSCRIPTS; TMPDIR=$memory CORTEXT_REQUIRE_ALL=0 CORTEXT_AGENTS=/nonexistent tests -race -short ./...)
fi

say "go test, with the real agents and transcripts"
# Run those tests that said above that they, or a part of them, were skipped or NOT RUN, with
# few rounds of random tests, as above. The scripts use neither.
awk -F'\t' '$1 == "SKIP:" || $3 ~ /NOT RUN/ {split($2, at, " "); sub(/\/.*/, "", at[2]); print at[1], at[2]}' \
	"$results/each" | sort -u >"$results/again"
# shellcheck disable=SC2046 # a package is a word
tests -short -parallel 3 -skip '^TestScripts$' \
	-run "^($(cut -d' ' -f2 "$results/again" | sort -u | paste -sd'|'))\$" $(cut -d' ' -f1 "$results/again" | sort -u)

say "coverage, builds for other systems, kill -9, benchmarks"
if ! wait "$running"; then
	cat "$results/behind"
	exit 1
fi
cat "$results/behind"

say "go vet's sister govulncheck"
echo "NOT RUN: govulncheck (its database is fetched from the network; run it where that is allowed)"

# List the tests that were skipped and did not pass in the other run.
awk -F'\t' 'NR == FNR {passed[$2] = passed[$2] || $1 == "PASS:"; next} !passed[$2] {print $2 ": " $3}' \
	"$results/each" "$results/each" | sort -u >"$results/skipped"
if [ -s "$results/skipped" ]; then
	say "skipped tests, each with its reason"
	cat "$results/skipped"
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
