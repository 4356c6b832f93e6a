#!/usr/bin/env bash
# newest-agents.sh: brings the newest versions of the agents, runs the tests with
# the real agents against them, and says what differs from the pinned ones: tests
# that fail only with the newest, and what they record and send in one small turn.
# Fails if a test fails with the newest. Needs what install-agents.sh needs.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(./cmd/cortext ./cmd/internal/agenttest)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CORTEXT_REQUIRE_ALL=1
failed=0

# tests CLAUDE PATTERN LOG: runs the tests that match, with that claude.
tests() {
	CORTEXT_CLAUDE=$1 go test "${packages[@]}" -run "$2" -count=1 -timeout=30m -v >"$3" 2>&1
}

# outcome WORD LOG: the tests that ended so, without their subtests.
outcome() {
	sed -n "s/^--- $1: \([^ ]*\) .*/\1/p" "$2" | sort -u
}

# shape CLAUDE FILE: writes down what that claude records and sends.
shape() {
	if ! CORTEXT_CLAUDE=$1 go test ./cmd/internal/agenttest -run '^TestClaudeShape$' -count=1 -shape "$2" >"$work/shape.log" 2>&1; then
		cat "$work/shape.log"
		printf 'the shape of %s could not be had\n' "$1"
		failed=1
	fi
	touch "$2"
}

# listed: the lines of the input, indented, or "none".
listed() {
	awk '{ print "  " $0 } END { if (NR == 0) print "  none" }'
}

pinned=$(scripts/install-agents.sh)
newest=$(scripts/install-agents.sh --newest)
read -r _ pinned_version pinned_claude < <(grep '^claude ' <<<"$pinned")
read -r _ newest_version newest_claude < <(grep '^claude ' <<<"$newest")
printf 'claude: pinned %s, newest %s\n' "$pinned_version" "$newest_version"

if ! tests "$newest_claude" 'Claude|Workspace' "$work/newest.log"; then
	failed=1
fi
printf 'passed with %s: %s tests\n' "$newest_version" "$(outcome PASS "$work/newest.log" | wc -l)"
outcome FAIL "$work/newest.log" >"$work/broken"
if [ $failed = 1 ]; then
	# One that fails with the pinned version too says nothing about the newest.
	touch "$work/pinned.log"
	if [ -s "$work/broken" ]; then
		tests "$pinned_claude" "^($(paste -sd'|' "$work/broken"))\$" "$work/pinned.log" || true
	fi
	outcome PASS "$work/pinned.log" >"$work/works"
	printf 'failed with %s, passed with %s:\n' "$newest_version" "$pinned_version"
	comm -12 "$work/broken" "$work/works" | listed
	printf 'failed with both:\n'
	comm -23 "$work/broken" "$work/works" | listed
	printf 'what they said with %s:\n' "$newest_version"
	grep -vE '^(=== |--- (PASS|SKIP)|PASS|ok )' "$work/newest.log" | listed
fi

shape "$pinned_claude" "$work/pinned.shape"
shape "$newest_claude" "$work/newest.shape"
printf 'in the transcript and the requests of one turn, only with %s:\n' "$pinned_version"
comm -23 <(sort "$work/pinned.shape") <(sort "$work/newest.shape") | listed
printf 'only with %s:\n' "$newest_version"
comm -13 <(sort "$work/pinned.shape") <(sort "$work/newest.shape") | listed
exit $failed
