"""Arguments as JSON has them. The error of one that is not allowed names it."""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from .errors import ParameterError

# More than any argument allows, and no more than the library can read.
_MOST = 2**32 - 1


def refused(name: str, value: object, allowed: str) -> ParameterError:
    """The error for a value that is not allowed."""
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{type(value).__name__} of {len(shown)} characters"
    return ParameterError(f"{name} = {shown}: must be {allowed}", name, shown, allowed)


def text(name: str, value: Any, allowed: str = "a text") -> Any:
    """A text."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise refused(name, value, allowed)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise refused(name, value, f"{allowed} without lone surrogates") from None
    return value


def several(name: str, values: Any) -> Iterable[Any]:
    """A list."""
    # A text is an iterable of its letters, which nobody means.
    if isinstance(values, str):
        raise refused(name, values, f"a list of texts, such as [{values!r}]")
    if not isinstance(values, Iterable):
        raise refused(name, values, "a list of texts")
    return values


def texts(name: str, values: Any) -> list[Any]:
    """A list of texts."""
    return [text(name, given(name, value)) for value in several(name, values)]


def given(name: str, value: Any) -> Any:
    """A value that must be there."""
    if value is None:
        raise refused(name, value, "a text")
    return value


def word(name: str, value: Any, words: Sequence[str]) -> Any:
    """One of some words."""
    if value is not None and not (isinstance(value, str) and value in words):
        raise refused(name, value, f"one of {', '.join(words)}")
    return value


def whole(name: str, value: Any) -> int | None:
    """A whole number, also one of NumPy's."""
    if value is None:
        return None
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise refused(name, value, "a whole number, at least 0")
    return min(number, _MOST)


def number(name: str, value: Any) -> float | None:
    """A number, also one of NumPy's."""
    if value is None:
        return None
    try:
        known = math.nan if isinstance(value, (str, bytes, bool)) else float(value)
    except (TypeError, ValueError, OverflowError):
        known = math.nan
    if not math.isfinite(known):
        raise refused(name, value, "a finite number")
    return known


def moment(name: str, value: Any) -> Any:
    """A date, a date and time, or a text that names one."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    return text(name, value, "a date, or a text that names one, such as '7d'")


def identifier(name: str, value: Any) -> Any:
    """The identifier of a result, or the result itself."""
    return text(name, given(name, getattr(value, "id", value)), "a result, or its identifier")
