"""An index of code and documents."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from . import _arguments, _tamis
from .answers import (
    Answer,
    Excerpt,
    GrepAnswer,
    Hit,
    Judged,
    Nearest,
    RefreshReport,
    Related,
    SimilarPassage,
    Status,
)
from .errors import ConfigError, ParameterError

__all__ = ["Index", "Progress", "Refresh"]

_URLS = ("postgres://", "postgresql://")

_Want = Literal["auto", "one", "best", "all"]
_Mode = Literal["hybrid", "lexical", "semantic"]
_By = Literal["vector", "reference"]
_Result = Hit | Nearest | SimilarPassage


@dataclass(frozen=True)
class Progress:
    """The progress of a run."""

    stage: str
    """What it does: `walk`, `read`, `publish`, `embed`, or `queue` while another process writes."""
    of: str | None
    """What the stage is about: the model that embeds, or the process that writes."""
    done: int
    """Steps done: files or passages."""
    total: int
    """All steps of the stage; 0 if that is not known."""


class Refresh(Iterator[Progress]):
    """A run that brings an index up to date, as an iterator of its progress.

    The run goes on by itself. `report` waits for its end. Ctrl-C, `cancel`, and losing the last reference stop it at a safe
    point; what is done stays.
    """

    def __init__(self, run: _tamis.Refresh) -> None:
        self._run = run

    def __iter__(self) -> Refresh:
        return self

    def __next__(self) -> Progress:
        return Progress(*next(self._run))

    def cancel(self) -> None:
        """Stop at the next safe point."""
        self._run.cancel()

    def report(self) -> RefreshReport:
        """Wait for the end, and return what changed."""
        for _ in self._run:
            pass
        return RefreshReport.from_dict(json.loads(self._run.finish()))


class Index:
    """An index of a directory, or of what a PostgreSQL database holds.

    >>> index = tamis.Index("my-project")
    >>> for hit in index.search("where are retries handled"):
    ...     print(hit.path, hit.start_line)

    It is opened as the command `tamis` opens it: the nearest directory with `.tamis` or `.git`, with the configuration of the
    environment, `.tamis/config.toml` and the user's `config.toml`. A missing index is made. Threads can share it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = ".",
        *,
        index_directory: str | os.PathLike[str] | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Open the index of the tree around `path`, or the one in the database whose URL `path` is.

        `index_directory` keeps it elsewhere than in `.tamis`. `settings` are keys of the configuration, such as
        `{"search.top_k": 20}`, and stand above files and the environment.
        """
        place = os.fspath(path)
        store = place if place.startswith(_URLS) else None
        self._in_database = store is not None
        pairs = [(key, _setting(key, value)) for key, value in (settings or {}).items()]
        self._index = _tamis.Index(
            "." if store else place,
            store=store,
            index_directory=None if index_directory is None else os.fspath(index_directory),
            settings=pairs,
        )

    @property
    def root(self) -> Path:
        """The directory of the tree."""
        return self._index.places[0]

    @property
    def directory(self) -> Path:
        """The directory of the index."""
        return self._index.places[1]

    def search(
        self,
        query: str,
        limit: int | None = None,
        *,
        cut: str | None = None,
        want: _Want | None = None,
        mode: _Mode | None = None,
        strictness: float | None = None,
        target_recall: float | None = None,
        min_precision: float | None = None,
        budget_tokens: int | None = None,
        guarantee: str | None = None,
        gate: bool = True,
        fast: bool = False,
        all: bool = False,
        strict: bool = False,
        passages: bool = False,
        variants: Iterable[str] = (),
        prefer_language: str | None = None,
        from_path: str | os.PathLike[str] | None = None,
        languages: Iterable[str] = (),
        collections: Iterable[str] = (),
        namespaces: Iterable[str] = (),
        paths: Iterable[str] = (),
        kinds: Iterable[str] = (),
        roles: Iterable[str] = (),
        symbols: Iterable[str] = (),
        states: Iterable[str] = (),
        labels: Iterable[str | Iterable[str]] = (),
        authors: Iterable[str] = (),
        types: Iterable[str] = (),
        topics: Iterable[str] = (),
        since: str | datetime.date | None = None,
        until: str | datetime.date | None = None,
        context: int | None = None,
        explain: bool = False,
        refresh: bool | None = None,
    ) -> Answer:
        """Find the relevant results, which can be none, and the next ones below the line.

        The arguments are the flags of `tamis search`. `limit` only shortens what the cut has decided. `all` lists the first
        results without a cut, and `strict` leaves out what is below the line. Each of `labels` is a label,
        or several of which one is enough. `since` and `until` are dates, or texts such as `7d`. `explain` returns the whole
        pool of candidates. `refresh` brings the index up to date
        first; by default the configuration decides, and an index in a database is searched as it is.
        """
        request = {
            "query": _arguments.text("query", _arguments.given("query", query)),
            "limit": _arguments.whole("limit", limit),
            "cut": _arguments.text("cut", cut),
            "want": _arguments.word("want", want, get_args(_Want)),
            "mode": _arguments.word("mode", mode, get_args(_Mode)),
            "strictness": _arguments.number("strictness", strictness),
            "target_recall": _arguments.number("target_recall", target_recall),
            "min_precision": _arguments.number("min_precision", min_precision),
            "budget_tokens": _arguments.whole("budget_tokens", budget_tokens),
            "guarantee": _arguments.text("guarantee", guarantee),
            "no_gate": not gate,
            "fast": bool(fast),
            "all": bool(all),
            "strict": bool(strict),
            "passages": bool(passages),
            "variants": _arguments.texts("variants", variants),
            "prefer_lang": _arguments.text("prefer_language", prefer_language),
            "from": _arguments.text("from_path", str(from_path) if isinstance(from_path, Path) else from_path),
            "languages": _arguments.texts("languages", languages),
            "collections": _arguments.texts("collections", collections),
            "namespaces": _arguments.texts("namespaces", namespaces),
            "paths": _arguments.texts("paths", paths),
            "kinds": _arguments.texts("kinds", kinds),
            "roles": _arguments.texts("roles", roles),
            "symbols": _arguments.texts("symbols", symbols),
            "states": _arguments.texts("states", states),
            "labels": [
                _arguments.texts("labels", [label] if isinstance(label, str) else label)
                for label in _arguments.several("labels", labels)
            ],
            "authors": _arguments.texts("authors", authors),
            "types": _arguments.texts("types", types),
            "topics": _arguments.texts("topics", topics),
            "since": _arguments.moment("since", since),
            "until": _arguments.moment("until", until),
            "context": _arguments.whole("context", context),
        }
        if refresh is None:
            refresh = self._index.refreshes and not self._in_database
        answer, scores = self._index.search(json.dumps(request), bool(refresh), bool(explain))
        return Answer.from_dict({**json.loads(answer), "pool_scores": scores})

    def get(self, wanted: str | _Result, *, context: int = 0) -> Excerpt:
        """Return the text of a result, which its identifier names too, or of `PATH`, `PATH:LINE` or `PATH:FIRST-LAST`."""
        request = {"id": _arguments.identifier("wanted", wanted), "context": _arguments.whole("context", context) or 0}
        return Excerpt.from_dict(json.loads(self._index.get(json.dumps(request))))

    def related(self, wanted: str | _Result, *, by: _By | None = None, limit: int | None = None) -> Related:
        """Find passages like one, what it uses, and what uses it."""
        request = {
            "id": _arguments.identifier("wanted", wanted),
            "by": _arguments.word("by", by, get_args(_By)),
            "limit": _arguments.whole("limit", limit),
        }
        return Related.from_dict(json.loads(self._index.related(json.dumps(request))))

    def grep(
        self,
        pattern: str,
        *,
        fixed_strings: bool = False,
        ignore_case: bool = False,
        word: bool = False,
        paths: Iterable[str] = (),
        languages: Iterable[str] = (),
        namespace: str | None = None,
        before: int = 0,
        after: int = 0,
        limit: int | None = None,
    ) -> GrepAnswer:
        """Find exact text or a regular expression in the files of the index, with exact totals."""
        request = {
            "pattern": _arguments.text("pattern", _arguments.given("pattern", pattern)),
            "fixed_strings": bool(fixed_strings),
            "ignore_case": bool(ignore_case),
            "word_regexp": bool(word),
            "paths": _arguments.texts("paths", paths),
            "languages": _arguments.texts("languages", languages),
            "namespace": _arguments.text("namespace", namespace),
            "before_context": _arguments.whole("before", before) or 0,
            "after_context": _arguments.whole("after", after) or 0,
            "limit": _arguments.whole("limit", limit),
        }
        return GrepAnswer.from_dict(json.loads(self._index.grep(json.dumps(request))))

    def feedback(self, answer: Answer | str, ids: Iterable[str | int | Hit], *, relevant: bool) -> list[Judged]:
        """Judge results of an answer by their identifiers or ranks, which later searches learn from."""
        query_id = answer if isinstance(answer, str) else answer.query_id
        if query_id is None:
            raise ParameterError(
                "answer: it was not recorded, so it cannot be judged; set telemetry.record = true",
                "answer",
                "an answer without query_id",
                "a recorded answer",
            )
        named = [
            str(one) if hasattr(one, "__index__") else _arguments.identifier("ids", one)
            for one in _arguments.several("ids", ids)
        ]
        judged = self._index.feedback(_arguments.text("answer", query_id), named, bool(relevant))
        return [Judged.from_dict(one) for one in json.loads(judged)]

    def refresh(
        self,
        *,
        wait: bool = True,
        reread: bool = False,
        progress: Callable[[Progress], object] | None = None,
    ) -> RefreshReport:
        """Bring the index up to date, and return what changed.

        `wait` embeds with every model, not only with the first: nothing embeds the rest later by itself. `reread` reads every file. `progress` is called with each step.
        """
        run = self.refreshing(wait=wait, reread=reread)
        if progress is not None:
            for step in run:
                progress(step)
        return run.report()

    def refreshing(self, *, wait: bool = True, reread: bool = False) -> Refresh:
        """Start to bring the index up to date, and return an iterator of the progress.

        >>> run = index.refreshing()
        >>> for step in run:
        ...     print(step.stage, step.done, step.total)
        >>> run.report().added
        """
        return Refresh(self._index.refresh(wait, reread))

    def status(self) -> Status:
        """Return the contents of the index and their freshness."""
        return Status.from_dict(json.loads(self._index.status()))

    def __repr__(self) -> str:
        return f"<tamis.Index of {self.root}>"


def _setting(key: str, value: object) -> str:
    if isinstance(value, Mapping):
        flat = {f"{key}.{name}": one for name, one in value.items()}
        raise ConfigError(f"settings: {key} = {value!r}: keys are written flat, as {flat!r}")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    return str(value)
