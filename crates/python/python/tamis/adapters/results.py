"""Cut the results of rerankers, vector databases and search engines, each in its own shape.

>>> from tamis.adapters.results import cut_results
>>> cut_results(collection.query(query_texts=["where are retries handled"], n_results=50))

None of these libraries is imported: a shape is recognised by its fields.
"""

from __future__ import annotations

import copy
from collections.abc import Container, Mapping, Sequence
from typing import Any, TypeVar

from ..errors import ParameterError
from ._documents import kept, without_score

__all__ = ["cut_results"]

R = TypeVar("R")

_SHAPES = (
    "results of rerankers, CrossEncoder.rank, Chroma, Qdrant, LanceDB, Elasticsearch or OpenSearch, "
    "or a list of pairs of an item and its score"
)


def cut_results(results: R, **options: Any) -> R:
    """Return the relevant results, as the same kind of object in the same order.

    | library | `results` | by |
    | --- | --- | --- |
    | rerankers | `RankedResults` | `score` |
    | sentence-transformers | the list of `CrossEncoder.rank` | `score` |
    | Chroma | the result of `query`; each query is cut by itself | `distances` |
    | Qdrant | the result of `query_points`, or its points | `score` |
    | LanceDB | `to_list()`, `to_arrow()`, `to_pandas()` or `to_polars()` of a search | `_relevance_score`, `_distance`, or `_score` |
    | Elasticsearch, OpenSearch | the response of `search`, or its list of hits | `_score` |
    | LangChain | the pairs of `similarity_search_with_score` | the second of each pair; the first if the second is a text |

    The results must be sorted, best first, as all of these are. A higher score is better, and a lower distance. Qdrant's score for
    the distances Euclid and Manhattan is lower for better points, and so is the score of some vector stores of LangChain: pass
    `distance=True`. Further `options` are arguments of `tamis.cut`, such as `want="one"`. Totals beside the results, such as
    `hits.total`, stay those of the engine.

    Raises ParameterError if the shape is another, a score is missing, or the results are not sorted.
    """
    cut: R = _cut_known(results, options)
    return cut


def _cut_known(results: Any, options: Mapping[str, Any]) -> Any:
    if isinstance(results, (list, tuple)):
        return _cut_list(results, options)
    if isinstance(results, Mapping):
        return _cut_mapping(results, options)
    # The clients of Elasticsearch wrap the JSON.
    if isinstance(getattr(results, "body", None), Mapping) and hasattr(results, "meta"):
        return type(results)(body=_cut_mapping(results.body, options), meta=results.meta)
    for field in ("results", "points"):
        entries = getattr(results, field, None)
        if isinstance(entries, list):
            shorter = copy.copy(results)
            setattr(shorter, field, _cut_list(entries, options))
            return shorter
    return _cut_table(results, options)


def _cut_list(entries: Any, options: Mapping[str, Any]) -> Any:
    if not entries:
        return entries
    first = entries[0]
    distance = False
    if isinstance(first, Mapping):
        field, distance = _field(first, first)
        scores = [entry.get(field) for entry in entries]
    elif isinstance(first, tuple) and len(first) == 2:
        # Either may come first.
        at = 0 if hasattr(first[0], "__float__") and isinstance(first[1], str) else 1
        field = f"[{at}]"
        scores = [entry[at] for entry in entries]
    elif hasattr(first, "score"):
        field = "score"
        scores = [entry.score for entry in entries]
    else:
        raise _unknown(entries)
    return type(entries)(entries[place] for place in _places(scores, field, distance, options))


def _cut_mapping(results: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    hits = results.get("hits")
    if isinstance(hits, Mapping) and isinstance(hits.get("hits"), list):
        return {**results, "hits": {**hits, "hits": _cut_list(hits["hits"], options)}}
    if "ids" in results and "distances" in results:
        return _cut_columns(results, options)
    raise _unknown(results)


def _cut_columns(results: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """Chroma's answer: for each field a list for each query."""
    if results["distances"] is None:
        raise without_score("results", "distances; name it in the query's include=[…]")
    places = [_places(distances, "distances", True, options) for distances in results["distances"]]
    queries = len(places)

    def shorter(name: str, column: Any) -> Any:
        if name == "included" or column is None or len(column) != queries:
            return column
        return [_taken(column[query], places[query]) for query in range(queries)]

    return {name: shorter(name, column) for name, column in results.items()}


def _taken(column: Any, places: list[int]) -> Any:
    # Embeddings are arrays, which take a list of positions; the other fields are lists.
    return [column[place] for place in places] if isinstance(column, list) else column[places]


def _cut_table(results: Any, options: Mapping[str, Any]) -> Any:
    # Arrow has column_names; pandas and polars have columns.
    names = getattr(results, "column_names", None)
    if names is None:
        names = getattr(results, "columns", None)
    if names is None:
        raise _unknown(results)
    field, distance = _field({str(name) for name in names}, results)
    column = results[field]
    scores = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    places = _places(scores, field, distance, options)
    return results.take(places) if hasattr(results, "take") else results[places]


def _field(names: Container[str], results: Any) -> tuple[str, bool]:
    """The field with the score, and if it is a distance. A reranker's score stands beside the distance that it replaces."""
    for field in ("_relevance_score", "_distance", "_score", "score"):
        if field in names:
            return field, field == "_distance"
    raise _unknown(results)


def _unknown(results: Any) -> ParameterError:
    kind = type(results).__name__
    if isinstance(results, Mapping):
        kind += f" with {', '.join(str(name) for name in results) or 'nothing'}"
    elif isinstance(results, (list, tuple)):
        kind += f" of {type(results[0]).__name__}"
    return ParameterError(f"results = {kind}: must be {_SHAPES}", "results", kind, _SHAPES)


def _places(scores: Sequence[Any], field: str, distance: bool, options: Mapping[str, Any]) -> list[int]:
    for number, score in enumerate(scores):
        if score is None:
            raise without_score(f"results[{number}]", field)
    return sorted(kept(scores, {"distance": distance, **options}))
