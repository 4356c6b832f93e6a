#!/usr/bin/env bash
# install-agents.sh [--newest]: installs the agents that tests run, each as
# $CORTEXT_AGENTS/AGENT/VERSION/AGENT (default ~/.cache/cortext/agents), and prints a line
# "agent version path" for each. For an installed agent it only checks the version.
# --newest installs the newest versions beside the pinned ones. Needs node and npm; npm's
# settings determine where packages come from.
set -euo pipefail

# agent, version, platform, package, file in it to run, sha512 as npm publishes it.
# A package without a program is also fetched and checked. The version of an agent's first
# package is the agent's version. A package with its own version (PACKAGE@VERSION) is a
# dependency of the agent; it stays the same for the newest agent.
pinned() {
	cat <<'TABLE'
claude 2.1.329 any          @anthropic-ai/claude-code              -      sha512-WQ7RY331gsODjOoDBbeG1fjMfKY1Ur9yxWAOI9SgdLZvqA9sAREaezXt7e3uNbHlgjVAZg1IqlJT1J7WKViEFA==
claude 2.1.329 linux-x64    @anthropic-ai/claude-code-linux-x64    claude sha512-+n4lu1ubYAp02Y0X/MAUnxw9yY6SHHZ77F+IoW+V0wVoFuiI9opdH6gofjf14gXJCEYMTNpks7Gn1i8XZTKAWA==
claude 2.1.329 linux-arm64  @anthropic-ai/claude-code-linux-arm64  claude sha512-IiG5umFToSCVWqB1lEsxxwIxKgxPXyZ3DRU915v8J4Bz5Q3JpslM0ew1m5yaT+lFXBPvYxmsEgi0XI68XHND0A==
claude 2.1.329 darwin-x64   @anthropic-ai/claude-code-darwin-x64   claude sha512-6cjJiD19yxOzdnzErJ8ougFKoksK/wUvOJb6V2iCXg1rM9gGEY1I7HE8jQnvh6buAuXHtHaahfoiiISaplOxYg==
claude 2.1.329 darwin-arm64 @anthropic-ai/claude-code-darwin-arm64 claude sha512-brgS94FOoB+ekq1gIeNpBtGAbzWxE1UEeBQWfk1KX1BStrMIxwWXriPfQLKEkFTWHpmGXv2fZxxMQJsR+5PhZw==
opencode 1.18.33 any          opencode-ai           -            sha512-58P1ffLRXiAY4QeoABqUjqf6DEzm1ihpovvn9Ad+oOLbLiwK/rf88wruT9IATJ7AtNjmi8iA7pC8tN4o5y799Q==
opencode 1.18.33 linux-x64    opencode-linux-x64    bin/opencode sha512-q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==
opencode 1.18.33 linux-arm64  opencode-linux-arm64  bin/opencode sha512-8aKOjIz6Cw3POGpvLvaByyMmfV2OCWgDdOBB9h7nqYV6rCGOzOsdQkT0OhjbAa5/JKGp28RSBEhDeMhINajs1g==
opencode 1.18.33 darwin-x64   opencode-darwin-x64   bin/opencode sha512-2y+0nvT9SEJu4MFJbymDR0YPoJNILEZrvguG4/dvkJm1EAKE9dzwfXk9iBsiq7BI2V3dnXqcg95e5Si/MNflxw==
opencode 1.18.33 darwin-arm64 opencode-darwin-arm64 bin/opencode sha512-rZm4Phz7eu/kVz2lynergU/LzKS/L0ofErB2fRXfaoAH528b3EnVcISZ/13dwk78FPxVhop7hWXshowT88C8Yw==
gemini 0.61.0 any          @google/gemini-cli                  bundle/gemini.js sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==
gemini 0.61.0 any          @lydell/node-pty@1.1.0              -                sha512-VDD8LtlMTOrPKWMXUAcB9+LTktzuunqrMwkYR1DMRBkS6LQrCt+0/Ws1o2rMml/n3guePpS7cxhHF7Nm5K4iMw==
gemini 0.61.0 linux-x64    @lydell/node-pty-linux-x64@1.1.0    -                sha512-NcNqRTD14QT+vXcEuqSSvmWY+0+WUBn2uRE8EN0zKtDpIEr9d+YiFj16Uqds6QfcLCHfZmC+Ls7YzwTaqDnanA==
gemini 0.61.0 linux-arm64  @lydell/node-pty-linux-arm64@1.1.0  -                sha512-yyDBmalCfHpLiQMT2zyLcqL2Fay4Xy7rIs8GH4dqKLnEviMvPGOK7LADVkKAsbsyXBSISL3Lt1m1MtxhPH6ckg==
gemini 0.61.0 darwin-x64   @lydell/node-pty-darwin-x64@1.1.0   -                sha512-XZdvqj5FjAMjH8bdp0YfaZjur5DrCIDD1VYiE9EkkYVMDQqRUPHYV3U8BVEQVT9hYfjmpr7dNaELF2KyISWSNA==
gemini 0.61.0 darwin-arm64 @lydell/node-pty-darwin-arm64@1.1.0 -                sha512-7kFD+owAA61qmhJCtoMbqj3Uvff3YHDiU+4on5F2vQdcMI3MuwGi7dM6MkFG/yuzpw8LF2xULpL71tOPUfxs0w==
TABLE
}

fail() {
	printf 'install-agents: %s\n' "$*" >&2
	exit 1
}
say() { printf 'install-agents: %s\n' "$*" >&2; }

newest=no
case "${1:-}" in
'') ;;
--newest) newest=yes ;;
*) fail "usage: install-agents.sh [--newest]" ;;
esac

case "$(uname -s)-$(uname -m)" in
Linux-x86_64) platform=linux-x64 ;;
Linux-aarch64 | Linux-arm64) platform=linux-arm64 ;;
Darwin-x86_64) platform=darwin-x64 ;;
Darwin-arm64) platform=darwin-arm64 ;;
*) fail "no agent is published for $(uname -s) on $(uname -m)" ;;
esac

if [ -n "${CORTEXT_AGENTS:-}" ]; then
	cache=$CORTEXT_AGENTS
elif [ -n "${XDG_CACHE_HOME:-}" ]; then
	cache=$XDG_CACHE_HOME/cortext/agents
else
	cache=${HOME:?is not set, nor is CORTEXT_AGENTS}/.cache/cortext/agents
fi
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

# Build everything in here, so that the final name never shows a partial install.
work=$(mktemp -d "$cache/.installing.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# rows [AGENT]: the table's rows for this platform, for one agent or all.
rows() {
	pinned | awk -v p="$platform" -v a="${1:-}" '(a == "" || $1 == a) && ($3 == "any" || $3 == p)'
}

# prints PATH VERSION: succeeds if the program runs and reports that version.
prints() {
	local out
	[ -x "$1" ] || return 1
	mkdir -p "$work/home"
	out=$(HOME=$work/home "$1" --version </dev/null 2>/dev/null) || return 1
	case " $out " in
	*[[:space:]]"$2"[[:space:]]*) return 0 ;;
	*) return 1 ;;
	esac
}

need_npm() {
	command -v node >/dev/null || fail "node is missing: agents are packages of npm, which needs it"
	command -v npm >/dev/null || fail "npm is missing: agents are packages of npm"
}

# view PACKAGE FIELD: a field of the package in the registry.
view() {
	local out
	out=$(npm view --loglevel=error "$1" "$2") || fail "npm view $1 $2 failed"
	[ -n "$out" ] || fail "npm knows no $2 of $1"
	printf '%s\n' "$out"
}

# fetch PACKAGE VERSION INTEGRITY FOLDER: unpacks the package into the folder if its
# sha512 matches.
fetch() {
	local tarball got
	say "fetching $1 $2"
	rm -rf "$work/pack"
	mkdir -p "$work/pack" "$4"
	(cd "$work/pack" && npm pack --loglevel=error --ignore-scripts "$1@$2" >/dev/null) || fail "npm pack $1@$2 failed"
	tarball=$(find "$work/pack" -name '*.tgz')
	got=$(node -e '
		const hash = require("crypto").createHash("sha512");
		require("fs").createReadStream(process.argv[1])
			.on("data", (part) => hash.update(part))
			.on("end", () => console.log("sha512-" + hash.digest("base64")));
	' "$tarball")
	[ "$got" = "$3" ] || fail "$1 $2 is not what was pinned: $got instead of $3"
	tar -xzf "$tarball" -C "$4" --strip-components=1
	rm -rf "$work/pack"
}

# install AGENT VERSION: creates AGENT/VERSION from the table's packages, unless it exists
# and works.
install() {
	local agent=$1 version=$2 target=$cache/$1/$2 made=$work/$1-$2
	local row_version package wanted file integrity run=''
	if prints "$target/$agent" "$version"; then
		printf '%s %s %s\n' "$agent" "$version" "$target/$agent"
		return
	fi
	need_npm
	while read -r _ row_version _ package file integrity <&3; do
		wanted=$version
		case "$package" in
		?*@*) wanted=${package##*@} package=${package%@*} ;;
		*)
			# A version that is not pinned is checked against npm's current sha512.
			[ "$version" = "$row_version" ] || integrity=$(view "$package@$version" dist.integrity)
			;;
		esac
		fetch "$package" "$wanted" "$integrity" "$made/node_modules/$package"
		[ "$file" = - ] || run=node_modules/$package/$file
	done 3< <(rows "$agent")
	[ -n "$run" ] || fail "the table has nothing to run for $agent on $platform"
	# A script's first line runs node, and the script finds its files beside the target
	# of the link.
	chmod +x "$made/$run"
	ln -s "$run" "$made/$agent"
	prints "$made/$agent" "$version" || fail "$agent does not run or does not say that it is version $version"
	mkdir -p "$cache/$agent"
	if [ -e "$target" ]; then # broken, or created by a concurrent run
		mv "$target" "$work/replaced"
	fi
	mv "$made" "$target"
	printf '%s %s %s\n' "$agent" "$version" "$target/$agent"
}

while read -r agent version _ package _ <&4; do
	if [ "$newest" = yes ]; then
		need_npm
		version=$(view "$package" version)
	fi
	install "$agent" "$version"
done 4< <(rows | awk '!seen[$1]++')
