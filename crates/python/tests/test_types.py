"""The stubs, checked by mypy and pyright, and against the extension."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import tamis

PACKAGE = Path(tamis.__file__).parent
USES = """
import datetime

import numpy

import tamis
from tamis.answers import Answer, Hit

cut: tamis.Cut = tamis.cut([0.9, 0.1], "kneedle", sensitivity=2, want="all")
count: int = cut.count
kept: list[int] = cut.kept
threshold: float | None = cut.threshold
cuts: tamis.Cuts = tamis.cut_many([[0.9, 0.1], [0.5]], background=tamis.background([0.1, 0.2]))
counts: list[int] = cuts.counts
first: tamis.Cut = cuts[0]
mixed: tamis.Cuts = tamis.cut_many([[0.9], [0.5]], background=(0.1, None))
budget: tamis.Cut = tamis.cut([0.9, 0.1], budget_tokens=5, tokens=numpy.array([3, 4]))
flat: dict[str, int] = {"search.top_k": 3}
texts = ["a", "b"]
chosen: list[str] = [texts[place] for place in cut]


def found(index: tamis.Index) -> list[Hit]:
    answer: Answer = index.search("query", 5, want="one", languages=["rust"])
    for step in index.refreshing():
        print(step.stage, step.done / (step.total or 1))
    first: Hit = tamis.Index(".", settings=flat).search("query", since=datetime.date(2026, 1, 1))[0]
    index.get(first)
    return answer.results


figure: float = tamis.evaluate({"q": {"d": 1.0}}, {"q": {"d": 1}}).ranking["map"]
"""
MISUSES = {
    'tamis.cut([0.1], want="many")': "want",
    'tamis.cut("text")': "scores",
    "tamis.cut([0.1]).count.upper()": "upper",
    "tamis.cut([0.1], sort=1.5)": "sort",
    'tamis.Index(".").search("x", limt=3)': "limt",
}


def check(tool, path):
    pytest.importorskip(tool)
    arguments = ["--strict"] if tool == "mypy" else ["--pythonpath", sys.executable]
    return subprocess.run(
        [sys.executable, "-m", tool, *arguments, str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=path.parent,
    )


@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_good_uses_pass_and_bad_ones_do_not(tool, tmp_path):
    (tmp_path / "uses.py").write_text(USES)
    good = check(tool, tmp_path / "uses.py")
    assert good.returncode == 0, good.stdout + good.stderr
    lines = "import tamis\n" + "".join(f"{line}\n" for line in MISUSES)
    (tmp_path / "misuses.py").write_text(lines)
    bad = check(tool, tmp_path / "misuses.py")
    for number, line in enumerate(MISUSES, 2):
        assert f"misuses.py:{number}:" in bad.stdout, f"{line} passes:\n{bad.stdout}"


def test_the_package_itself_passes(tmp_path):
    pytest.importorskip("mypy")
    # Without these, the adapters' classes have bases that nobody knows.
    for library in ("langchain_core", "llama_index.core", "haystack"):
        pytest.importorskip(library)
    arguments = ["-m", "mypy", "--strict", "-p", "tamis"]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_stubs_are_those_of_the_extension(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "tamis._tamis", "--ignore-disjoint-bases"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["cut", "cut_many", "background", "methods"])
def test_help_says_what_the_stubs_say(name):
    stub = (PACKAGE / "_tamis.pyi").read_text()
    text = inspect.cleandoc(getattr(tamis, name).__doc__)
    assert text in "\n".join(line.strip() for line in stub.splitlines()), text
