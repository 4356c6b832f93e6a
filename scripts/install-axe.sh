#!/usr/bin/env bash
# install-axe.sh: installs axe, which checks that pages are accessible, as
# $CORTEXT_AGENTS/axe-core/VERSION/axe.min.js (default ~/.cache/cortext/agents), unless it is
# there. Needs node and npm; npm's settings determine where packages come from.
set -euo pipefail

version=4.14.1
integrity=sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==

cache=${CORTEXT_AGENTS:-${XDG_CACHE_HOME:-${HOME:?is not set, nor is CORTEXT_AGENTS}/.cache}/cortext/agents}
target=$cache/axe-core/$version
if [ -f "$target/axe.min.js" ]; then
	exit 0
fi
mkdir -p "$cache/axe-core"
work=$(mktemp -d "$cache/.installing.XXXXXX")
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --loglevel=error --ignore-scripts "axe-core@$version" >/dev/null)
got=sha512-$(node -e 'console.log(require("crypto").createHash("sha512").update(require("fs").readFileSync(process.argv[1])).digest("base64"))' "$work/axe-core-$version.tgz")
if [ "$got" != "$integrity" ]; then
	printf 'install-axe: axe-core %s is not what was pinned: %s instead of %s\n' "$version" "$got" "$integrity" >&2
	exit 1
fi
mkdir "$work/axe"
tar -xzf "$work/axe-core-$version.tgz" -C "$work/axe" --strip-components=1
mv -T "$work/axe" "$target" 2>/dev/null || [ -f "$target/axe.min.js" ]
