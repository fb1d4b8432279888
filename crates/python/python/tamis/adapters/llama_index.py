"""Tamis in LlamaIndex: a retriever over an index, and a postprocessor that cuts the nodes of other retrievers.

>>> from tamis.adapters.llama_index import TamisPostprocessor, TamisRetriever
>>> retriever = TamisRetriever(tamis.Index("my-project"))
>>> retriever.retrieve("where are retries handled")

It needs llama-index-core: `pip install 'tamis[llama-index]'`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ..index import Index
from ._documents import Text, found, kept, missing, without_score

try:
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise missing("llama_index", "llama-index-core", "llama-index") from error

__all__ = ["TamisPostprocessor", "TamisRetriever"]

# A model that reads a node needs its place, but not these.
_NOT_FOR_MODELS = [
    "id",
    "entry",
    "namespace",
    "collection",
    "shared",
    "bm25",
    "similarity",
    "score",
    "judged",
    "probability",
]


class TamisRetriever(BaseRetriever):
    """Retrieves the relevant results of an index, which can be none.

    A node has the identifier of its passage, its score, and in its metadata the path, the lines and the other fields of
    `tamis.answers.Hit` that are known.
    """

    def __init__(
        self,
        index: Index,
        *,
        search: Mapping[str, Any] | None = None,
        text: Text = "passage",
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Search `index`, with further arguments of `Index.search` such as `{"want": "one"}`.

        `text` is that of a node: `passage`, or `snippet` for only the lines that answer best.
        """
        super().__init__(callback_manager=callback_manager)
        self._index = index
        self._search = dict(search or {})
        self._text = text

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.id,
                    text=text,
                    metadata=metadata,
                    excluded_llm_metadata_keys=_NOT_FOR_MODELS,
                    excluded_embed_metadata_keys=_NOT_FOR_MODELS,
                ),
                score=hit.score,
            )
            for hit, text, metadata in found(self._index, query_bundle.query_str, self._search, self._text)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class TamisPostprocessor(BaseNodePostprocessor):
    """Cuts nodes where relevance ends, by the scores of the retriever or reranker before it. Nodes keep their order."""

    cut: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of `tamis.cut`, such as `{"want": "one"}`, or `{"distance": True}` where lower scores are better."""

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex stores it."""
        return "TamisPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        for number, node in enumerate(nodes):
            if node.score is None:
                raise without_score(
                    f"nodes[{number}]", "node.score; put a retriever or reranker before it that gives one"
                )
        places = kept(
            [node.score for node in nodes],
            {"sort": True, **self.cut},
            lambda: [node.node.get_content() for node in nodes],
        )
        return [nodes[place] for place in sorted(places)]
