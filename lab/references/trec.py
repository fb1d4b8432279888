"""Ranking metrics of random runs, as the Python package pytrec_eval (trec_eval itself) computes them.

Usage: python3 lab/references/trec.py OUT

Runs hold what goes wrong in practice: equal scores, scores that differ by less than a 32-bit float can say, unjudged
documents, grades from -2 to 3, queries without a relevant document, queries that are only judged or only answered. Writes
JSON: the version used, and for each case the judgements and the run as text in TREC's formats and the metrics of each
query that has both. The output depends on nothing but this file and the pinned packages.
"""

import json
import random
import sys
from importlib.metadata import version

import pytrec_eval

DEPTHS = (1, 3, 5, 10, 100)
MEASURES = {f"{name}.{','.join(map(str, DEPTHS))}" for name in ("ndcg_cut", "recall")} | {"map", "recip_rank"}
KEPT = [f"{name}_{depth}" for name in ("ndcg_cut", "recall") for depth in DEPTHS] + ["map", "recip_rank"]


def distinct(rng, length):
    return [round(rng.gauss(0, 1), 9) for _ in range(length)]


def with_ties(rng, length):
    return [float(rng.randint(-2, 4)) for _ in range(length)]


def nearly_equal(rng, length):
    return [1.0 + rng.randint(0, 5) * 1e-9 + rng.randint(0, 2) for _ in range(length)]


def huge_and_tiny(rng, length):
    return [rng.choice((-1, 1)) * 10.0 ** rng.randint(-12, 12) for _ in range(length)]


FAMILIES = (distinct, with_ties, nearly_equal, huge_and_tiny)


def case(rng, scores):
    qrels, run = {}, {}
    for number in range(8):
        query = f"q{number}"
        documents = [f"d{rng.randint(0, 10**rng.randint(1, 4))}" for _ in range(rng.choice((1, 4, 12, 40)))]
        documents = list(dict.fromkeys(documents))
        found = [document for document in documents if rng.random() < 0.8]
        grades = rng.choice(((0, 1), (-2, -1, 0, 1, 2, 3), (0,), (0, 0, 0, 1), (1, 2)))
        judged = {document: rng.choice(grades) for document in documents if rng.random() < 0.6}
        # trec_eval writes past its memory where every grade of a query is negative.
        if any(grade >= 0 for grade in judged.values()) and number != 0:
            qrels[query] = judged
        if found and number != 1:
            run[query] = dict(zip(found, scores(rng, len(found))))
    return qrels, run


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cases = []
    for family in FAMILIES:
        rng = random.Random(family.__name__)
        for index in range(8):
            qrels, run = case(rng, family)
            figures = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
            cases.append({
                "name": f"{family.__name__} {index}",
                "qrels": "".join(f"{q} 0 {d} {g}\n" for q, grades in qrels.items() for d, g in grades.items()),
                "run": "".join(f"{q} Q0 {d} 0 {s!r} random\n" for q, ds in run.items() for d, s in ds.items()),
                "figures": {q: {name: figures[q][name] for name in KEPT} for q in sorted(figures)},
            })
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write('{"versions": ' + json.dumps({"pytrec_eval-terrier": version("pytrec_eval-terrier")}) + ',\n"cases": [\n')
        out.write(",\n".join(json.dumps(case) for case in cases))
        out.write("\n]}\n")
    print(f"{len(cases)} runs, {sum(len(case['figures']) for case in cases)} queries")


if __name__ == "__main__":
    main()
