"""Ranking and cuts measured against judgements."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from . import _tamis
from .errors import ParameterError

__all__ = ["Evaluation", "evaluate"]

_QUERY = ("query_id", "query-id", "query", "q_id", "qid")
_DOCUMENT = ("doc_id", "corpus-id", "corpus_id", "document_id", "document", "docno", "docid")
_SCORE = ("score",)
_GRADE = ("relevance", "grade", "rel", "score", "label")


class Evaluation:
    """The figures of a run: of its ranking, and of what each cut keeps."""

    def __init__(self, evaluation: _tamis.Evaluation) -> None:
        self._evaluation = evaluation

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """The whole report, as `tamis eval --json` prints it."""
        report: dict[str, Any] = json.loads(self._evaluation.json())
        return report

    @property
    def ranking(self) -> dict[str, float]:
        """Means over the queries with an answer: `ndcg_at_10`, `recall_at_10`, `map`, `mrr`, …"""
        ranking: dict[str, float] = self._collection["ranking"]
        return ranking

    @property
    def cuts(self) -> dict[str, dict[str, float]]:
        """The figures of each cut, and of the reference methods: `f1`, `precision`, `recall`, `kept`, …"""
        return {method["name"]: method["figures"] for method in self._collection["methods"]}

    @property
    def kept(self) -> dict[str, dict[str, int]]:
        """The number of documents that each cut keeps of each query."""
        queries = [query["id"] for query in self._collection["queries"]]
        methods = self._collection["methods"]
        return {method["name"]: dict(zip(queries, method["kept"]["documents"])) for method in methods}

    @property
    def notes(self) -> list[str]:
        """Remarks, such as the number of judged queries that the run does not answer."""
        return self._evaluation.notes

    def markdown(self) -> str:
        """The report as tables."""
        return self._evaluation.markdown()

    def html(self) -> str:
        """The report as a page with plots."""
        return self._evaluation.html()

    @property
    def _collection(self) -> dict[str, Any]:
        collection: dict[str, Any] = self.report["collections"][0]
        return collection

    def __repr__(self) -> str:
        ranking = ", ".join(f"{name}={value:.3f}" for name, value in self.ranking.items())
        return f"<tamis.Evaluation: {ranking}>"

    def _repr_html_(self) -> str:
        import html

        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox="" style="width:100%;height:36em;border:1px solid #8884"></iframe>'


def evaluate(
    run: Any,
    qrels: Any,
    *,
    cuts: Iterable[str] = ("auto",),
    depths: Iterable[int] = (10, 100),
    baseline: str | None = None,
    beta: float = 1.0,
    resamples: int = 1000,
    seed: int = 0,
    name: str = "run",
) -> Evaluation:
    """Measure a run against judgements, as `tamis eval --run … --qrels …` does.

    `run` has for each query its documents with their scores, and `qrels` for each query its documents with their grades: as
    dictionaries of dictionaries, or as frames of pandas or polars with the columns `query_id`, `doc_id` and `score`, or
    `relevance`. A grade above 0 is relevant. Order and ties are those of trec_eval.

    `cuts` are methods with their parameters, such as `"auto"` and `"kneedle:sensitivity=2"`, and `depths` the k of nDCG@k and
    recall@k. `baseline` is the method that the others are compared with, with intervals from so many `resamples`.
    """
    if isinstance(cuts, str):
        cuts = [cuts]
    results = [
        (query, document, _score(query, document, score)) for query, document, score in _rows("run", run, _SCORE)
    ]
    grades = [
        (query, document, _grade(query, document, grade)) for query, document, grade in _rows("qrels", qrels, _GRADE)
    ]
    for what, rows in (("run", results), ("qrels", grades)):
        if not rows:
            raise ParameterError(
                f"{what}: empty: must have at least one query with a document", what, "empty", "not empty"
            )
    queries = {query for query, _, _ in results}
    if not any(query in queries for query, _, _ in grades):
        raise ParameterError(
            "qrels: none of the judged queries is in the run; give judgements of the same queries, by the same names",
            "qrels",
            "other queries",
            "queries of the run",
        )
    return Evaluation(
        _tamis.evaluate(
            results,
            grades,
            name=name,
            cuts=list(cuts),
            seed=seed,
            resamples=resamples,
            baseline=baseline,
            beta=beta,
            depths=list(depths),
        )
    )


def _score(query: str, document: str, score: Any) -> float:
    try:
        return float(score)
    except (TypeError, ValueError, OverflowError):
        value = f"{score!r} for query {query}, document {document}"
        raise ParameterError(f"run: {value}: must be a number", "run", value, "a number") from None


def _grade(query: str, document: str, grade: Any) -> int:
    try:
        is_whole = int(grade) == grade
    except (TypeError, ValueError, OverflowError):
        is_whole = False
    if not is_whole:
        value = f"{grade} for query {query}, document {document}"
        raise ParameterError(f"qrels: {value}: must be a whole number", "qrels", value, "a whole number")
    return int(grade)


def _rows(what: str, data: Any, value_names: tuple[str, ...]) -> Iterable[tuple[str, str, Any]]:
    if isinstance(data, Mapping):
        for query, documents in data.items():
            if not isinstance(documents, Mapping):
                kind = f"{type(documents).__name__} for query {query}"
                allowed = f"a dictionary of its documents, each with its {value_names[0]}"
                raise ParameterError(f"{what} = {kind}: must be {allowed}", what, kind, allowed)
            for document, value in documents.items():
                yield str(query), str(document), value
        return
    if hasattr(data, "columns"):
        columns = [str(column) for column in data.columns]
        names = [_column(what, columns, known) for known in (_QUERY, _DOCUMENT, value_names)]
        lists = [data[name].to_list() for name in names]
        for query, document, value in zip(*lists):
            yield str(query), str(document), value
        return
    kind = type(data).__name__
    allowed = "a dictionary of dictionaries, or a frame of pandas or polars"
    raise ParameterError(f"{what} = {kind}: must be {allowed}", what, kind, allowed)


def _column(what: str, columns: list[str], known: tuple[str, ...]) -> str:
    for name in known:
        if name in columns:
            return name
    message = f"{what}: no column {known[0]}, only {', '.join(columns)}; rename the column"
    raise ParameterError(message, what, ", ".join(columns), f"a column {known[0]}")
