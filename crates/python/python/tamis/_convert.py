"""Dataclasses from the JSON of the library."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T", bound="Convertible")
Convert = Callable[[Any], Any]


class Convertible:
    """A dataclass whose fields are those of an object of JSON."""

    @classmethod
    def from_dict(cls: type[T], value: Mapping[str, Any]) -> T:
        """Make it from a JSON object, such as the output of a command with `--json`."""
        converters = _converters(cls)
        return cls(**{name: converters[name](field) for name, field in value.items() if name in converters})


_KNOWN: dict[type[Any], dict[str, Convert]] = {}


def _converters(cls: type[Any]) -> dict[str, Convert]:
    known = _KNOWN.get(cls)
    if known is None:
        hints = typing.get_type_hints(cls)
        known = {field.name: _converter(hints[field.name]) for field in dataclasses.fields(cls)}
        _KNOWN[cls] = known
    return known


def _converter(hint: Any) -> Convert:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        (inner,) = (_converter(one) for one in arguments if one is not type(None))
        return inner if inner is _same else lambda value: None if value is None else inner(value)
    if origin is list:
        one = _converter(arguments[0])
        return _same if one is _same else lambda value: [one(entry) for entry in value]
    if origin is tuple:
        return tuple
    if isinstance(hint, type) and issubclass(hint, Convertible):
        return hint.from_dict
    return _same


def _same(value: Any) -> Any:
    return value
