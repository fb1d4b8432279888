"""tamis.Index on a small tree."""

import _thread
import datetime
import json
import os
import subprocess
import sys
import threading
import time

import pytest

import tamis
from tamis import answers, errors


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    (tree / "heating.md").write_text(
        "# Boiler\n\nThe boiler heats water to sixty degrees.\n\n# Radiators\n\nBleed them in autumn.\n"
    )
    (tree / "oven.md").write_text("# Oven\n\nHeat the oven to 220 degrees before baking bread.\n")
    (tree / "door.py").write_text(
        'def open_door():\n    """Open the front door."""\n    return True\n\n\ndef enter():\n    return open_door()\n'
    )
    index = tamis.Index(tree, settings={"index.models": "static"})
    report = index.refresh()
    assert (report.added, report.interrupted, report.pending) == (3, False, {})
    return index


def test_a_search_finds_and_says_why(index):
    answer = index.search("how hot should the oven be for bread")
    assert isinstance(answer, answers.Answer)
    hit = answer.results[0]
    assert hit.path == "oven.md" and "220 degrees" in hit.snippet and hit.rank == 1
    assert answer.cut.keep >= 1 and answer.cut.reason and answer.mode_used == "hybrid"
    assert answer.index.stale == 0, "it was brought up to date first"
    assert answer.pool is None and len(answer.pool_scores) == answer.cut.candidates
    assert len(answer) == len(answer.results) and next(iter(answer)) == hit
    explained = index.search("how hot should the oven be for bread", explain=True)
    assert [entry.score for entry in explained.pool] == explained.pool_scores


def test_a_foreign_question_comes_back_empty(index):
    answer = index.search("quarterly earnings of shipping companies")
    assert len(answer) == 0 and answer.cut.method == "gate" and 1 <= len(answer.nearest) <= 3
    assert answer.summary.startswith("Nothing clearly relevant") and "earnings" in answer.missing_words
    assert index.search("quarterly earnings of shipping companies", strict=True).nearest == []
    assert len(index.search("quarterly earnings of shipping companies", limit=2, all=True)) == 2


def test_the_answer_is_that_of_the_command(index):
    command = [sys.executable, "-m", "tamis", "-C", str(index.root), "search", "--json", "boiler water"]
    printed = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, "TAMIS_INDEX_MODELS": "static"}
    )
    assert printed.returncode == 0, printed.stderr
    theirs = answers.Answer.from_dict(json.loads(printed.stdout))
    ours = index.search("boiler water")
    assert [hit for hit in ours] == [hit for hit in theirs] and ours.cut == theirs.cut


def test_arguments_narrow_a_search(index):
    assert {hit.path for hit in index.search("degrees", paths=["oven.md"], gate=False)} == {"oven.md"}
    assert {hit.path for hit in index.search("open the door", languages=["py"], gate=False)} == {"door.py"}
    assert len(index.search("degrees", cut="fixed:k=3", limit=1, gate=False)) == 1
    assert index.search("boiler", mode="lexical").mode_used == "lexical"


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": -1}, "limit"),
        ({"limit": "3"}, "limit"),
        ({"context": -1}, "context"),
        ({"strictness": "high"}, "strictness"),
        ({"cut": "knedle"}, "cut"),
        ({"cut": 3}, "cut"),
        ({"cut": "otsu", "target_recall": 0.9}, "target_recall"),
        ({"want": "many"}, "want"),
        ({"all": True, "want": "one"}, "all"),
        ({"mode": "psychic"}, "mode"),
        ({"languages": ["klingon"]}, "languages"),
        ({"states": ["done"]}, "state"),
        ({"since": "once"}, "since"),
        ({"paths": "oven.md"}, "paths"),
        ({"paths": ["["]}, "paths"),
        ({"labels": "bug"}, "labels"),
        ({"variants": ["code:"]}, "variants"),
        ({"guarantee": "luck=1"}, "guarantee"),
    ],
)
def test_an_argument_that_is_not_allowed_is_named(index, arguments, parameter):
    with pytest.raises(tamis.ParameterError) as error:
        index.search("boiler", **arguments)
    assert error.value.parameter == parameter, error.value
    assert error.value.allowed and f"{parameter}: {parameter}" not in str(error.value)
    # An aim that a method lacks is wrong whatever its value.
    assert error.value.value or parameter == "target_recall"


def test_what_is_no_text_is_named(index):
    for query in ("a\ud800b", b"boiler", None):
        with pytest.raises(tamis.ParameterError, match="^query = "):
            index.search(query)
    for call in (index.get, index.related):
        with pytest.raises(tamis.ParameterError, match="^wanted = 7"):
            call(7)
    with pytest.raises(tamis.ParameterError, match="^by = 'x': must be one of vector, reference"):
        index.related("oven.md:1", by="x")
    with pytest.raises(tamis.ParameterError, match="^before = -1"):
        index.grep("x", before=-1)


def test_numbers_of_numpy_dates_and_results_are_arguments(index):
    numpy = pytest.importorskip("numpy")
    answer = index.search("degrees", limit=numpy.int64(1), strictness=numpy.float32(1), context=numpy.int32(2))
    assert len(answer) == 1 and answer[0] == answer.results[0] and answer[:1] == answer.results
    today = datetime.date.today()
    for moment in (today, datetime.datetime(today.year, today.month, today.day, tzinfo=datetime.timezone.utc)):
        assert index.search("degrees", since=moment).index is not None
    assert index.get(answer[0]) == index.get(answer[0].id)
    assert index.related(answer[0]).passage.id == answer[0].id
    assert index.feedback(answer, [answer[0], numpy.int64(1)], relevant=True)[0].passage == answer[0].id


def test_an_answer_shows_itself_in_a_line_or_two(index):
    shown = repr(index.search("how hot should the oven be for bread"))
    assert len(shown) < 300 and shown.count("\n") == 1 and "oven.md:1" in shown, shown
    assert repr(index.search("quarterly earnings of shipping companies")).startswith("<tamis.Answer: 0 of ")


FORKS = """
import os, signal, sys, tamis

TREE = sys.argv[1]
STATIC = {"index.models": "static"}
RUN, QRELS = {f"q{n}": {"a": 0.9, "b": 0.1} for n in range(40)}, {f"q{n}": {"a": 1} for n in range(40)}


def say(name, work):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        # One that waits for ever must not outlive the test.
        signal.alarm(60)
        try:
            work()
            print(name, "worked", flush=True)
        except tamis.TamisError as error:
            print(name, "forkserver" in str(error), flush=True)
        os._exit(0)
    os.waitpid(child, 0)


index = tamis.Index(TREE, settings=STATIC)
say("opened before", lambda: index.search("oven"))
say("opened after", lambda: tamis.Index(TREE, settings=STATIC).search("oven"))
index.search("oven")
say("search", lambda: index.search("oven"))
say("own search", lambda: tamis.Index(TREE, settings=STATIC).search("oven"))
say("own refresh", lambda: tamis.Index(TREE, settings=STATIC).refresh())
say("evaluate", lambda: tamis.evaluate(RUN, QRELS))
say("cut", lambda: tamis.cut([0.9, 0.1]))
say("cut_many", lambda: tamis.cut_many([[0.9, 0.1]] * 5000))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_says_that_it_cannot_search(index):
    done = subprocess.run([sys.executable, "-c", FORKS, str(index.root)], capture_output=True, text=True, timeout=120)
    expected = ["opened before True", "opened after worked", "search True", "own search True", "own refresh True"]
    expected += ["evaluate True", "cut worked", "cut_many worked"]
    assert done.stdout.splitlines() == expected, done.stderr


def test_get_related_and_grep(index):
    hit = index.search("open the front door").results[0]
    assert index.get(hit.id).text.startswith("def open_door")
    assert index.get("oven.md:3-3").text.strip().startswith("Heat the oven")
    with pytest.raises(errors.NotFoundError, match="did you mean oven.md"):
        index.get("ovn.md")
    related = index.related(hit.id)
    assert [use.symbol for use in related.referenced_by] == ["enter"] and related.passage.symbol == "open_door"
    found = index.grep(r"\bdegrees\b", paths=["*.md"], before=1)
    assert (found.matches, found.files) == (2, 2) and found.results[0].hits[0].line == 2
    assert index.grep("DEGREES").matches == 0 and index.grep("DEGREES", ignore_case=True).matches == 2
    with pytest.raises(tamis.TamisError):
        index.grep("(")


def test_feedback_is_recorded(index):
    answer = index.search("boiler water")
    judged = index.feedback(answer, [1], relevant=True)
    assert judged[0].relevance == "relevant" and judged[0].rank == 1
    assert index.feedback(answer.query_id, [answer.results[0].id], relevant=False)[0].relevance == "not_relevant"
    with pytest.raises(tamis.ParameterError, match="query id"):
        index.feedback("no-such-search", [1], relevant=True)


def test_status_says_what_is_there(index):
    status = index.status()
    assert status.documents == 3 and status.stale == 0 and status.root == str(index.root)
    assert repr(index) == f"<tamis.Index of {index.root}>"


def test_a_run_tells_its_progress_and_what_changed(index):
    (index.root / "garden.md").write_text("# Garden\n\nWater the roses in the morning.\n")
    steps = []
    report = index.refresh(progress=steps.append)
    assert (report.added, report.unchanged) == (1, 3)
    assert all(isinstance(step, tamis.Progress) for step in steps)
    (index.root / "garden.md").unlink()
    run = index.refreshing()
    for step in run:
        assert step.stage and step.done >= 0
    assert run.report().removed == 1
    assert run.report().removed == 1, "a report can be asked for again"
    with pytest.raises(StopIteration):
        next(run)


def large(tmp_path):
    for number in range(400):
        text = "\n".join(
            f"# Part {part} of {number}\n\nIt says {part * number} in other words.\n" for part in range(60)
        )
        (tmp_path / f"{number}.md").write_text(text)
    return tamis.Index(tmp_path, settings={"index.models": "static"})


def test_ctrl_c_stops_a_run_and_the_next_one_goes_on(tmp_path):
    index = large(tmp_path)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        # On a fast machine the run would end before the interrupt.
        for _ in range(50):
            index.refresh(reread=True)
    assert time.monotonic() - started < 30
    timer.join()
    assert index.refresh().interrupted is False
    assert index.status().documents == 400


def test_a_run_can_be_cancelled(tmp_path):
    run = large(tmp_path).refreshing()
    run.cancel()
    assert run.report().interrupted is True


def test_threads_share_an_index(index):
    found, threads = [], []
    for _ in range(4):
        thread = threading.Thread(
            target=lambda: found.append(index.search("bleed the radiators", refresh=False).results[0].path)
        )
        threads.append(thread)
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["heating.md"] * 4


def test_errors_have_kinds(tmp_path):
    with pytest.raises(errors.NotFoundError):
        tamis.Index(tmp_path / "missing")
    with pytest.raises(errors.ConfigError, match="^settings: search.top_k = "):
        tamis.Index(tmp_path, settings={"search.top_k": 0})
    with pytest.raises(errors.ConfigError, match="as {'search.top_k': 3}"):
        tamis.Index(tmp_path, settings={"search": {"top_k": 3}})
    with pytest.raises(errors.StoreError):
        tamis.Index("postgres://127.0.0.1:1/none")
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), tamis.TamisError)


def test_a_database_holds_an_index_too(tmp_path, monkeypatch):
    url = os.environ.get("TEST_POSTGRES_URL")
    if not url:
        pytest.skip("TEST_POSTGRES_URL names no database")
    (tmp_path / "oven.md").write_text("# Oven\n\nHeat the oven to 220 degrees before baking bread.\n")
    monkeypatch.chdir(tmp_path)
    index = tamis.Index(url, settings={"index.models": "static"})
    assert index.refresh().pending == {}
    assert index.search("oven temperature for bread").results[0].path == "oven.md"


def test_an_answer_draws_its_curve(index):
    html = index.search("how hot should the oven be for bread")._repr_html_()
    assert "<svg" in html and "oven.md" in html and "relevant" in html
    assert "<svg" in index.search("quarterly earnings of shipping companies")._repr_html_()
