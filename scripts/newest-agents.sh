#!/usr/bin/env bash
# newest-agents.sh: installs the newest versions of the agents, runs the agent tests with
# them, and prints the differences from the pinned versions: tests that fail only with the
# newest, and what they record and send in one small turn. Fails if a test fails with the
# newest. Needs node and npm, like install-agents.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(./cmd/cortext ./cmd/internal/agenttest)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CORTEXT_REQUIRE_ALL=1
failed=0

# Each agent, and its name in test names.
agents='claude Claude
opencode OpenCode
gemini Gemini'

# using LIST COMMAND...: runs the command with the agents of an install-agents.sh list.
using() (
	while read -r agent _ path; do
		export "CORTEXT_$(tr '[:lower:]' '[:upper:]' <<<"$agent")=$path"
	done <"$1"
	shift
	"$@"
)

# tests LIST PATTERN LOG: runs the matching tests with the agents of the list.
tests() {
	using "$1" go test "${packages[@]}" -run "$2" -count=1 -timeout=60m -v >"$3" 2>&1
}

# outcome WORD LOG: lists the tests with that result, without subtests.
outcome() {
	sed -n "s/^--- $1: \([^ ]*\) .*/\1/p" "$2" | sort -u
}

# shape LIST WORD FILE: writes what that agent of the list records and sends to the file.
shape() {
	if ! using "$1" go test ./cmd/internal/agenttest -run "^Test$2Shape\$" -count=1 -shape "$3" >"$work/shape.log" 2>&1; then
		cat "$work/shape.log"
		printf 'the shape of %s could not be had\n' "$2"
		failed=1
	fi
	touch "$3"
}

# listed: prints the input indented, or "none".
listed() {
	awk '{ print "  " $0 } END { if (NR == 0) print "  none" }'
}

# version AGENT LIST: prints the agent's version in the list.
version() {
	awk -v a="$1" '$1 == a { print $2 }' "$2"
}

scripts/install-agents.sh >"$work/pinned"
scripts/install-agents.sh --newest >"$work/newest"
while read -r agent _; do
	printf '%s: pinned %s, newest %s\n' "$agent" "$(version "$agent" "$work/pinned")" "$(version "$agent" "$work/newest")"
done <<<"$agents"

if ! tests "$work/newest" "Workspace|Handoff|$(awk '{ print $2 }' <<<"$agents" | paste -sd'|')" "$work/newest.log"; then
	failed=1
fi
printf 'passed with the newest: %s tests\n' "$(outcome PASS "$work/newest.log" | wc -l)"
outcome FAIL "$work/newest.log" >"$work/broken"
if [ $failed = 1 ]; then
	# A test that also fails with the pinned versions says nothing about the newest.
	touch "$work/pinned.log"
	if [ -s "$work/broken" ]; then
		tests "$work/pinned" "^($(paste -sd'|' "$work/broken"))\$" "$work/pinned.log" || true
	fi
	outcome PASS "$work/pinned.log" >"$work/works"
	printf 'failed with the newest, passed with the pinned:\n'
	comm -12 "$work/broken" "$work/works" | listed
	printf 'failed with both:\n'
	comm -23 "$work/broken" "$work/works" | listed
	printf 'what they said with the newest:\n'
	grep -vE '^(=== |--- (PASS|SKIP)|PASS|ok )' "$work/newest.log" | listed
fi

while read -r agent word <&3; do
	old=$(version "$agent" "$work/pinned") new=$(version "$agent" "$work/newest")
	[ "$old" != "$new" ] || continue
	shape "$work/pinned" "$word" "$work/pinned.shape"
	shape "$work/newest" "$word" "$work/newest.shape"
	printf 'in the transcript and the requests of one turn, only with %s %s:\n' "$agent" "$old"
	comm -23 <(sort "$work/pinned.shape") <(sort "$work/newest.shape") | listed
	printf 'only with %s:\n' "$new"
	comm -13 <(sort "$work/pinned.shape") <(sort "$work/newest.shape") | listed
	rm "$work/pinned.shape" "$work/newest.shape"
done 3<<<"$agents"
exit $failed
