"""Cut the results of BM25 where relevance ends: F1 of a fixed top-10 beside F1 of the cut.

pip install tamis bm25s
python bm25s_scifact.py DIRECTORY   # corpus.jsonl, queries.jsonl and qrels/test.tsv, as BEIR has them
"""

import csv
import json
import sys
from pathlib import Path

import bm25s

import tamis


def f1(kept, relevant):
    return 2 * len(set(kept) & relevant) / (len(kept) + len(relevant))


directory = Path(sys.argv[1])
corpus = [json.loads(line) for line in (directory / "corpus.jsonl").open(encoding="utf-8")]
queries = {one["_id"]: one["text"] for one in map(json.loads, (directory / "queries.jsonl").open(encoding="utf-8"))}
relevant = {}
for query, document, grade in list(csv.reader((directory / "qrels/test.tsv").open(), delimiter="\t"))[1:]:
    if int(grade) > 0:
        relevant.setdefault(query, set()).add(document)

retriever = bm25s.BM25()
texts = [f"{one['title']} {one['text']}" for one in corpus]
retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

scores_of = {"top 10": [], "top 1": [], "tamis.cut": []}
kept = []
for query, answers in relevant.items():
    asked = bm25s.tokenize([queries[query]], stopwords="en", show_progress=False)
    places, scores = retriever.retrieve(asked, k=100, show_progress=False)
    found = [corpus[place]["_id"] for place in places[0]]
    cut = tamis.cut(scores[0])  # the one line that cuts
    scores_of["top 10"].append(f1(found[:10], answers))
    scores_of["top 1"].append(f1(found[:1], answers))
    scores_of["tamis.cut"].append(f1(found[: cut.count], answers))
    kept.append(cut.count)

for name, scores in scores_of.items():
    print(f"{name:<10} F1 {sum(scores) / len(scores):.3f}")
print(f"tamis.cut kept {sum(kept) / len(kept):.1f} of 100 on average, over {len(relevant)} queries")
