#!/usr/bin/env bash
# Browser tests drive Debian's chromium, and its headless shell, which is faster, where it is there. Where we may, they are
# installed; that is tried once, and what was not possible is kept in a file and said each time.
set -eu
cd "$(dirname "$0")/.."
failed=.venv/chromium-not-installed
has() { command -v "$1" >/dev/null; }
missing() { for name in chromium chromium-headless-shell; do has "$name" || echo "$name"; done; }
install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" 2>&1; }

if [ "$(id -u)" = 0 ] && has apt-get && [ ! -e "$failed" ] && [ -n "$(missing)" ]; then
  install $(missing) >/dev/null || {
    timeout 60 apt-get update -qq >/dev/null 2>&1 || true
    said=$(install $(missing)) || {
      has chromium || install chromium >/dev/null || true
      why=$(grep -m 1 "^E:" <<<"$said") || why="it did not say why"
      echo "apt could not install" $(missing) "($why). To try again, remove $failed." >"$failed"
    }
  }
fi
if [ -e "$failed" ] && [ -n "$(missing)" ]; then
  cat "$failed" >&2
fi
if ! has chromium; then
  echo "No chromium found: browser tests will be skipped. Install it with:  sudo apt install chromium chromium-headless-shell" >&2
fi
