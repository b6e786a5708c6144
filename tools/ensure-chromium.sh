#!/usr/bin/env bash
# Browser tests drive Debian's chromium; install it where it is missing and we may.
set -eu
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
else
  echo "No chromium found: browser tests will be skipped. Install it with:  sudo apt install chromium" >&2
fi
