"""The common part of the adapters: the text and metadata of a result, and the cut of a list of scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from .. import _tamis
from .._arguments import refused
from ..answers import Hit
from ..errors import ParameterError
from ..index import Index

Text = Literal["passage", "snippet"]
"""The text of a result: its whole passage, or the lines of it that answer best."""

_LEFT_OUT = {"snippet", "snippet_line", "passages", "copies", "attributes", "rank"}


def missing(module: str, library: str, extra: str) -> ImportError:
    """The error for an adapter without its library."""
    return ImportError(f"tamis.adapters.{module} needs {library}; install it: pip install 'tamis[{extra}]'")


def found(index: Index, query: str, options: Mapping[str, Any], text: Text) -> list[tuple[Hit, str, dict[str, Any]]]:
    """The results of a search, each with its text and its metadata."""
    if text not in ("passage", "snippet"):
        raise ParameterError(f"text = {text!r}: must be 'passage' or 'snippet'", "text", repr(text), "passage, snippet")
    rows = []
    for hit in index.search(query, **options):
        body = hit.snippet if text == "snippet" else index.get(hit.id).text
        rows.append((hit, body, _metadata(hit)))
    return rows


def _metadata(hit: Hit) -> dict[str, Any]:
    fields = {field.name: getattr(hit, field.name) for field in dataclasses.fields(hit)}
    metadata = {name: value for name, value in fields.items() if name not in _LEFT_OUT and value is not None}
    # Filters of vector stores know numbers, texts and lists of these, so an issue's labels stand beside the other fields.
    return {**hit.attributes, **metadata}


def kept(
    scores: Sequence[Any], options: Mapping[str, Any], texts: Callable[[], Sequence[str]] | None = None
) -> list[int]:
    """The positions of the entries that the cut keeps, best first. `texts` are read if a budget of tokens counts them."""
    options = dict(options)
    if texts is not None and "budget_tokens" in options and not {"texts", "tokens"} & options.keys():
        options["texts"] = list(texts())
    return _tamis.cut([_number(at, score) for at, score in enumerate(scores)], **options).kept


def _number(at: int, score: Any) -> float:
    try:
        return float(score)
    except (TypeError, ValueError, OverflowError):
        raise refused(f"scores[{at}]", score, "a number") from None


def without_score(entry: str, place: str) -> ParameterError:
    """The error for an entry that cannot be cut."""
    return ParameterError(f"{entry}: no score in {place}", entry, "no score", f"a number in {place}")
