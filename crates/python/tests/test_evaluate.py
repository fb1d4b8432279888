"""tamis.evaluate against other implementations of the same figures."""

import random

import pytest

import tamis


def drawn(seed=1, queries=40):
    draw = random.Random(seed)
    run, qrels = {}, {}
    for query in range(queries):
        documents = [f"d{number}" for number in draw.sample(range(500), 120)]
        # Few different scores, so that ties count.
        run[f"q{query}"] = {document: float(draw.randrange(40)) for document in documents}
        judged = draw.sample(documents, 12) + [f"x{number}" for number in range(3)]
        qrels[f"q{query}"] = {document: draw.randrange(4) for document in judged}
        qrels[f"q{query}"][judged[0]] = 1
    return run, qrels


def test_the_ranking_is_that_of_trec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run, qrels = drawn()
    measures = {"ndcg_cut.10", "ndcg_cut.100", "recall.10", "recall.100", "map", "recip_rank"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)

    def mean(name):
        return sum(query[name] for query in theirs.values()) / len(theirs)

    ours = tamis.evaluate(run, qrels, resamples=0).ranking
    for name, other in [
        ("ndcg_at_10", "ndcg_cut_10"),
        ("ndcg_at_100", "ndcg_cut_100"),
        ("recall_at_10", "recall_10"),
        ("recall_at_100", "recall_100"),
        ("map", "map"),
        ("mrr", "recip_rank"),
    ]:
        assert ours[name] == pytest.approx(mean(other), abs=1e-9), name


def test_the_ranking_is_that_of_ranx():
    ranx = pytest.importorskip("ranx")
    # ranx breaks ties otherwise, so no two scores are equal.
    draw = random.Random(2)
    run, qrels = drawn()
    run = {query: {document: draw.random() for document in documents} for query, documents in run.items()}
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), ["ndcg@10", "recall@10", "map", "mrr"])
    ours = tamis.evaluate(run, qrels, resamples=0).ranking
    for name, other in [("ndcg_at_10", "ndcg@10"), ("recall_at_10", "recall@10"), ("map", "map"), ("mrr", "mrr")]:
        assert ours[name] == pytest.approx(theirs[other], abs=1e-6), name


def test_the_figures_of_a_cut_are_those_of_the_kept_set():
    run, qrels = drawn()
    evaluation = tamis.evaluate(run, qrels, cuts=["auto", "fixed:k=7"], resamples=0)
    assert evaluation.kept["fixed:k=7"] == {query: 7 for query in run}
    f1 = []
    for query, documents in run.items():
        ranked = sorted(documents, key=lambda document: (documents[document], document), reverse=True)
        kept = set(ranked[: evaluation.kept["auto"][query]])
        assert len(kept) == tamis.cut(sorted(documents.values(), reverse=True)).count
        relevant = {document for document, grade in qrels[query].items() if grade > 0}
        f1.append(2 * len(kept & relevant) / (len(kept) + len(relevant)))
    assert evaluation.cuts["auto"]["f1"] == pytest.approx(sum(f1) / len(f1), abs=1e-9)
    assert "auto" in evaluation.markdown() and "<svg" in evaluation.html() and "<iframe" in evaluation._repr_html_()
    assert repr(evaluation).startswith("<tamis.Evaluation: ")


def test_frames_are_read_as_dictionaries():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    run, qrels = drawn(queries=5)

    def rows(data, name):
        return [{"query_id": q, "doc_id": d, name: v} for q, documents in data.items() for d, v in documents.items()]

    expected = tamis.evaluate(run, qrels, resamples=0).report
    for frame in (pandas.DataFrame, polars.DataFrame):
        found = tamis.evaluate(frame(rows(run, "score")), frame(rows(qrels, "relevance")), resamples=0)
        assert found.report == expected
    with pytest.raises(tamis.ParameterError, match="no column doc_id, only query_id, score"):
        tamis.evaluate(pandas.DataFrame({"query_id": ["q"], "score": [1.0]}), qrels)


@pytest.mark.parametrize(
    ("run", "qrels", "arguments", "said"),
    [
        ({}, {"q": {"d": 1}}, {}, "run: empty"),
        ({"q": {"d": 1.0}}, {"p": {"d": 1}}, {}, "none of the judged queries is in the run"),
        ({"q": {"d": float("nan")}}, {"q": {"d": 1}}, {}, "within ±3.4e38"),
        ({"q": {"d": 1.0}}, {"q": {"d": 0.5}}, {}, "must be a whole number"),
        ({"q": {"d": 1.0}}, {"q": {"d": 1}}, {"cuts": ["knedle"]}, "kneedle"),
        ({"q": {"d": 1.0}}, {"q": {"d": 1}}, {"beta": 0.0}, "beta"),
        (["q"], {"q": {"d": 1}}, {}, "run = list: must be a dictionary"),
        ({"q": ["d", "e"]}, {"q": {"d": 1}}, {}, "run = list for query q: must be a dictionary of its documents"),
        ({"q": {"d": "best"}}, {"q": {"d": 1}}, {}, "run: 'best' for query q, document d: must be a number"),
        ({"q": {"d": 1.0}}, {"q": {"d": None}}, {}, "qrels: None for query q, document d: must be a whole number"),
    ],
)
def test_what_cannot_be_measured_is_an_error(run, qrels, arguments, said):
    with pytest.raises(tamis.ParameterError) as error:
        tamis.evaluate(run, qrels, **arguments)
    assert said in str(error.value)


def test_notes_tell_of_queries_in_one_of_the_two():
    evaluation = tamis.evaluate({"q": {"d": 1.0}, "r": {"d": 1.0}}, {"q": {"d": 1}, "p": {"d": 1}}, resamples=0)
    assert len(evaluation.notes) == 2
