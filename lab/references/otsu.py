"""The best partition into two of a few hundred lists, as the Python package jenkspy finds it.

Usage: python3 lab/references/otsu.py OUT

Otsu's threshold and Jenks' natural breaks with two classes have the same answer: most variance between the classes is
least within them. jenkspy finds it by dynamic programming. Writes JSON: the version used, and for each list its values
(best first) and how many are in the upper class. The output depends on nothing but this file and the pinned packages.
"""

import json
import random
import sys
from importlib.metadata import version

import jenkspy


def uniform(rng, length):
    return [rng.random() for _ in range(length)]


def two_groups(rng, length):
    good = rng.randint(1, length - 1)
    return [rng.gauss(0.7, 0.1) for _ in range(good)] + [rng.gauss(0.2, 0.1) for _ in range(length - good)]


def heavy_head(rng, length):
    return [rng.expovariate(0.3) + 30 * rng.random() ** 8 for _ in range(length)]


def with_ties(rng, length):
    return [round(rng.betavariate(2, 8), 1) for _ in range(length)]


FAMILIES = (uniform, two_groups, heavy_head, with_ties)


def lists():
    for family in FAMILIES:
        rng = random.Random(family.__name__)
        for index in range(60):
            length = index + 2 if index < 20 else rng.choice((25, 50, 100))
            values = sorted((round(value, 5) for value in family(rng, length)), reverse=True)
            if values[0] != values[-1]:
                yield f"{family.__name__} {index}", values


def upper_class(values):
    _, top_of_lower, _ = jenkspy.jenks_breaks(values, n_classes=2)
    return int(sum(value > top_of_lower for value in values))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cases = [{"name": name, "values": values, "keep": upper_class(values)} for name, values in lists()]
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write('{"versions": ' + json.dumps({"jenkspy": version("jenkspy")}) + ',\n"lists": [\n')
        out.write(",\n".join(json.dumps(case) for case in cases))
        out.write("\n]}\n")
    print(f"{len(cases)} lists")


if __name__ == "__main__":
    main()
