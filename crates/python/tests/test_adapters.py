"""The adapters with the real libraries, as programs use them. A test is skipped where its library is not installed."""

import asyncio
import doctest
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tamis
from tamis.adapters.results import cut_results

OVEN = "how hot should the oven be for bread"
FOREIGN = "quarterly earnings of shipping companies"
SCORES = [0.91, 0.90, 0.2, 0.19, 0.18]
TEXTS = ["Bread bakes at 220 degrees.", "Heat the oven first.", "Bleed radiators.", "Open the door.", "Water plants."]


def library(module, package):
    """Import a library, or skip the test and say how to run it."""
    return pytest.importorskip(module, reason=f"{package} is not installed: pip install {package} to test with it")


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    (tree / "heating.md").write_text("# Boiler\n\nThe boiler heats water to sixty degrees.\n")
    (tree / "oven.md").write_text("# Oven\n\nHeat the oven to 220 degrees before baking bread.\n\nKeep it shut.\n")
    (tree / "garden.md").write_text("# Garden\n\nWater the plants in the evening.\n")
    return tree


@pytest.fixture(scope="module")
def index(tree):
    index = tamis.Index(tree, settings={"index.models": "static"})
    index.refresh()
    return index


@pytest.mark.parametrize("library", ["langchain", "llama_index", "haystack"])
def test_an_adapter_without_its_library_says_what_to_install(library):
    program = f"""
import sys
sys.modules.update(dict.fromkeys(["langchain_core", "llama_index", "haystack"]))
import tamis.adapters.results
import tamis.adapters.{library}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert f"pip install 'tamis[{library.replace('_', '-')}]'" in done.stderr.splitlines()[-1], done.stderr


def test_the_programs_of_the_documentation_print_what_it_says(tmp_path, monkeypatch):
    for module, package in (("langchain_core", "langchain-core"), ("llama_index.core", "llama-index-core")):
        library(module, package)
    library("haystack", "haystack-ai")
    if "TEST_CHECKOUT" not in os.environ:
        pytest.skip("TEST_CHECKOUT, the directory of the checkout, is not set")
    page = (Path(os.environ["TEST_CHECKOUT"]) / "docs/python.md").read_text(encoding="utf-8")
    section = page.split("\n## In LangChain, LlamaIndex, Haystack\n")[1].split("\n## ")[0]
    programs = "\n\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    kitchen = tmp_path / "kitchen"
    (kitchen / ".git").mkdir(parents=True)
    (kitchen / "oven.md").write_text("# Oven\n\nHeat the oven to 220 degrees before baking bread.\n")
    (kitchen / "heating.md").write_text("# Boiler\n\nThe boiler heats water to sixty degrees.\n")
    (kitchen / "garden.md").write_text("# Garden\n\nWater the plants in the evening.\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TAMIS_INDEX_MODELS", "static")
    test = doctest.DocTestParser().get_doctest(programs, {}, "python.md", None, None)
    printed = []
    results = doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert results.failed == 0 and results.attempted > 20, "".join(printed)


def test_the_package_imports_no_adapter():
    program = "import sys, tamis; print([name for name in sys.modules if 'adapters' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


class TestLangChain:
    @pytest.fixture(autouse=True)
    def installed(self):
        library("langchain_core", "langchain-core")

    def test_the_retriever_is_a_step_of_a_chain(self, index):
        from langchain_core.runnables import RunnableLambda

        from tamis.adapters.langchain import TamisRetriever

        retriever = TamisRetriever(index=index)
        chain = retriever | RunnableLambda(lambda documents: [document.metadata["path"] for document in documents])
        assert chain.invoke(OVEN)[0] == "oven.md"
        assert chain.batch([OVEN, FOREIGN])[1] == [], "nothing is relevant"
        (document,) = asyncio.run(TamisRetriever(index=index, search={"limit": 1}).ainvoke(OVEN))
        assert "Keep it shut." in document.page_content, "it has the whole passage"
        assert document.metadata["start_line"] == 1 and document.metadata["score"] > 0
        assert document.id == index.search(OVEN).results[0].id
        json.dumps(document.metadata)
        snippets = TamisRetriever(index=index, search={"limit": 1}, text="snippet").invoke(OVEN)
        assert snippets[0].page_content == index.search(OVEN).results[0].snippet

    def test_the_compressor_cuts_by_the_scores_of_another_retriever(self):
        from langchain_core.documents import Document
        from langchain_core.embeddings import DeterministicFakeEmbedding
        from langchain_core.vectorstores import InMemoryVectorStore

        from tamis.adapters.langchain import TamisCompressor

        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=256))
        store.add_texts([TEXTS[0], *(f"text {number}" for number in range(20))])
        documents = []
        for document, score in store.similarity_search_with_score(TEXTS[0], k=10):
            document.metadata["score"] = score
            documents.append(document)
        kept = TamisCompressor().compress_documents(documents, TEXTS[0])
        assert [document.page_content for document in kept] == [TEXTS[0]], "the text itself; the others are random"

        # Another order than by score stays.
        scores = [0.2, 0.91, 0.19, 0.90, 0.18]
        documents = [Document(text, metadata={"relevance_score": one}) for text, one in zip(TEXTS, scores)]
        kept = asyncio.run(TamisCompressor(score_key="relevance_score").acompress_documents(documents, OVEN))
        assert [document.page_content for document in kept] == [TEXTS[1], TEXTS[3]]
        assert TamisCompressor().compress_documents([], OVEN) == []
        with pytest.raises(
            tamis.ParameterError, match=r"documents\[0\]: no score in metadata\['score'\], only relevance_score"
        ):
            TamisCompressor().compress_documents(documents, OVEN)

    def test_the_compressor_scores_by_a_function(self):
        from langchain_core.documents import Document

        from tamis.adapters.langchain import TamisCompressor

        def scorer(query, texts):
            assert query == OVEN
            return [{TEXTS[1]: 0.91, TEXTS[0]: 0.90}.get(text, 0.1) for text in texts]

        documents = [Document(text, metadata={"score": 1.0}) for text in TEXTS]
        kept = TamisCompressor(scorer=scorer).compress_documents(documents, OVEN)
        assert [(document.page_content, document.metadata) for document in kept] == [
            (TEXTS[1], {"score": 0.91}),
            (TEXTS[0], {"score": 0.90}),
        ]
        assert documents[0].metadata == {"score": 1.0}, "the given documents stay as they are"
        tight = TamisCompressor(scorer=scorer, cut={"budget_tokens": 8}).compress_documents(documents, OVEN)
        assert [document.page_content for document in tight] == [TEXTS[1]]
        with pytest.raises(tamis.ParameterError, match="scorer: 1 scores: must be one score for each of the 5 texts"):
            TamisCompressor(scorer=lambda query, texts: [1.0]).compress_documents(documents, OVEN)


class TestLlamaIndex:
    @pytest.fixture(autouse=True)
    def installed(self):
        library("llama_index.core", "llama-index-core")

    def test_the_retriever_answers_a_query_engine(self, index):
        from llama_index.core.llms import MockLLM
        from llama_index.core.query_engine import RetrieverQueryEngine

        from tamis.adapters.llama_index import TamisRetriever

        retriever = TamisRetriever(index, search={"limit": 1})
        (node,) = retriever.retrieve(OVEN)
        hit = index.search(OVEN).results[0]
        assert (node.node_id, node.score, node.metadata["path"]) == (hit.id, hit.score, "oven.md")
        assert "Keep it shut." in node.text
        assert retriever.retrieve(FOREIGN) == []
        assert asyncio.run(retriever.aretrieve(OVEN)) == [node]
        # The mock model repeats its prompt, so that the answer shows what a model reads.
        read = str(RetrieverQueryEngine.from_args(retriever, llm=MockLLM()).query(OVEN))
        assert "220 degrees" in read and "path: oven.md" in read and "similarity:" not in read

    def test_the_postprocessor_cuts_nodes(self):
        from llama_index.core import MockEmbedding, VectorStoreIndex
        from llama_index.core.schema import NodeWithScore, TextNode

        from tamis.adapters.llama_index import TamisPostprocessor

        class Counts(MockEmbedding):
            """Counts of two letters, so that the similarities are known."""

            def _get_text_embedding(self, text):
                return [float(text.count("x")), float(text.count("y"))]

            _get_query_embedding = _get_text_embedding

        vectors = VectorStoreIndex(
            [TextNode(text=text) for text in ["xxxxxxx", "xxxxxxy", "yyyyyyx", "yyyyyyy", "yyyyyyyyx"]],
            embed_model=Counts(embed_dim=2),
        )
        nodes = vectors.as_retriever(similarity_top_k=5).retrieve("xxxx")
        assert len(nodes) == 5
        kept = TamisPostprocessor().postprocess_nodes(nodes)
        assert [node.text for node in kept] == ["xxxxxxx", "xxxxxxy"]
        one = TamisPostprocessor(cut={"method": "fixed", "k": 1}).postprocess_nodes(nodes, query_str="xxxx")
        assert [node.text for node in one] == ["xxxxxxx"]
        assert TamisPostprocessor().postprocess_nodes([]) == []
        with pytest.raises(tamis.ParameterError, match=r"nodes\[0\]: no score in node.score"):
            TamisPostprocessor().postprocess_nodes([NodeWithScore(node=TextNode(text="x"))])


class TestHaystack:
    @pytest.fixture(autouse=True)
    def installed(self):
        library("haystack", "haystack-ai")

    def load(self, pipeline):
        """Store a pipeline and load it, as another process would."""
        loads = type(pipeline).loads
        # Since version 3, a program names the modules that it trusts.
        names = {"allowed_modules": ["tamis.adapters.haystack"]}
        return loads(pipeline.dumps(), **(names if "allowed_modules" in inspect.signature(loads).parameters else {}))

    def test_the_retriever_runs_in_a_pipeline_that_can_be_stored(self, index, tree):
        from haystack import Pipeline

        from tamis.adapters.haystack import TamisRetriever

        pipeline = Pipeline()
        pipeline.add_component("retriever", TamisRetriever(str(tree), settings={"index.models": "static"}))
        stored = self.load(pipeline)
        for one in (pipeline, stored):
            documents = one.run({"retriever": {"query": OVEN}})["retriever"]["documents"]
            hit = index.search(OVEN).results[0]
            assert (documents[0].id, documents[0].score) == (hit.id, hit.score)
            assert documents[0].meta["path"] == "oven.md" and "Keep it shut." in documents[0].content
        assert stored.run({"retriever": {"query": FOREIGN}})["retriever"]["documents"] == []

    def test_the_cutter_follows_another_retriever(self):
        from haystack import Document, Pipeline
        from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        from tamis.adapters.haystack import TamisCutter

        store = InMemoryDocumentStore()
        store.write_documents([Document(content=text) for text in [*TEXTS, *(f"The note {n}." for n in range(20))]])
        pipeline = Pipeline()
        pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=20))
        pipeline.add_component("cutter", TamisCutter({"want": "one"}))
        pipeline.connect("retriever", "cutter")
        pipeline = self.load(pipeline)
        run = pipeline.run({"retriever": {"query": "heat the oven"}}, include_outputs_from={"retriever"})
        assert len(run["retriever"]["documents"]) > 1
        assert [document.content for document in run["cutter"]["documents"]] == ["Heat the oven first."]
        with pytest.raises(tamis.ParameterError, match=r"documents\[0\]: no score in document.score"):
            TamisCutter().run([Document(content="x")])
        assert TamisCutter().run([]) == {"documents": []}

    def test_a_stored_cutter_keeps_its_background(self):
        from haystack import Document, Pipeline

        from tamis.adapters.haystack import TamisCutter

        pipeline = Pipeline()
        pipeline.add_component("cutter", TamisCutter({"background": tamis.background([0.1, 0.2] * 10)}))
        foreign = [Document(content=text, score=score) for text, score in zip(TEXTS, [0.21, 0.2, 0.19])]
        for one in (pipeline, self.load(pipeline)):
            assert one.run({"cutter": {"documents": foreign}})["cutter"]["documents"] == []


# Vectors whose cosine similarity with [1, 0] falls after the second.
VECTORS = [[1.0, 0.05], [1.0, 0.1], [0.2, 1.0], [0.15, 1.0], [0.1, 1.0]]


class TestResults:
    def test_pairs_have_their_score_first_or_last(self):
        assert cut_results([("a", 0.9), ("b", 0.1)]) == [("a", 0.9)]
        assert cut_results([(0.9, "a"), (0.1, "b")]) == [(0.9, "a")]
        with pytest.raises(tamis.ParameterError, match=r"scores\[0\] = 'x': must be a number"):
            cut_results([("a", "x")])

    def test_rerankers(self):
        library("rerankers", "rerankers")
        from rerankers.documents import Document
        from rerankers.results import RankedResults, Result

        results = [Result(Document(text, doc_id=n), score, n + 1) for n, (text, score) in enumerate(zip(TEXTS, SCORES))]
        ranked = RankedResults(results, OVEN, has_scores=True)
        kept = cut_results(ranked)
        assert isinstance(kept, RankedResults) and kept.query == OVEN
        assert [result.doc_id for result in kept] == [0, 1] and len(ranked.results) == 5
        without = RankedResults([Result(Document("x"), rank=1)], OVEN)
        with pytest.raises(tamis.ParameterError, match=r"results\[0\]: no score in score"):
            cut_results(without)

    def test_chroma(self):
        chromadb = library("chromadb", "chromadb")
        collection = chromadb.EphemeralClient().create_collection("texts", metadata={"hnsw:space": "cosine"})
        collection.add(ids=list("abcde"), embeddings=VECTORS, documents=TEXTS)
        include = ["documents", "distances", "embeddings"]
        found = collection.query(query_embeddings=[[1.0, 0.0], [0.0, 1.0]], n_results=5, include=include)
        kept = cut_results(found)
        assert kept["ids"] == [["a", "b"], ["e", "d", "c"]], "each query is cut by itself"
        assert kept["documents"][0] == TEXTS[:2] and len(kept["embeddings"][0]) == 2
        assert kept["included"] == found["included"] and kept["metadatas"] is None and len(found["ids"][0]) == 5

    def test_qdrant(self):
        qdrant_client = library("qdrant_client", "qdrant-client")
        from qdrant_client import models

        client = qdrant_client.QdrantClient(":memory:")
        points = [models.PointStruct(id=number, vector=vector) for number, vector in enumerate(VECTORS)]
        for name, distance in (("cosine", models.Distance.COSINE), ("euclid", models.Distance.EUCLID)):
            client.create_collection(name, vectors_config=models.VectorParams(size=2, distance=distance))
            client.upsert(name, points)
        found = client.query_points("cosine", query=[1.0, 0.0], limit=5)
        kept = cut_results(found)
        assert type(kept) is type(found) and [point.id for point in kept.points] == [0, 1]
        assert [point.id for point in cut_results(found.points)] == [0, 1] and len(found.points) == 5
        found = client.query_points("euclid", query=[1.0, 0.0], limit=5)
        assert [point.id for point in cut_results(found, distance=True).points] == [0, 1]
        with pytest.raises(tamis.ParameterError, match="higher is better"):
            cut_results(found)

    def test_lancedb(self, tmp_path):
        lancedb = library("lancedb", "lancedb")
        rows = [{"vector": vector, "text": text} for vector, text in zip(VECTORS, TEXTS)]
        table = lancedb.connect(tmp_path).create_table("texts", rows)
        search = table.search([1.0, 0.0]).limit(5)
        assert [row["text"] for row in cut_results(search.to_list())] == TEXTS[:2]
        assert cut_results(search.to_arrow())["text"].to_pylist() == TEXTS[:2]
        library("pandas", "pandas")
        assert cut_results(search.to_pandas())["text"].to_list() == TEXTS[:2]
        library("polars", "polars")
        assert cut_results(search.to_polars())["text"].to_list() == TEXTS[:2]

    def test_the_documented_json_of_elasticsearch_and_opensearch(self):
        hits = [
            {"_index": "texts", "_id": str(number), "_score": score, "_source": {"text": TEXTS[number]}}
            for number, score in enumerate([12.1, 11.8, 2.2, 2.1, 2.0])
        ]
        total = {"value": 5, "relation": "eq"}
        body = {"took": 3, "timed_out": False, "hits": {"total": total, "max_score": 12.1, "hits": hits}}
        kept = cut_results(body)
        assert [hit["_id"] for hit in kept["hits"]["hits"]] == ["0", "1"]
        assert kept["took"] == 3 and kept["hits"]["total"] == total and len(body["hits"]["hits"]) == 5
        assert cut_results(hits) == hits[:2]
        nothing = {**body, "hits": {"total": {"value": 0}, "max_score": None, "hits": []}}
        assert cut_results(nothing) == nothing
        by_date = {"hits": {"hits": [{"_id": "0", "_score": None, "sort": [1]}]}}
        with pytest.raises(tamis.ParameterError, match=r"results\[0\]: no score in _score"):
            cut_results(by_date)

    def test_the_response_of_the_client_of_elasticsearch(self):
        elastic_transport = library("elastic_transport", "elastic-transport")
        meta = elastic_transport.ApiResponseMeta(200, "1.1", elastic_transport.HttpHeaders(), 0.1, None)
        body = {"hits": {"hits": [{"_id": str(number), "_score": score} for number, score in enumerate(SCORES)]}}
        kept = cut_results(elastic_transport.ObjectApiResponse(body=body, meta=meta))
        assert isinstance(kept, elastic_transport.ObjectApiResponse) and kept.meta is meta
        assert [hit["_id"] for hit in kept["hits"]["hits"]] == ["0", "1"]

    def test_the_documented_list_of_sentence_transformers(self):
        ranks = [{"corpus_id": place, "score": score} for place, score in zip([3, 0, 1, 4, 2], SCORES)]
        assert [rank["corpus_id"] for rank in cut_results(ranks)] == [3, 0]
        assert [rank["corpus_id"] for rank in cut_results(ranks, method="fixed", k=1)] == [3]
        assert cut_results([]) == []

    def test_pairs_of_an_item_and_its_score(self):
        assert cut_results(list(zip(TEXTS, SCORES))) == list(zip(TEXTS, SCORES))[:2]
        distances = list(zip(TEXTS, [0.1, 0.11, 0.9, 0.91, 0.92]))
        assert cut_results(distances, distance=True) == distances[:2]

    @pytest.mark.parametrize(
        ("results", "kind"),
        [({"rows": []}, "dict with rows"), ([1, 2], "list of int"), ("text", "str"), (None, "NoneType")],
    )
    def test_other_shapes_are_an_error(self, results, kind):
        with pytest.raises(tamis.ParameterError, match=f"results = {kind}: must be results of rerankers"):
            cut_results(results)

    def test_unsorted_results_are_an_error(self):
        with pytest.raises(tamis.ParameterError, match="sort=True"):
            cut_results([{"score": 0.1}, {"score": 0.9}])
