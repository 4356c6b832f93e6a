#!/usr/bin/env bash
# walk.sh [STEPS [SEED…]]: performs random actions of users, agents and git in three
# clones and two work trees, with STEPS steps (default 10000, which takes up to an hour)
# for each seed (default 1), and 300 merges of the work of two users. It prints its
# progress, what git refused and the first failure of each kind.
#
# CORTEXT_WALK_BINARY names another cortext to walk with. CORTEXT_WALK_KEEP=1 keeps the
# files of a failed walk.
set -euo pipefail
cd "$(dirname "$0")/.."
steps=${1:-10000}
shift || :
failed=0
for seed in "${@:-1}"; do
	echo "== seed $seed, $steps steps"
	CORTEXT_WALK_ALL=${CORTEXT_WALK_ALL-1} CORTEXT_WALK_SEED=$seed CORTEXT_WALK_STEPS=$steps CORTEXT_MERGE_ROUNDS=100 \
		go test -count=1 -v -timeout=0 -run '^(TestWalk|TestStopsMerge)$' ./cmd/cortext || failed=1
done
exit $failed
