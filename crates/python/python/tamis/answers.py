"""The answers of an index: the objects of the JSON contract, field by field."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import overload

from . import _schema, _tamis
from ._schema import *

__all__ = ["Answer"] + _schema.__all__


@dataclass(frozen=True)
class Answer(_schema.Answer):
    """The result of a search, with its cut and the reason for it. As a sequence, its results."""

    pool_scores: list[float] = field(default_factory=list, repr=False, compare=False)
    """The scores of the whole pool, best first, which draw the curve."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, place: int, /) -> Hit: ...
    @overload
    def __getitem__(self, place: slice, /) -> list[Hit]: ...
    def __getitem__(self, place: int | slice, /) -> Hit | list[Hit]:
        return self.results[place]

    def __repr__(self) -> str:
        places = [f"{hit.path}:{hit.start_line}" for hit in self.results[:3]]
        listed = f"\n    {', '.join(places)}{', …' if len(self) > 3 else ''}" if places else ""
        return f"<tamis.Answer: {len(self)} of {self.cut.candidates}: {self.cut.reason}{listed}>"

    def _repr_html_(self) -> str:
        """The curve with the cut, and the results below it."""
        scores = self.pool_scores or [hit.score for hit in self.results]
        rows = []
        for hit in self.results:
            place = html.escape(f"{hit.path}:{hit.start_line}")
            name = html.escape(hit.symbol or hit.title or "")
            snippet = html.escape(hit.snippet)
            rows.append(f"<li><b>{place}</b> {name}<pre style='margin:0;white-space:pre-wrap'>{snippet}</pre></li>")
        below = [html.escape(f"{one.path}:{one.start_line} {one.symbol or one.title or ''}") for one in self.nearest]
        heading = "Less likely:" if self.results else "Nearest:"
        lower = f"<p>{heading}</p><ul style='opacity:.7'><li>{'</li><li>'.join(below)}</li></ul>" if below else ""
        plot = _tamis.plot(scores, min(self.cut.keep, len(scores)), self.summary)
        return f"{plot}<ol>{''.join(rows)}</ol>{lower}"
