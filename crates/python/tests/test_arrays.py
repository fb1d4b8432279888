"""Arrays of NumPy, and what becomes one."""

import gc
import subprocess
import sys
import tracemalloc

import pytest

import tamis

np = pytest.importorskip("numpy")
SCORES = [9.1, 8.7, 8.5, 2.0, 1.9, 1.8, 1.7]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", ">f8", "bool"])
def test_every_kind_of_number_is_read(dtype):
    scores = np.array(SCORES).astype(dtype)
    expected = tamis.cut([float(score) for score in scores], "otsu")
    assert tamis.cut(scores, "otsu").to_dict() == expected.to_dict()


def test_arrays_in_any_layout_and_of_anybody_are_read():
    wide = np.array([SCORES, SCORES]).T.copy()
    assert tamis.cut(wide[:, 1], "autocut:jumps=1").count == 3
    assert tamis.cut(np.array(SCORES[::-1])[::-1], "autocut:jumps=1").count == 3
    read_only = np.array(SCORES)
    read_only.flags.writeable = False
    assert tamis.cut(read_only, "autocut:jumps=1").count == 3
    assert tamis.cut(list(np.array(SCORES, dtype="float32")), "autocut:jumps=1").count == 3
    assert tamis.cut(np.ma.array(SCORES), "autocut:jumps=1").count == 3


def test_series_and_tensors_make_arrays_of_themselves():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert tamis.cut(pandas.Series(SCORES), "autocut:jumps=1").count == 3
    assert tamis.cut(polars.Series(SCORES), "autocut:jumps=1").count == 3
    assert tamis.cut_many(pandas.DataFrame([SCORES, SCORES]), "autocut:jumps=1").counts == [3, 3]
    assert tamis.cut_many(polars.DataFrame({"a": [0.9, 3.0], "b": [0.1, 2.9], "c": [0.0, 0.1]})).counts == [1, 2]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_a_table_has_one_list_a_row(dtype):
    table = np.sort(np.random.default_rng(1).integers(0, 1000, (40, 30)), axis=1)[:, ::-1].astype(dtype)
    cuts = tamis.cut_many(table)
    assert cuts.counts == [tamis.cut(row).count for row in table]
    assert tamis.cut_many(np.asfortranarray(table)).counts == cuts.counts
    assert tamis.cut_many(list(table)).counts == cuts.counts
    assert tamis.cut_many(table.tolist()).counts == cuts.counts
    assert tamis.cut_many(np.empty((0, 5))).counts == [] and tamis.cut_many(np.empty((2, 0))).counts == [0, 0]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (np.zeros((2, 3)), "scores: 2 dimensions: must be a list of numbers; use tamis.cut_many for many lists"),
        (np.float64(3.0), "scores"),
        (np.array(["a", "b"]), "an array of <U1: must be numbers"),
        (np.array([1 + 2j]), "an array of complex128: must be numbers"),
        (np.array([object()]), "an array of object: must be numbers"),
    ],
)
def test_an_array_that_is_no_list_is_an_error(scores, said):
    with pytest.raises(tamis.ParameterError, match="scores") as error:
        tamis.cut(scores)
    assert said in str(error.value)


def test_missing_retrievers_can_be_nan():
    cut = tamis.cut(similarity=np.array([0.2, 0.6, np.nan]), bm25=np.array([np.nan, 1.0, 4.0]), fusion_weight=0.5)
    assert cut.order == [2, 1, 0]
    with pytest.raises(tamis.ParameterError, match="bm25\\[0\\] = inf"):
        tamis.cut(bm25=np.array([np.inf]))


def test_parameters_can_be_numbers_of_numpy():
    scores = np.array(SCORES)
    assert tamis.cut(scores, "fixed", k=np.int64(2)).count == 2
    assert tamis.cut(scores, target_recall=np.float32(0.5)).method == "auto"


def test_large_arrays_are_not_copied_for_python():
    scores = np.linspace(1.0, 0.0, 2_000_000)
    gc.collect()
    tracemalloc.start()
    background = tamis.background(scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert background.count == 2_000_000 and peak < 1_000_000


def test_without_numpy_lists_are_cut_all_the_same():
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import tamis\n"
        "assert tamis.cut([3.0, 2.9, 0.1]).count == 2\n"
        "assert tamis.cut_many([[3.0, 2.9, 0.1], [1.0]]).counts == [2, 1]\n"
        "assert 'numpy.linalg' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
