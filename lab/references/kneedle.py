"""Knees of a few hundred curves as the Python package kneed finds them.

Usage: python3 lab/references/kneedle.py OUT

Writes JSON: the versions used, and for each curve its name, values (best first), sensitivity, the knee of the offline
mode (null when there is none), all knees of the online mode, and the difference curve at each of those. Values are
rounded to a few decimals and written in full, so that both sides read the same numbers. The output depends on nothing
but this file and the pinned packages.
"""

import json
import math
import random
import sys
import warnings
from importlib.metadata import version

from kneed import KneeLocator

SENSITIVITIES = (0.0, 0.5, 1.0, 2.0, 5.0)


def descending(values, digits=6):
    return sorted((round(value, digits) for value in values), reverse=True)


def convex(rng, length):
    """A smooth fall: exponential, hyperbolic or a power."""
    scale = rng.uniform(0.02, 0.6) * length
    shape = rng.choice(("exponential", "hyperbolic", "power"))
    if shape == "exponential":
        return [math.exp(-i / scale) for i in range(length)]
    if shape == "hyperbolic":
        return [1 / (1 + i / scale) for i in range(length)]
    return [(i + 1) ** -rng.uniform(0.2, 2.0) for i in range(length)]


def cliff(rng, length):
    """A plateau, a cliff, and a tail: the usual shape of an easy query."""
    good = rng.randint(1, length - 1)
    high, low = rng.uniform(0.6, 0.95), rng.uniform(0.1, 0.5)
    slope, tail = rng.choice((0.0, 0.002, 0.02)), rng.choice((0.0, 0.001, 0.01))
    return [high - slope * i if i < good else low - tail * (i - good) for i in range(length)]


def staircase(rng, length):
    """Several levels, with ties inside each."""
    levels = descending(rng.uniform(0, 1) for _ in range(rng.randint(2, 6)))
    return [levels[min(i * len(levels) // length, len(levels) - 1)] for i in range(length)]


def ties(rng, length):
    """Values from a small set, so that most neighbours are equal and many slopes are."""
    steps = rng.randint(2, 8)
    return [rng.randint(0, steps) / steps for _ in range(length)]


def noise(rng, length):
    """Sorted draws from one distribution: nothing to find."""
    draw = rng.choice((rng.random, lambda: rng.gauss(0.2, 0.08), lambda: rng.betavariate(2, 8)))
    return [draw() for _ in range(length)]


def search(rng, length):
    """A few relevant similarities above the upper tail of many that are not, as a vector search returns them."""
    relevant = rng.randint(0, 8)
    mean, spread = rng.uniform(0.0, 0.3), rng.uniform(0.05, 0.12)
    background = [rng.gauss(mean, spread) for _ in range(length * 20)]
    return [rng.gauss(0.65, 0.1) for _ in range(relevant)] + background


def bm25(rng, length):
    """Unbounded scores with a heavy head."""
    return [rng.expovariate(0.3) + 30 * rng.random() ** 8 for _ in range(length)]


def line(rng, length):
    """A straight line: every local extremum of the difference curve is a rounding error."""
    first, step = rng.uniform(0.5, 1.0), rng.uniform(0.001, 0.01)
    return [first - step * i for i in range(length)]


FAMILIES = (convex, cliff, staircase, ties, noise, search, bm25, line)

NAMED = {
    "five good, a cliff, seven noise": [0.9, 0.88, 0.86, 0.85, 0.84, 0.3, 0.29, 0.28, 0.27, 0.26, 0.25, 0.24],
    "three good, twelve noise": [0.9, 0.88, 0.86] + [round(0.3 - 0.01 * i, 2) for i in range(12)],
    "one good, twelve noise": [0.9] + [round(0.3 - 0.01 * i, 2) for i in range(12)],
    "two": [0.9, 0.1],
    "three": [0.9, 0.2, 0.1],
    "three, equal steps": [3.0, 2.0, 1.0],
    "all equal": [0.5] * 10,
    "one": [0.5],
    "cliff at the end": [0.9, 0.9, 0.9, 0.9, 0.0],
    "negative": [-1.0, -1.1, -5.0, -5.1, -5.2, -5.3],
    "subnormal": [2e-310, 1.9e-310, 2e-311, 1e-311, 5e-324, 0.0],
    "huge": [1e300, 9e299, 1e299, 9e298, 8e298],
}


def curves():
    for name, values in NAMED.items():
        yield name, values, 1.0
    for family in FAMILIES:
        rng = random.Random(family.__name__)
        for index in range(38):
            # The first few are short, where edges matter; a few are long, where sums are taken in blocks.
            length = index + 2 if index < 10 else rng.choice((12, 15, 20, 30, 50, 50, 50, 100, 137, 300))
            values = descending(family(rng, length), rng.choice((2, 3, 4)))[:length]
            sensitivity = 1.0 if index % 2 == 0 else rng.choice(SENSITIVITIES)
            yield f"{family.__name__} {index}", values, sensitivity


def knees(values, sensitivity):
    if len(values) < 2 or values[0] == values[-1]:
        # kneed divides by zero here, with a warning; what it then finds is nothing, which is checked all the same.
        warnings.simplefilter("ignore")
    arguments = dict(S=sensitivity, curve="convex", direction="decreasing", interp_method="interp1d")
    positions = range(len(values))
    offline = KneeLocator(positions, values, online=False, **arguments)
    online = KneeLocator(positions, values, online=True, **arguments)
    found = [int(knee) for knee in online.all_knees]
    return {
        "knee": None if offline.knee is None else int(offline.knee),
        "all_knees": found,
        "distances": [float(online.y_difference[knee]) for knee in found],
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cases = [
        {"name": name, "values": values, "sensitivity": sensitivity, **knees(values, sensitivity)}
        for name, values, sensitivity in curves()
    ]
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write('{"versions": ' + json.dumps({name: version(name) for name in ("kneed", "numpy", "scipy")}))
        out.write(',\n"curves": [\n')
        out.write(",\n".join(json.dumps(case) for case in cases))
        out.write("\n]}\n")
    print(f"{len(cases)} curves, {sum(len(case['all_knees']) > 1 for case in cases)} with more than one knee, "
          f"{sum(not case['all_knees'] for case in cases)} with none")


if __name__ == "__main__":
    main()
