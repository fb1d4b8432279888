"""Cut ranked lists where relevance ends, and search code and documents.

>>> import tamis
>>> cut = tamis.cut([0.91, 0.90, 0.2, 0.19, 0.18])
>>> cut.count
2

`cut` decides one list and `cut_many` many of them, `background` measures a sample of irrelevant results, `Index` searches a
directory, and `evaluate` measures a run against judgements. Errors are in `tamis.errors`.
"""

from . import answers, errors
from ._tamis import Background, Cut, Cuts, __version__, background, cut, cut_many, methods
from .errors import ParameterError, TamisError
from .evaluation import Evaluation, evaluate
from .index import Index, Progress, Refresh

__all__ = [
    "Background",
    "Cut",
    "Cuts",
    "Evaluation",
    "Index",
    "ParameterError",
    "Progress",
    "Refresh",
    "TamisError",
    "__version__",
    "answers",
    "background",
    "cut",
    "cut_many",
    "errors",
    "evaluate",
    "methods",
]
