"""The extension module behind the package."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, final, overload

__all__ = [
    "Background",
    "Cut",
    "Cuts",
    "Evaluation",
    "Index",
    "Refresh",
    "__version__",
    "background",
    "cut",
    "cut_many",
    "evaluate",
    "main",
    "methods",
    "pickled_cut",
    "pickled_cuts",
    "plot",
]

__version__: str

class _Array(Protocol):
    """An array of numbers, as NumPy and others have them."""

    def __array__(self) -> Any: ...

_Number = SupportsFloat | SupportsIndex
_Numbers = Iterable[_Number] | _Array
_OptionalNumbers = Iterable[_Number | None] | _Array
_Batch = Iterable[_Numbers] | _Array
_Want = Literal["auto", "one", "best", "all"]

@final
class Background:
    """The scores of irrelevant results, from a sample of them."""

    def __new__(cls, mean: float, deviation: float, count: int) -> Background: ...
    @property
    def mean(self) -> float | None:
        """Mean score of the sample; None for one with a similarity or BM25."""

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the scores."""

    @property
    def count(self) -> int:
        """Number of results in the sample."""

@final
class Cut:
    """How many of a list are relevant, and why. As a sequence, the positions of the kept entries."""

    @property
    def count(self) -> int:
        """Number of relevant candidates: entries, or groups where groups were given."""

    @property
    def threshold(self) -> float | None:
        """The value that a candidate must reach, where the method decides by value."""

    @property
    def reason(self) -> str:
        """Why the list ends there, as a clause that completes "Kept 4 of 150: …"."""

    @property
    def method(self) -> str:
        """The method that decided; "gate" if nothing stood out."""

    @property
    def candidates(self) -> int:
        """Number of candidates."""

    @property
    def dropped(self) -> int:
        """Number of candidates that are left out."""

    @property
    def dropped_non_finite(self) -> int:
        """Number of scores that are not finite and were never considered."""

    @property
    def probabilities(self) -> list[float]:
        """The probability that each candidate is relevant, best first; empty where the method gives none."""

    @property
    def diagnostics(self) -> dict[str, bool | int | float | str]:
        """The figures behind the decision."""

    @property
    def kept(self) -> list[int]:
        """The positions of the kept entries in the list as given, best first."""

    @property
    def order(self) -> list[int]:
        """The positions of all entries, best first; those of a group stand together."""

    @property
    def values(self) -> list[float]:
        """The value of each candidate on the scale of the method, best first."""

    @property
    def groups(self) -> list[Any] | None:
        """The label of each candidate, best first, where groups were given."""

    def to_dict(self) -> dict[str, Any]:
        """The cut with its lines, as `tamis cut --json` prints it."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int, /) -> int: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[int]: ...
    def __iter__(self) -> Iterator[int]: ...
    def _repr_html_(self) -> str: ...

@final
class Cuts:
    """The cuts of many lists, in their order."""

    @property
    def counts(self) -> list[int]:
        """Number of relevant entries of each list."""

    @property
    def thresholds(self) -> list[float | None]:
        """The value that a candidate of each list must reach; None where the method decides otherwise."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int, /) -> Cut: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[Cut]: ...
    def __iter__(self) -> Iterator[Cut]: ...

def cut(
    scores: _Numbers | None = None,
    method: str = "auto",
    background: float | Background | None = None,
    want: _Want | None = None,
    *,
    distance: bool = False,
    sort: bool = False,
    groups: Iterable[Hashable] | None = None,
    similarity: _OptionalNumbers | None = None,
    bm25: _OptionalNumbers | None = None,
    coverage: _OptionalNumbers | None = None,
    tokens: _Numbers | None = None,
    texts: Sequence[str] | None = None,
    fusion_weight: float = 0.6,
    gate: bool = True,
    **parameters: bool | float | str,
) -> Cut:
    """Cut one ranked list where relevance ends.

    `scores` come best first (`sort=True` sorts them); a higher one is better unless `distance` is true. In their place,
    `similarity` and `bm25` are fused and ordered; an entry that one of the two did not find has None there. `background` is the
    mean score of irrelevant results, or a sample of them (`background()`): with a sample, the method "auto" first asks if
    anything stands out, so that a list without an answer comes back empty. `want` says how much: "one", "best" or "all".

    `method` is one of `methods()`, whose parameters are further keyword arguments (`lambda_` for `lambda`):
    `cut(scores, "kneedle", sensitivity=2)`; or it holds them itself: `"kneedle:sensitivity=2"`.
    Entries of one of the `groups` count once, by the best of them. `tokens`, or `texts`, are for `budget_tokens`.

    Raises ParameterError, which names the parameter, the value and what is allowed.
    """

def cut_many(
    scores: _Batch | None = None,
    method: str = "auto",
    background: float | Background | Iterable[float | Background | None] | _Array | None = None,
    want: _Want | None = None,
    *,
    distance: bool = False,
    sort: bool = False,
    similarity: Iterable[_OptionalNumbers] | None = None,
    bm25: Iterable[_OptionalNumbers] | None = None,
    fusion_weight: float = 0.6,
    gate: bool = True,
    **parameters: bool | float | str,
) -> Cuts:
    """Cut many ranked lists, each where its relevance ends.

    `scores` is an array of two dimensions, or lists of any lengths. `background` is one for all lists, or a list or array with one
    for each. The rest is as in `cut`.
    """

def background(
    sample: _Numbers | None = None,
    *,
    similarity: _OptionalNumbers | None = None,
    bm25: _OptionalNumbers | None = None,
) -> Background:
    """Measure a sample of results drawn at random: their scores, or their similarity and BM25.

    From twenty results on, the sample also says if anything stands out from it.
    """

def methods() -> list[dict[str, Any]]:
    """The methods: name, summary, and for each parameter its name, meaning, allowed values and default."""

def plot(values: list[float], keep: int, caption: str) -> str: ...
def pickled_cut(list: str, groups: list[Any] | None) -> Cut: ...
def pickled_cuts(lists: str) -> Cuts: ...
def main(command_line: list[str]) -> int: ...

@final
class Refresh(Iterator[tuple[str, str | None, int, int]]):
    def __next__(self) -> tuple[str, str | None, int, int]: ...
    def cancel(self) -> None: ...
    def finish(self) -> str: ...

@final
class Index:
    def __new__(
        cls,
        path: str,
        *,
        store: str | None = None,
        index_directory: str | None = None,
        settings: list[tuple[str, str]] | None = None,
    ) -> Index: ...
    @property
    def places(self) -> tuple[Path, Path]: ...
    @property
    def refreshes(self) -> bool: ...
    def search(self, request: str, refresh: bool, explain: bool) -> tuple[str, list[float]]: ...
    def get(self, request: str) -> str: ...
    def related(self, request: str) -> str: ...
    def grep(self, request: str) -> str: ...
    def feedback(self, query_id: str, ids: list[str], relevant: bool) -> str: ...
    def status(self) -> str: ...
    def refresh(self, wait: bool, reread: bool) -> Refresh: ...

@final
class Evaluation:
    def json(self) -> str: ...
    def markdown(self) -> str: ...
    def html(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...

def evaluate(
    run: list[tuple[str, str, float]],
    qrels: list[tuple[str, str, int]],
    *,
    name: str,
    cuts: list[str],
    seed: int,
    resamples: int,
    baseline: str | None,
    beta: float,
    depths: list[int],
) -> Evaluation: ...
