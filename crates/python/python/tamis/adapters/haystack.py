"""Tamis in Haystack: components that search an index, and that cut the documents of other retrievers.

>>> from tamis.adapters.haystack import TamisCutter, TamisRetriever
>>> retriever = TamisRetriever("my-project")
>>> retriever.run("where are retries handled")["documents"]

It needs haystack-ai: `pip install 'tamis[haystack]'`.
"""

from __future__ import annotations

from typing import Any

from .._tamis import Background
from ..index import Index
from ._documents import Text, found, kept, missing, without_score

try:
    from haystack import Document, component, default_to_dict
except ImportError as error:
    raise missing("haystack", "haystack-ai", "haystack") from error

__all__ = ["TamisCutter", "TamisRetriever"]


@component
class TamisRetriever:
    """Retrieves the relevant results of an index, which can be none.

    A document has the identifier of its passage, its score, and in its `meta` the path, the lines and the other fields of
    `tamis.answers.Hit` that are known. The arguments are plain values, so that a pipeline can be stored.
    """

    def __init__(
        self,
        path: str = ".",
        index_directory: str | None = None,
        settings: dict[str, Any] | None = None,
        search: dict[str, Any] | None = None,
        text: Text = "passage",
    ) -> None:
        """Search the index that `tamis.Index(path, index_directory=…, settings=…)` opens.

        `search` has further arguments of `Index.search`, such as `{"want": "one"}`. `text` is that of a document: `passage`, or
        `snippet` for only the lines that answer best.
        """
        self.path = path
        self.index_directory = index_directory
        self.settings = settings
        self.search = search
        self.text = text
        self._index: Index | None = None

    def warm_up(self) -> None:
        """Open the index."""
        if self._index is None:
            self._index = Index(self.path, index_directory=self.index_directory, settings=self.settings)

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Return the relevant `documents`, best first."""
        self.warm_up()
        assert self._index is not None
        documents = [
            Document(id=hit.id, content=text, meta=metadata, score=hit.score)
            for hit, text, metadata in found(self._index, query, self.search or {}, self.text)
        ]
        return {"documents": documents}


@component
class TamisCutter:
    """Cuts documents where relevance ends, by the scores of the retriever or ranker before it. Documents keep their order."""

    def __init__(self, cut: dict[str, Any] | None = None) -> None:
        """`cut` has further arguments of `tamis.cut`, such as `{"want": "one"}`.

        A `tamis.background(sample)` among them is stored as its figures.
        """
        cut = dict(cut or {})
        if isinstance(cut.get("background"), dict):
            cut["background"] = Background(**cut["background"])
        self.cut = cut

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as a stored pipeline has them."""
        cut = dict(self.cut)
        background = cut.get("background")
        if isinstance(background, Background):
            figures = ("mean", "deviation", "count")
            cut["background"] = {figure: getattr(background, figure) for figure in figures}
        return default_to_dict(self, cut=cut)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Return the relevant `documents`. Raises ParameterError if a document has no score."""
        for number, document in enumerate(documents):
            if document.score is None:
                place = "document.score; put a retriever or ranker before it that gives one"
                raise without_score(f"documents[{number}]", place)
        scores = [document.score for document in documents]
        places = kept(scores, {"sort": True, **self.cut}, lambda: [document.content or "" for document in documents])
        return {"documents": [documents[place] for place in sorted(places)]}
