"""The examples, run as docs/python.md says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(os.environ.get("TEST_CHECKOUT", "../../.."))
DATA = os.environ.get("TAMIS_TEST_DATA")


def test_bm25s_on_scifact_prints_what_the_page_shows():
    pytest.importorskip("bm25s")
    page = CHECKOUT / "docs/python.md"
    if not page.is_file():
        pytest.skip("TEST_CHECKOUT, the directory of the checkout, is not set")
    if DATA is None:
        pytest.skip("TAMIS_TEST_DATA is not set")
    shown = re.search(r"^\$ python (\S+bm25s_scifact\.py) \S+\n(.*?)```", page.read_text(encoding="utf-8"), re.M | re.S)
    command = [sys.executable, CHECKOUT / shown[1], Path(DATA, "data/scifact")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown[2]
