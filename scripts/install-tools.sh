#!/usr/bin/env bash
# install-tools.sh: installs the programs that tests drive and that are missing: a browser,
# two shells, a formatter of manual pages, and a compressor to compare with. It uses Debian's
# packages, as root and with CORTEXT_REQUIRE_ALL=1 only; otherwise it says what is missing.
set -euo pipefail

missing=()
for tool in chromium fish zsh groff zstd; do
	command -v "$tool" >/dev/null || missing+=("$tool")
done
if [ ${#missing[@]} -eq 0 ]; then
	exit 0
fi
if [ "${CORTEXT_REQUIRE_ALL:-}" != 1 ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "install-tools: not installed: ${missing[*]}" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
