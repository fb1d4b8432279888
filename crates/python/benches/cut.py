"""How fast cuts are: `tamis` beside `kneed`, a largest gap in NumPy (Adaptive-k), and Otsu in Python, in one run.

pip install tamis numpy kneed
python benches/cut.py
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

import kneed
import numpy as np

import tamis

LISTS, LENGTH = 20_000, 100


def lists() -> np.ndarray:
    """Lists as a search has them: some good results, then a tail that flattens out."""
    draw = np.random.default_rng(7)
    relevant = draw.integers(1, 30, (LISTS, 1))
    ranks = np.arange(LENGTH)
    scores = 0.3 + 0.6 / (1.0 + np.exp((ranks - relevant) / 3.0)) + draw.normal(0.0, 0.01, (LISTS, LENGTH))
    return -np.sort(-scores, axis=1)


def largest_gap(scores: np.ndarray) -> int:
    """Adaptive-k: the number of results before the largest gap."""
    return int(np.argmax(scores[:-1] - scores[1:])) + 1


def otsu(scores: list[float]) -> int:
    """Otsu's threshold: the split with the largest variance between its sides."""
    total, count = sum(scores), len(scores)
    best, keep, above = -1.0, count, 0.0
    for at in range(1, count):
        above += scores[at - 1]
        difference = above / at - (total - above) / (count - at)
        between = at * (count - at) * difference * difference
        if between > best:
            best, keep = between, at
    return keep


def knee(scores: np.ndarray) -> int:
    """The knee that kneed finds."""
    ranks = np.arange(len(scores))
    found = kneed.KneeLocator(ranks, scores, curve="convex", direction="decreasing").knee
    return len(scores) if found is None else int(found) + 1


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """The shortest time of a few rounds."""
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    """Measure and print the table."""
    table = lists()
    singles = table.astype("float32")
    plain = table.tolist()
    few = table[:500]
    rows: list[tuple[str, str, float]] = []

    def measured(name: str, what: str, work: Callable[[], object], count: int = LISTS) -> None:
        rows.append((name, what, seconds(work) / count))

    for method in ("auto", "kneedle", "adaptive_k", "otsu", "max_gap", "autocut"):
        measured(f"tamis.cut_many, {method}", "an array", lambda: tamis.cut_many(table, method))
    measured("tamis.cut_many, auto", "an array of float32", lambda: tamis.cut_many(singles))
    measured("tamis.cut_many, auto", "a list of lists", lambda: tamis.cut_many(plain))
    for method in ("auto", "kneedle", "adaptive_k", "otsu"):
        measured(
            f"tamis.cut, {method}", "an array each", lambda: [tamis.cut(scores, method) for scores in few], len(few)
        )
    measured("tamis.cut, otsu", "a list each", lambda: [tamis.cut(scores, "otsu") for scores in plain[:500]], 500)
    measured("kneed.KneeLocator", "an array each", lambda: [knee(scores) for scores in few], len(few))
    measured("largest gap in NumPy", "an array each", lambda: [largest_gap(scores) for scores in table])
    measured("largest gap in NumPy", "all at once", lambda: np.argmax(table[:, :-1] - table[:, 1:], axis=1))
    measured("Otsu in Python", "a list each", lambda: [otsu(scores) for scores in plain[:2000]], 2000)

    # Shortest and longest call that decides nothing: what a call costs by itself.
    one = np.ones(1)
    calls = range(20_000)
    measured("overhead of a call", "one score", lambda: [tamis.cut(one, "fixed") for _ in calls], len(calls))
    measured("an empty function of Python", "one score", lambda: [nothing(one) for _ in calls], len(calls))

    print(f"{LISTS:,} lists of {LENGTH} scores; {platform.machine()}, CPython {platform.python_version()}, one core\n")
    print(f"| {'what':<28} | {'on':<20} | {'µs a list':>9} | {'lists a second':>14} |")
    print(f"| {'-' * 28} | {'-' * 20} | {'-' * 8}: | {'-' * 13}: |")
    for name, what, each in rows:
        print(f"| {name:<28} | {what:<20} | {each * 1e6:>9.2f} | {1 / each:>14,.0f} |")


def nothing(scores: object, method: str = "fixed") -> object:
    """What Python needs to call anything."""
    return scores


if __name__ == "__main__":
    main()
