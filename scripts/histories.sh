#!/usr/bin/env bash
# histories.sh [COUNT [SEED]]: lets three users change the same conversations and exchange
# them with git in COUNT random histories (default 1000, which takes one to two hours),
# from SEED on (default 1), and checks that nothing is lost or doubled and that all clones
# read the same. Then it runs a fourth of them again, with a clone of an older cortext.
#
# CORTEXT_HISTORIES_STORIES is how many of a hundred steps are stories: steps that belong
# together, such as fork, go on, commit, reset; by default 33. With an older cortext, and with
# 0, the steps are those that CI takes.
# CORTEXT_HISTORIES_OLD is the commit that is built for that clone; by default the last
# one that had no merge driver.
set -euo pipefail
cd "$(dirname "$0")/.."
count=${1:-1000}
seed=${2:-1}
driver=store/mergefile/mergefile.go
old=${CORTEXT_HISTORIES_OLD:-$(git log --diff-filter=A --format=%H -- "$driver" | tail -1)~1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export CORTEXT_HISTORIES_STORIES=${CORTEXT_HISTORIES_STORIES-33}

run() { go test -count=1 -timeout=0 -run '^TestHistories$' ./cmd/cortext; }

failed=0
echo "== $count histories from seed $seed"
CORTEXT_HISTORIES=$count CORTEXT_HISTORIES_SEED=$seed run || failed=1
echo "== $(((count + 3) / 4)) histories with a clone of $(git rev-parse --short "$old")"
mkdir "$work/source"
git archive "$old" | tar -x -C "$work/source"
(cd "$work/source" && go build -tags clocked -o "$work/cortext" ./cmd/cortext)
CORTEXT_HISTORIES=$(((count + 3) / 4)) CORTEXT_HISTORIES_SEED=$seed CORTEXT_HISTORIES_BINARY=$work/cortext run || failed=1
exit $failed
