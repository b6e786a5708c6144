#!/usr/bin/env bash
# Browser tests drive Debian's chromium, and its headless shell, which is faster, where it is there; install them where we may.
set -eu
has() { command -v "$1" >/dev/null; }
install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; }

if [ "$(id -u)" = 0 ] && has apt-get && ! { has chromium && has chromium-headless-shell; }; then
  install chromium chromium-headless-shell || {
    timeout 60 apt-get update -qq || true
    install chromium chromium-headless-shell || install chromium || true
  } >/dev/null 2>&1
fi
if ! has chromium; then
  echo "No chromium found: browser tests will be skipped. Install it with:  sudo apt install chromium chromium-headless-shell" >&2
fi
