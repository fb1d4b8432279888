"""Thresholds that control recall and precision on made-up judged queries, as the Python package MAPIE finds them.

Usage: python3 lab/references/conformal.py OUT

Recall: MultiLabelClassificationController with the method crc (conformal risk control). A query is an observation, a
candidate a label. MAPIE looks for the highest threshold on a grid of hundredths and keeps what lies above it.
Precision: MAPIE's Hoeffding-Bentkus p-values and its fixed-sequence testing, on the same grid from above. A query that
keeps nothing has no loss here, so the mean losses are computed below and not by the controller, which leaves such out.
Values lie between the points of the grid, so that "above" and "at least" are the same. Writes JSON: the version used
and for each set its queries (values best first, and 1 where relevant) with the threshold for each level, null where
there is none. The output depends on nothing but this file and the pinned packages.
"""

import json
import random
import sys
import warnings
from importlib.metadata import version

import numpy as np
from mapie.risk_control import MultiLabelClassificationController
from mapie.risk_control.fwer_control import FWERFixedSequenceTesting
from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value

RECALL = (0.513, 0.747, 0.853, 0.907)
PRECISION = ((0.413, 0.9), (0.607, 0.8), (0.823, 0.9))
GRID = np.arange(0, 100) / 100


def off_the_grid(value, digits=2):
    step = 10**-digits
    return round(min(max(int(value / step), 0), round(1 / step) - 1) * step + step / 2, digits + 1)


def calibrated(rng, size):
    """Values that are the probabilities of being relevant."""
    values = [rng.betavariate(0.5, 1.0) for _ in range(size)]
    return values, [rng.random() < value for value in values]


def steep(rng, size):
    """One relevant candidate, mostly on top."""
    values = sorted((rng.random() ** 3 for _ in range(size)), reverse=True)
    answer = 0 if rng.random() < 0.8 else rng.randrange(size)
    return values, [index == answer for index in range(size)]


def tied(rng, size):
    """Few distinct values."""
    values = [rng.choice((0.105, 0.505, 0.905)) for _ in range(size)]
    return values, [rng.random() < value for value in values]


def all_or_nothing(rng, size):
    """Everything relevant has the same value, which is high or low."""
    value = 0.955 if rng.random() < 0.9 else 0.005
    relevant = [rng.random() < 0.5 for _ in range(size)]
    return [value if hit else 0.305 for hit in relevant], relevant


FAMILIES = (calibrated, steep, tied, all_or_nothing)


def judged(family, rng, count, size):
    while count > 0:
        values, relevant = family(rng, size)
        if any(relevant):
            pairs = sorted(zip(map(off_the_grid, values), map(int, relevant)), key=lambda pair: -pair[0])
            yield [value for value, _ in pairs], [hit for _, hit in pairs]
            count -= 1


def recall(values, relevant, target):
    controller = MultiLabelClassificationController(
        predict_function=lambda indices: values[indices.ravel()], target_level=target, predict_params=GRID
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(np.arange(len(values)).reshape(-1, 1), relevant)
    if controller.r_hat_plus[0] >= 1 - target:
        return None
    return round(float(controller.best_predict_param[0]), 2)


def precision(values, relevant, target, confidence):
    thresholds = np.arange(100, -1, -1) / 100
    kept = values[:, :, None] > thresholds
    wrong = (kept & (relevant[:, :, None] == 0)).sum(axis=1)
    losses = (wrong / np.maximum(kept.sum(axis=1), 1)).mean(axis=0)
    p_values = compute_hoeffding_bentkus_p_value(losses, len(values), 1 - target)[:, 0]
    accepted = FWERFixedSequenceTesting(n_starts=1).run(p_values, 1 - confidence)
    if len(accepted) == 0 or not kept[:, :, max(accepted)].any():
        return None
    return float(thresholds[max(accepted)])


def sets():
    for family in FAMILIES:
        rng = random.Random(family.__name__)
        for count in (3, 8, 15, 40, 90):
            queries = list(judged(family, rng, count, rng.randint(3, 9)))
            values = np.array([values for values, _ in queries])
            relevant = np.array([relevant for _, relevant in queries])
            yield {
                "name": f"{family.__name__} {count}",
                "queries": queries,
                "recall": [[target, recall(values, relevant, target)] for target in RECALL],
                "precision": [[*level, precision(values, relevant, *level)] for level in PRECISION],
            }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cases = list(sets())
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write('{"versions": ' + json.dumps({"mapie": version("mapie")}) + ',\n"sets": [\n')
        out.write(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases))
        out.write("\n]}\n")
    print(f"{len(cases)} sets")


if __name__ == "__main__":
    main()
