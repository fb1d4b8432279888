"""Answers in a notebook."""

from __future__ import annotations

import html
import typing

from . import _tamis

if typing.TYPE_CHECKING:
    from .answers import Answer


def answer_html(answer: Answer) -> str:
    """The curve with the cut, and the results below it."""
    cut = answer.cut
    scores = answer.pool_scores or [hit.score for hit in answer.results]
    rows = []
    for hit in answer.results:
        place = html.escape(f"{hit.path}:{hit.start_line}")
        name = html.escape(hit.symbol or hit.title or "")
        snippet = html.escape(hit.snippet)
        rows.append(f"<li><b>{place}</b> {name}<pre style='margin:0;white-space:pre-wrap'>{snippet}</pre></li>")
    below = [html.escape(f"{one.path}:{one.start_line} {one.symbol or one.title or ''}") for one in answer.nearest]
    heading = "Less likely:" if answer.results else "Nearest:"
    lower = f"<p>{heading}</p><ul style='opacity:.7'><li>{'</li><li>'.join(below)}</li></ul>" if below else ""
    return f"{_tamis.plot(scores, min(cut.keep, len(scores)), answer.summary)}<ol>{''.join(rows)}</ol>{lower}"
