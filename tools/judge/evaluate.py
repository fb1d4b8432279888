"""Measures a trained judge on collections that it never saw.

    tamis eval COLLECTION... --model static --pools OWN
    tamis eval COLLECTION... --model static --pools FOREIGN       (on copies whose queries are those of other collections)
    python evaluate.py score STATE TOKENIZER COLLECTIONS OWN FOREIGN SCORES [--squad DIRECTORY] [--queries 40] [--minutes 10]
    python evaluate.py report SCORES

`score` reads the first entries of each query and writes a line a query; `report` needs no model. A passage is the part of the document that
shares the most words with the query, with the title in front, so it may differ from the one that a search shows.
"""

import argparse
import hashlib
import json
import math
import random
import re
import time
from pathlib import Path

import numpy

DEPTH, READ = 30, 16
FAMILIES = {
    "nq-utd": "web", "noveleval": "web", "mtrag-un": "talk", "med": "medicine", "medquad-liveqa": "medicine", "scifact": "science",
    "cranfield": "science", "cisi": "science", "cosqa": "code", "gitbugs-hadoop": "bugs",
}  # fmt: skip


def words(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def passage(document, query, size=1000):
    """The part of a document that shares the most with the query, with the title."""
    title, text = document.get("title", ""), document["text"]
    if len(text) > 1.3 * size:
        parts, part = [], ""
        for piece in re.split(r"(?<=[.!?]) +|\n+", text):
            if part and len(part) + len(piece) > size:
                parts.append(part)
                part = ""
            part = f"{part} {piece}" if part else piece
        parts.append(part)
        asked = {word for word in words(query) if len(word) > 3}
        text = max(parts, key=lambda part: len(asked & set(words(part))))
    return f"{title}\n{text}" if title else text


def documents(directory):
    return {document["_id"]: document for document in map(json.loads, open(directory / "corpus.jsonl"))}


def judgements(directory):
    """Positive grades of each query, best first."""
    found = {}
    for line in list(open(directory / "qrels" / "test.tsv"))[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0 and query != document:
            found.setdefault(query, []).append(float(grade))
    return {query: sorted(grades, reverse=True)[:10] for query, grades in found.items()}


def tasks(arguments):
    """Yields what is to be read: one task a query, collections taken in turn so that an interrupted run has some of each."""
    per, draw = {}, random.Random(7)
    corpora = {}
    for kind, file, most, depth in (("own", arguments.own, arguments.queries, DEPTH), ("foreign", arguments.foreign, arguments.queries // 3, READ)):
        pools = {}
        for pool in map(json.loads, open(file)):
            if pool["collection"] in FAMILIES:
                pools.setdefault(pool["collection"], []).append(pool)
        for name, listed in pools.items():
            corpus = corpora.setdefault(name, documents(arguments.collections / name))
            ideals = judgements(arguments.collections / name)
            draw.shuffle(listed)
            answered = [pool for pool in listed if pool["answerable"]][:most]
            for pool in answered + [pool for pool in listed if not pool["answerable"]]:
                found, entries = set(), []
                for entry in pool["candidates"]:
                    if entry["document"] not in found and len(entries) < depth:
                        found.add(entry["document"])
                        entries.append(entry)
                short = kind == "foreign" or not pool["answerable"]
                entries = entries[:READ] if short else entries
                per.setdefault((kind, name, pool["answerable"]), []).append({
                    "kind": kind if pool["answerable"] or kind == "foreign" else "unanswerable", "collection": name, "text": pool["text"],
                    "relevant": pool["relevant"], "scores": [e["score"] for e in entries], "grades": [max(0, e["grade"]) for e in entries],
                    "ideal": ideals.get(pool["query"], []) if kind == "own" else [],
                    "passages": [passage(corpus[e["document"]], pool["text"]) for e in entries],
                })  # fmt: skip
    if arguments.squad:
        from mine import Bm25

        corpus = documents(arguments.squad)
        held = {key for key, document in corpus.items() if int(hashlib.sha256(f"squad:{document['title']}".encode()).hexdigest(), 16) % 3 == 0}
        keys = sorted(corpus)
        queries = [query for query in map(json.loads, open(arguments.squad / "queries.jsonl")) if query["metadata"]["context"] in held]
        draw.shuffle(queries)
        tops = Bm25([corpus[key]["title"] + "\n" + corpus[key]["text"] for key in keys]).top([query["text"] for query in queries[:240]], READ)
        for query, top in zip(queries, tops):
            own = query["metadata"]["context"]
            listed = [own] + [keys[at] for at in top if keys[at] != own][:7]
            per.setdefault(("squad", "squad", True), []).append({
                "kind": "squad", "collection": "squad", "answerable": query["metadata"]["answerable"], "text": query["text"], "relevant": 1,
                "scores": [0.0] * len(listed), "grades": [int(query["metadata"]["answerable"])] + [0] * (len(listed) - 1), "ideal": [1],
                "passages": [passage(corpus[key], query["text"]) for key in listed],
            })  # fmt: skip
    most = max(map(len, per.values()))
    order = [(at / len(listed), task) for listed in per.values() for at, task in enumerate(listed)]
    return [task for _, task in sorted(order, key=lambda pair: pair[0])], most


def score(arguments):
    import torch
    from model import Judge
    from train import Pairs

    state = torch.load(arguments.state)
    judge = Judge(len(state["layers"]))
    judge.load_state_dict(state["judge"])
    judge.eval()
    pairs = Pairs(arguments.tokenizer)
    listed, _ = tasks(arguments)
    print(len(listed), "queries,", sum(len(task["passages"]) for task in listed), "pairs", flush=True)
    start, read = time.time(), 0
    with torch.no_grad(), open(arguments.scores, "w") as file:
        for at in range(0, len(listed), 8):
            if time.time() - start > 60 * arguments.minutes:
                print(f"stopped after {at} of {len(listed)} queries")
                break
            batch = listed[at : at + 8]
            flat = [(task["text"], text) for task in batch for text in task["passages"]]
            order = sorted(range(len(flat)), key=lambda i: len(flat[i][0]) + min(len(flat[i][1]), 700))
            logits = [0.0] * len(flat)
            for chunk in range(0, len(order), 16):
                ids = order[chunk : chunk + 16]
                for i, logit in zip(ids, judge(*pairs.encode([flat[i] for i in ids])).tolist()):
                    logits[i] = logit
            for task in batch:
                size = len(task.pop("passages"))
                task["logits"], logits = logits[:size], logits[size:]
                file.write(json.dumps(task) + "\n")
            read += len(flat)
    print(f"{read} pairs, {read / (time.time() - start):.0f} a second")


def ndcg(order, grades, ideal):
    gain = lambda listed: sum((2**grade - 1) / math.log2(at + 2) for at, grade in enumerate(listed[:10]))
    return gain([grades[at] for at in order]) / gain(ideal) if gain(ideal) else None


def standardised(values):
    values = numpy.array(values)
    return (values - values.mean()) / (values.std() + 1e-6)


def auroc(good, bad):
    good, bad = numpy.array(good), numpy.array(bad)
    if not len(good) or not len(bad):
        return float("nan")
    order = numpy.sort(bad)
    return float((numpy.searchsorted(order, good, "left") + numpy.searchsorted(order, good, "right")).mean() / (2 * len(bad)))


def logistic(values, labels):
    """Logistic regression by Newton's method: a slope for each column and the offset."""
    x = numpy.c_[values, numpy.ones(len(labels))]
    beta = numpy.zeros(x.shape[1])
    for _ in range(40):
        p = 1 / (1 + numpy.exp(-x @ beta))
        beta = beta + numpy.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-3 * numpy.eye(len(beta)), x.T @ (labels - p))
    return beta


def probability(beta, values):
    return 1 / (1 + numpy.exp(-(numpy.c_[values, numpy.ones(len(values))] @ beta)))


def ece(probability, labels, bins=10):
    edges = numpy.minimum((probability * bins).astype(int), bins - 1)
    total = 0.0
    for at in range(bins):
        kept = edges == at
        if kept.any():
            total += kept.mean() * abs(probability[kept].mean() - labels[kept].mean())
    return float(total)


def report(arguments):
    rows = list(map(json.loads, open(arguments.scores)))
    own = [row for row in rows if row["kind"] == "own"]
    names = [name for name in FAMILIES if any(row["collection"] == name for row in own)]
    mixed = lambda row, w: standardised(row["scores"]) + w * standardised(row["logits"])
    rank = lambda values: numpy.argsort(-numpy.array(values), kind="stable")
    at = lambda row, w: ndcg(rank(mixed(row, w)), row["grades"], row["ideal"])
    weights = [0.0, 0.25, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0]
    table = {name: {w: [v for row in own if row["collection"] == name and (v := at(row, w)) is not None] for w in weights} for name in names}
    mean = lambda w, left="": numpy.mean([numpy.mean(table[name][w]) for name in names if FAMILIES[name] != left])
    best = max(weights, key=mean)
    print("one weight for all:", best, "; means by weight:", {w: round(float(mean(w)), 4) for w in weights})
    print(f"\n| collection | queries | scores | judge | mixed ({best}) | gain (95%) | left out (weight) | AUROC scores | judge | mixed |\n| --- |" + " --- |" * 9)
    draw, sums = numpy.random.default_rng(0), []
    for name in names:
        chosen = [row for row in own if row["collection"] == name]
        alone = [v for row in chosen if (v := ndcg(rank(row["logits"]), row["grades"], row["ideal"])) is not None]
        w = max(weights, key=lambda w: mean(w, FAMILIES[name]))
        gain = numpy.array(table[name][best]) - numpy.array(table[name][0.0])
        boot = numpy.percentile([gain[draw.integers(0, len(gain), len(gain))].mean() for _ in range(2000)], [2.5, 97.5])
        curve = []
        for values in (lambda row: row["scores"], lambda row: row["logits"], lambda row: mixed(row, best)):
            flat = [(v, g) for row in chosen for v, g in zip(values(row), row["grades"])]
            curve.append(auroc([v for v, g in flat if g > 0], [v for v, g in flat if g <= 0]))
        figures = [numpy.mean(table[name][0.0]), numpy.mean(alone), numpy.mean(table[name][best])]
        sums.append([*figures, numpy.mean(table[name][w]), *curve])
        print(f"| {name} | {len(gain)} | " + " | ".join(f"{v:.3f}" for v in figures) + f" | {gain.mean():+.3f} ({boot[0]:+.3f} to {boot[1]:+.3f}) | {numpy.mean(table[name][w]):.3f} ({w}) | " + " | ".join(f"{v:.3f}" for v in curve) + " |")  # fmt: skip
    s = numpy.mean(sums, 0)
    print(f"| **mean** | | {s[0]:.3f} | {s[1]:.3f} | {s[2]:.3f} | {s[2] - s[0]:+.3f} | {s[3]:.3f} | {s[4]:.3f} | {s[5]:.3f} | {s[6]:.3f} |")

    top = lambda row: max(row["logits"][:READ])
    squad = [row for row in rows if row["kind"] == "squad"]
    parted = lambda f, rows: auroc([f(r) for r in rows if r["answerable"]], [f(r) for r in rows if not r["answerable"]])
    if squad:
        print(f"\nnearly answered, articles left out, {len(squad)} questions: AUROC own paragraph {parted(lambda r: r['logits'][0], squad):.3f}, best of 8 {parted(top, squad):.3f}")
        print(f"own paragraph first, answered ones: {numpy.mean([r['logits'][0] == max(r['logits']) for r in squad if r['answerable']]):.3f}")
    for name in names:
        bad = [row for row in rows if row["kind"] == "unanswerable" and row["collection"] == name]
        if len(bad) >= 10:
            good = [row for row in own if row["collection"] == name]
            print(f"{name}: answerable ({len(good)}) over unanswerable ({len(bad)}): AUROC {auroc(list(map(top, good)), list(map(top, bad))):.3f}")
    foreign = [row for row in rows if row["kind"] == "foreign"]
    by_name = [auroc([top(r) for r in own if r["collection"] == name], [top(r) for r in foreign if r["collection"] == name]) for name in names]
    good, bad = list(map(top, own)), list(map(top, foreign))
    print(f"own over foreign queries: AUROC pooled {auroc(good, bad):.3f}, mean of collections {numpy.nanmean(by_name):.3f} ({', '.join(f'{n} {v:.3f}' for n, v in zip(names, by_name))})")
    for share in (0.02, 0.05):
        print(f"  with {share:.0%} of own queries empty, {numpy.mean(numpy.array(bad) < numpy.quantile(good, share)):.1%} of the foreign ones are")

    # The first entries only: those are the ones that a search has read.
    read = lambda row: zip(row["logits"][:READ], row["scores"], row["grades"])
    flat = {name: numpy.array([(l, s, g > 0) for row in own if row["collection"] == name for l, s, g in read(row)]) for name in names}
    every = numpy.concatenate(list(flat.values()))
    print("\n| probability from, fitted on the other families | ECE pooled | ECE mean | AUROC pooled | AUROC mean | slopes and offset on all |\n| --- | --- | --- | --- | --- | --- |")
    for what, columns in (("scores", [1]), ("judge", [0]), ("both", [0, 1])):
        left, errors, curves = [], [], []
        for name in names:
            others = numpy.concatenate([flat[other] for other in names if FAMILIES[other] != FAMILIES[name]])
            p = probability(logistic(others[:, columns], others[:, 2]), flat[name][:, columns])
            labels = flat[name][:, 2]
            left.append(numpy.stack([p, labels], 1))
            errors.append(ece(p, labels))
            curves.append(auroc(p[labels > 0], p[labels == 0]))
        p, labels = numpy.concatenate(left).T
        beta = logistic(every[:, columns], every[:, 2])
        slopes = ", ".join(f"{value:.3f}" for value in beta)
        print(f"| {what} | {ece(p, labels):.3f} | {numpy.mean(errors):.3f} | {auroc(p[labels > 0], p[labels == 0]):.3f} | {numpy.mean(curves):.3f} | {slopes} |")
    print("share relevant of the first entries:", ", ".join(f"{name} {flat[name][:, 2].mean():.2f}" for name in names))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="what", required=True)
    reading = parts.add_parser("score")
    for name in ("state", "tokenizer", "collections", "own", "foreign", "scores"):
        reading.add_argument(name, type=Path)
    reading.add_argument("--squad", type=Path)
    reading.add_argument("--queries", type=int, default=40)
    reading.add_argument("--minutes", type=float, default=10)
    telling = parts.add_parser("report")
    telling.add_argument("scores", type=Path)
    arguments = parser.parse_args()
    {"score": score, "report": report}[arguments.what](arguments)


if __name__ == "__main__":
    main()
