"""Tamis in LangChain: a retriever over an index, and a compressor that cuts the documents of other retrievers.

>>> from tamis.adapters.langchain import TamisCompressor, TamisRetriever
>>> retriever = TamisRetriever(index=tamis.Index("my-project"))
>>> retriever.invoke("where are retries handled")

It needs langchain-core: `pip install 'tamis[langchain]'`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import ParameterError
from ..index import Index
from ._documents import Text, found, kept, missing, without_score

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field
except ImportError as error:
    raise missing("langchain", "langchain-core", "langchain") from error

__all__ = ["TamisCompressor", "TamisRetriever"]


class TamisRetriever(BaseRetriever):
    """Retrieves the relevant results of an index, which can be none.

    A document has the identifier of its passage, and in its metadata the path, the lines, the score and the other fields of
    `tamis.answers.Hit` that are known.
    """

    index: Index
    """The index to search."""
    search: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of `Index.search`, such as `{"want": "one"}`."""
    text: Text = "passage"
    """The text of a document: `passage`, or `snippet` for only the lines that answer best."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [
            Document(id=hit.id, page_content=text, metadata=metadata)
            for hit, text, metadata in found(self.index, query, self.search, self.text)
        ]


class TamisCompressor(BaseDocumentCompressor):
    """Cuts documents where relevance ends, by the scores of the retriever or reranker before it, or by a scorer.

    Documents keep their order. With a scorer they come back best first, with the new score in their metadata.
    """

    score_key: str = "score"
    """The metadata with the score; rerankers of LangChain write `relevance_score`."""
    scorer: Callable[[str, list[str]], Iterable[float]] | None = None
    """A function that scores texts for a query in place of the metadata, such as
    `lambda query, texts: cross_encoder.predict([(query, text) for text in texts])`."""
    cut: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of `tamis.cut`, such as `{"want": "one"}`, or `{"distance": True}` where lower scores are better."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the relevant documents.

        Raises ParameterError if a document has no score, or if the scorer does not give one for each text.
        """
        texts = [document.page_content for document in documents]
        if self.scorer is None:
            scores = [self._score(number, document) for number, document in enumerate(documents)]
            places = kept(scores, {"sort": True, **self.cut}, lambda: texts)
            return [documents[place] for place in sorted(places)]
        if not texts:
            return []
        scores = [float(score) for score in self.scorer(query, texts)]
        if len(scores) != len(texts):
            allowed = f"one score for each of the {len(texts)} texts"
            raise ParameterError(
                f"scorer: {len(scores)} scores: must be {allowed}", "scorer", str(len(scores)), allowed
            )
        return [
            documents[place].model_copy(
                update={"metadata": {**documents[place].metadata, self.score_key: scores[place]}}
            )
            for place in kept(scores, {"sort": True, **self.cut}, lambda: texts)
        ]

    def _score(self, number: int, document: Document) -> float:
        score = document.metadata.get(self.score_key)
        if score is None:
            names = ", ".join(sorted(document.metadata)) or "nothing"
            place = f"metadata[{self.score_key!r}], only {names}; set score_key, or give a scorer"
            raise without_score(f"documents[{number}]", place)
        return float(score)
