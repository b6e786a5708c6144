"""The browser's code, checked by its own tools: node's test runner and TypeScript's checker."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def test_scripts_pass_their_own_tests():
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node: apt-get install nodejs")
    result = subprocess.run([node, "--test", "tests/js/"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_scripts_keep_to_the_types_they_state():
    checker = ROOT / "node_modules" / ".bin" / "tsc"
    if not checker.exists():
        pytest.skip("no TypeScript checker: npm ci")
    result = subprocess.run(
        [checker, "-p", "jsconfig.json"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stdout
