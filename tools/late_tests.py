"""Runs tests and stops their process for four seconds at random moments, as a busy machine does:

python tools/late_tests.py tests/web/test_mouse_in_a_browser.py

Its arguments are pytest's. What fails here and not without it assumes that a test is quick.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time

STOPPED_S = 4.0
BETWEEN_S = 0.5, 6.0


def main() -> int:
    """Run them; pytest's exit status."""
    tests = subprocess.Popen([sys.executable, "-m", "pytest", "-p", "no:xdist", *sys.argv[1:]])
    stops = 0
    while tests.poll() is None:
        time.sleep(random.uniform(*BETWEEN_S))
        if tests.poll() is None:
            tests.send_signal(signal.SIGSTOP)
            try:
                time.sleep(STOPPED_S)
            finally:
                tests.send_signal(signal.SIGCONT)
            stops += 1
    print(f"stopped {stops} times")
    return tests.returncode


if __name__ == "__main__":
    sys.exit(main())
