"""tamis.cut and tamis.cut_many on lists, against the library's own registry and the command."""

import array
import copy
import json
import math
import pickle
import random
import subprocess
import sys
import threading
import time

import pytest

import tamis

GAP = [9.1, 8.7, 8.5, 2.0, 1.9, 1.8, 1.7]


def command(*arguments, stdin=None):
    """Run the command that the package brings along."""
    return subprocess.run(
        [sys.executable, "-m", "tamis", *arguments], input=stdin, capture_output=True, text=True, timeout=120
    )


def test_a_cut_says_how_many_and_why():
    cut = tamis.cut([0.91, 0.90, 0.2, 0.19, 0.18])
    assert cut.count == 2 and cut.candidates == 5 and cut.dropped == 3
    assert cut.method == "auto" and cut.reason
    assert list(cut) == cut.kept == [0, 1] and len(cut) == 2 and cut[-1] == 1 and 1 in cut and 2 not in cut
    assert cut.order == [0, 1, 2, 3, 4] and cut.values == [0.91, 0.90, 0.2, 0.19, 0.18]
    assert cut.probabilities == [] and "a clear step" in cut.reason
    measured = tamis.cut([0.91, 0.90, 0.2, 0.19, 0.18], background=0.15)
    assert len(measured.probabilities) == 5 and measured.probabilities == sorted(measured.probabilities, reverse=True)
    assert cut.threshold is None and cut.diagnostics["background"] == "estimated"
    assert repr(cut) == f"<tamis.Cut: kept 2 of 5: {cut.reason}>"


def test_a_method_that_decides_by_value_gives_its_threshold():
    cut = tamis.cut([0.12, 0.15, 0.18, 0.21, 0.52, 0.55, 0.58, 0.61], "max_gap", distance=True)
    assert (cut.count, cut.threshold) == (4, 0.21)
    assert cut.diagnostics["threshold_on"] == "distance"


@pytest.mark.parametrize("method", tamis.methods(), ids=lambda method: method["name"])
def test_every_method_takes_its_parameters_as_keyword_arguments(method):
    scores = [0.9, 0.85, 0.84, 0.3, 0.2, 0.1]
    sizes = {"tokens": [10] * 6}
    defaults = {one["name"]: one["default"] for one in method["parameters"] if one["name"] != "want"}
    plain = tamis.cut(scores, method["name"], **sizes)
    assert tamis.cut(scores, method["name"], **sizes, **defaults).to_dict() == plain.to_dict()
    for parameter in method["parameters"]:
        if parameter["name"] == "want":
            continue
        with pytest.raises(tamis.ParameterError) as error:
            tamis.cut(scores, method["name"], **{parameter["name"]: "nonsense"})
        assert error.value.parameter == parameter["name"]
        assert error.value.value and error.value.allowed == parameter["allowed"]
        assert parameter["name"] in str(error.value) and "nonsense" in str(error.value)


def test_parameters_go_with_those_of_a_specification():
    assert tamis.cut(GAP, "autocut:jumps=1").count == 3
    assert tamis.cut(GAP, "fixed:k=2").count == 2
    assert tamis.cut(GAP, "fixed:k=2", k=4).count == 4
    assert tamis.cut(GAP, "fixed", k=5).count == 5
    by_name, by_text = tamis.cut(GAP, "background", lambda_=0.7), tamis.cut(GAP, "background:lambda=0.7")
    assert by_name.to_dict() == by_text.to_dict() == tamis.cut(GAP, "background", **{"lambda": 0.7}).to_dict()


@pytest.mark.parametrize(
    ("arguments", "parameter", "said"),
    [
        ({"method": "knedle"}, "method", 'did you mean "kneedle"?'),
        ({"method": "otsu", "target_recall": 0.9}, "target_recall", "otsu has no parameter"),
        ({"target_recall": 2}, "target_recall", "a number from 0 to 0.999 and is 2"),
        ({"want": "many"}, "want", "one of auto, one, best, all"),
        ({"fusion_weight": 1.5}, "fusion_weight", "a number from 0 to 1"),
        ({"background": "low"}, "background", "a finite number"),
        ({"background": math.nan}, "background", "a finite number"),
        ({"tokens": [1, 2]}, "tokens", "one for each of 7 entries"),
        ({"tokens": [1, 2, 3, -4, 5, 6, 7]}, "tokens[3]", "a whole number"),
        ({"tokens": [0.5] * 7}, "tokens[0]", "a whole number"),
        ({"groups": ["a"]}, "groups", "one for each of 7 entries"),
        ({"budget_tokens": 100}, "tokens", "pass tokens="),
        ({"similarity": [1.0]}, "scores", "without similarity="),
    ],
)
def test_an_error_names_the_parameter_and_the_way_out(arguments, parameter, said):
    with pytest.raises(tamis.ParameterError) as error:
        tamis.cut(GAP, **arguments)
    assert error.value.parameter == parameter, error.value
    assert said in str(error.value)
    assert isinstance(error.value, ValueError) and isinstance(error.value, tamis.TamisError)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([1.0, "x"], "scores[1] = 'x': must be a number"),
        ([1.0, None], "scores[1] = None: must be a number"),
        (7, "scores = int: must be a list or an array of numbers"),
        ([[1.0]], "scores[0] = [1.0]: must be a number"),
    ],
)
def test_what_is_no_list_of_numbers_is_an_error(scores, said):
    with pytest.raises(tamis.ParameterError) as error:
        tamis.cut(scores)
    assert said in str(error.value)


def test_unsorted_scores_are_refused_or_sorted_as_by_the_command():
    unsorted = [0.5, 0.9, 0.1, 0.88]
    with pytest.raises(tamis.ParameterError) as error:
        tamis.cut(unsorted)
    assert str(error.value).startswith("scores[1] = 0.9: better than 0.5 before it") and "sort=True" in str(error.value)
    cut = tamis.cut(unsorted, sort=True)
    assert cut.order == [1, 3, 0, 2] and cut.kept == [1, 3]
    text = "".join(f"{score}\n" for score in unsorted)
    refused = command("cut", stdin=text)
    assert refused.returncode == 2 and "line 2: 0.9 is better than 0.5" in refused.stderr
    assert command("cut", "--sort", stdin=text).stdout == "0.9\n0.88\n"


@pytest.mark.parametrize("method", [method["name"] for method in tamis.methods()])
def test_the_cut_is_that_of_the_command(method):
    draw = random.Random(7)
    scores = sorted((draw.expovariate(1.0) for _ in range(60)), reverse=True)
    printed = command("cut", "--json", "--method", method, stdin="".join(f"{score!r}\n" for score in scores))
    assert printed.returncode in (0, 1), printed.stderr
    assert tamis.cut(scores, method).to_dict() == json.loads(printed.stdout)


def test_scores_that_are_not_finite_are_left_out_and_counted():
    cut = tamis.cut([math.inf, 0.9, math.nan, 0.88, 0.1, -math.inf])
    assert (cut.dropped_non_finite, cut.candidates) == (3, 3)
    assert cut.kept == [1, 3]


@pytest.mark.parametrize("scores", [[], (), array.array("d")])
def test_an_empty_list_has_an_answer(scores):
    cut = tamis.cut(scores)
    assert (cut.count, cut.candidates, cut.reason) == (0, 0, "nothing was found")
    assert not list(cut) and not cut


@pytest.mark.parametrize(
    "scores", [tuple(GAP), array.array("d", GAP), memoryview(array.array("d", GAP)), iter(GAP), (s for s in GAP)]
)
def test_anything_that_gives_numbers_in_order_is_a_list(scores):
    assert tamis.cut(scores, "autocut:jumps=1").count == 3


def test_whole_numbers_and_other_numbers_count():
    from decimal import Decimal
    from fractions import Fraction

    assert tamis.cut([9, Decimal("8.5"), Fraction(1, 2)], "fixed", k=2).values == [9.0, 8.5, 0.5]


def test_wants_set_the_amount():
    scores = [1.0 - 0.05 * at for at in range(20)]
    counts = [tamis.cut(scores, want=want).count for want in ("one", "best", "all")]
    assert counts == sorted(counts) and counts[0] < counts[2]
    assert "wanted: all" in tamis.cut(scores, want="all").reason


def test_a_budget_reads_the_lengths_of_entries():
    scores = [0.9, 0.89, 0.88, 0.1]
    assert tamis.cut(scores, budget_tokens=250, tokens=[100, 100, 100, 100]).count == 2
    assert tamis.cut(scores, budget_tokens=5, texts=["one two", "three", "four", "five"]).count >= 1


def test_two_retrievers_are_fused_and_ordered():
    cut = tamis.cut(similarity=[0.2, 0.6, None], bm25=[None, 1.0, 4.0], fusion_weight=0.5)
    assert cut.order == [2, 1, 0]
    assert cut.values == pytest.approx([0.875, 0.625, 0.375])
    alone = tamis.cut(bm25=[4, 8, 2])
    assert alone.values == [1.0, 0.5, 0.25] and alone.diagnostics["values"] == "bm25 alone"
    with pytest.raises(tamis.ParameterError, match="as many as similarity, 2"):
        tamis.cut(similarity=[0.1, 0.2], bm25=[1])
    with pytest.raises(tamis.ParameterError, match="similarity\\[1\\] = missing"):
        tamis.cut(similarity=[0.1, None], bm25=[1, None])
    with pytest.raises(tamis.ParameterError, match="must be given, or similarity="):
        tamis.cut()
    with pytest.raises(tamis.ParameterError, match="the method max_gap needs it"):
        tamis.cut(bm25=[1.0], method="max_gap")


def test_groups_count_once_by_their_best_entry():
    cut = tamis.cut([0.9, 0.8, 0.7, 0.6], "fixed", k=2, groups=["a", None, "a", "b"])
    assert (cut.count, cut.candidates) == (2, 3)
    assert cut.groups == ["a", None, "b"]
    assert cut.kept == [0, 2, 1] and cut.order == [0, 2, 1, 3] and len(cut) == 3
    assert [line["line"] for line in cut.to_dict()["lines"]] == [1, 3, 2, 4]


def test_a_sample_lets_a_foreign_list_come_back_empty():
    draw = random.Random(3)
    sample = [draw.gauss(0.1, 0.05) for _ in range(200)]
    background = tamis.background(sample)
    assert background.count == 200 and background.mean == pytest.approx(0.1, abs=0.02)
    assert repr(background).startswith("Background(mean=0.")
    foreign = [0.2, 0.19, 0.18, 0.17]
    assert tamis.cut(foreign).count > 0, "a bare list never comes back empty"
    empty = tamis.cut(foreign, background=background)
    assert (empty.count, empty.method) == (0, "gate")
    assert empty.reason == "nothing stands out from the sample of random results"
    assert tamis.cut(foreign, background=background, gate=False).count > 0
    found = tamis.cut([0.7, 0.68, 0.2, 0.15], background=background)
    assert found.count == 2 and found.diagnostics["gate"] == "open"
    # Distances, and another scale.
    far = tamis.background([50 - 10 * score for score in sample])
    assert tamis.cut([50 - 10 * score for score in foreign], background=far, distance=True).count == 0


def test_a_sample_of_both_retrievers_is_a_background_too():
    draw = random.Random(5)
    background = tamis.background(
        similarity=[draw.gauss(0.1, 0.05) for _ in range(60)], bm25=[draw.random() for _ in range(60)]
    )
    assert (background.count, background.mean, background.deviation) == (60, None, None)
    retrievers = {"similarity": [0.8, 0.78, 0.12], "bm25": [9.0, 8.0, 0.5]}
    assert tamis.cut(**retrievers, background=background).count == 2
    low = {"similarity": [0.1, 0.09, 0.08], "coverage": [0.1, 0.1, 0.1]}
    semantic = tamis.background(similarity=[draw.gauss(0.1, 0.05) for _ in range(60)])
    assert tamis.cut(**low, background=semantic).count == 0
    with pytest.raises(tamis.ParameterError, match="a sample with the same"):
        tamis.cut(**retrievers, background=tamis.background([0.1, 0.2]))
    with pytest.raises(tamis.ParameterError, match="at least one finite number"):
        tamis.background([])
    with pytest.raises(tamis.ParameterError, match="similarity= and bm25="):
        tamis.background()


def test_many_lists_are_cut_as_each_alone():
    draw = random.Random(11)
    lists = [sorted((draw.random() for _ in range(draw.randrange(0, 80))), reverse=True) for _ in range(50)]
    cuts = tamis.cut_many(lists)
    assert len(cuts) == 50 and cuts.counts == [tamis.cut(scores).count for scores in lists]
    assert [cut.to_dict() for cut in cuts] == [tamis.cut(scores).to_dict() for scores in lists]
    assert cuts[-1].count == cuts.counts[-1] and [cut.count for cut in cuts[3:10:2]] == cuts.counts[3:10:2]
    assert repr(cuts).startswith("<tamis.Cuts: 50 lists, kept ")
    with pytest.raises(IndexError):
        cuts[50]
    gaps = tamis.cut_many([GAP, [3.0]], "max_gap", distance=False, sort=True)
    assert len(gaps.thresholds) == 2


def test_an_error_in_many_lists_names_the_list():
    with pytest.raises(tamis.ParameterError, match="^list 1: scores\\[1\\] = 2: better than 1"):
        tamis.cut_many([[2, 1], [1, 2]])
    with pytest.raises(tamis.ParameterError, match="scores\\[1\\]\\[0\\] = 'x'"):
        tamis.cut_many([[2, 1], ["x"]])
    with pytest.raises(tamis.ParameterError, match="use tamis.cut for one list"):
        tamis.cut_many([2, 1])


def test_many_lists_can_have_a_background_each():
    low, high = tamis.background([0.1, 0.2] * 10), tamis.background([0.8, 0.9] * 10)
    cuts = tamis.cut_many([[0.9, 0.88, 0.1]] * 3, background=[low, high, None])
    assert cuts[0].count == 2 and cuts[1].count == 0 and cuts[2].count == 2
    for several in ((low, high, None), iter([low, high, None])):
        assert tamis.cut_many([[0.9, 0.88, 0.1]] * 3, background=several).counts == cuts.counts
    means = array.array("d", [0.1, 0.8])
    assert tamis.cut_many([[0.9, 0.88, 0.1]] * 2, background=means).counts == [
        tamis.cut([0.9, 0.88, 0.1], background=mean).count for mean in means
    ]
    with pytest.raises(tamis.ParameterError, match="one for each of 3 lists"):
        tamis.cut_many([[0.9]] * 3, background=[low])
    both = tamis.cut_many(similarity=[[0.9, 0.1], [0.5]], bm25=[[3, 1], [None]])
    assert [cut.candidates for cut in both] == [2, 1]


def test_other_threads_run_during_the_work():
    lists = [sorted((random.random() for _ in range(300)), reverse=True) for _ in range(300)]
    started, done = threading.Event(), threading.Event()

    def work():
        started.set()
        for _ in range(20):
            tamis.cut_many(lists)
            if done.is_set():
                return

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    steps, end = 0, time.monotonic() + 1.0
    while time.monotonic() < end and thread.is_alive():
        steps += 1
        time.sleep(0.001)
    done.set()
    thread.join()
    assert steps > 50, f"only {steps} steps while lists were cut"


def test_cuts_and_backgrounds_can_be_pickled_and_copied():
    def copies(one):
        return [pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)]

    background = tamis.background([0.1, 0.2] * 10)
    assert repr(tamis.Background(background.mean, background.deviation, background.count)) == repr(background)
    both = tamis.background(similarity=[0.1, None, 0.2], bm25=[1.0, 2.0, None])
    lists = [[0.9, math.nan, 0.8, 0.1], [0.1, 0.7, 0.69]]
    for again in copies(background):
        empty = tamis.cut([0.2, 0.19], background=again)
        assert repr(again) == repr(background) and empty.method == "gate"
    for again in copies(both):
        asked = {"similarity": [0.8, 0.1], "bm25": [9.0, 0.5]}
        assert tamis.cut(**asked, background=again).to_dict() == tamis.cut(**asked, background=both).to_dict()
    cut = tamis.cut([0.9, 0.8, 0.7, 0.1], groups=["a", None, "a", "b"], background=background)
    for again in copies(cut):
        assert again.to_dict() == cut.to_dict() and (again.groups, again.kept) == (cut.groups, cut.kept)
    cuts = tamis.cut_many(lists, sort=True)
    for again in copies(cuts):
        assert [one.to_dict() for one in again] == [one.to_dict() for one in cuts] and again.counts == cuts.counts
    for figures in [(math.nan, 0.1, 20), (0.1, -0.1, 20), (0.1, 0.1, -1)]:
        with pytest.raises(tamis.ParameterError):
            tamis.Background(*figures)
    make, (state, groups) = cut.__reduce__()
    for broken in ("{}", state.replace('"keep":', '"keep":9')):
        with pytest.raises(tamis.TamisError, match="no pickled cut"):
            make(broken, groups)


def test_a_cut_draws_its_curve():
    html = tamis.cut(GAP, "autocut:jumps=1")._repr_html_()
    assert html.startswith("<figure") and "<svg" in html and "kept 3" in html and html.count("<circle") == 7
    assert "nothing kept" in tamis.cut([])._repr_html_()
