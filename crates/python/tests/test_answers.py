"""The dataclasses against the schemas of the contract."""

import dataclasses
import json
import os
import types
import typing
from pathlib import Path

import pytest

from tamis import answers
from tamis._convert import Convertible

# The tests run against the installed package; the schemas are in the checkout.
SCHEMAS = Path(os.environ.get("TEST_CHECKOUT", "../../..")) / "docs/schema"


def definitions():
    search = json.loads((SCHEMAS / "search.schema.json").read_text())
    others = json.loads((SCHEMAS / "openapi.json").read_text())["components"]["schemas"]
    return {**others, **search["$defs"], "Answer": search}


DEFINITIONS = definitions()
# They are not in a schema, since no route returns them; test_index.py reads real ones.
WITHOUT_SCHEMA = {"RefreshReport", "SourceReport"}
# Fields that the package adds.
ADDED = {("Answer", "pool_scores")}
CLASSES = [name for name in answers.__all__ if name not in WITHOUT_SCHEMA]


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_fields_of_the_schema(name):
    schema, cls = DEFINITIONS[name], getattr(answers, name)
    fields = {field.name: field for field in dataclasses.fields(cls) if (name, field.name) not in ADDED}
    assert set(fields) == set(schema["properties"])
    required = {name for name, field in fields.items() if not has_default(field)}
    assert required == set(schema["required"])
    hints = typing.get_type_hints(cls)
    for field, described in schema["properties"].items():
        assert fits(hints[field], described), f"{name}.{field}: {hints[field]} for {described}"


def test_every_object_below_an_answer_has_a_class():
    for name in CLASSES:
        for part in json.dumps(DEFINITIONS[name].get("properties")).split('"$ref": "')[1:]:
            below = part.split('"')[0].rsplit("/", 1)[1]
            assert "properties" not in DEFINITIONS[below] or below in answers.__all__, below


def has_default(field):
    missing = dataclasses.MISSING
    return field.default is not missing or field.default_factory is not missing


def fits(hint, schema):
    """True if the hint says what the schema says."""
    if schema is True:
        return hint is typing.Any
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        if "properties" in DEFINITIONS[name]:
            return hint is getattr(answers, name) and issubclass(hint, Convertible)
        described = DEFINITIONS[name]
        words = described.get("enum") or [one["const"] for one in described["oneOf"]]
        return typing.get_origin(hint) is typing.Literal and set(typing.get_args(hint)) == set(words)
    kinds = (
        schema.get("anyOf") or [{**schema, "type": kind} for kind in schema["type"]]
        if isinstance(schema.get("type"), list) or "anyOf" in schema
        else None
    )
    if kinds:
        arguments = (
            list(typing.get_args(hint))
            if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
            else [hint]
        )
        return len(arguments) == len(kinds) and all(any(fits(one, kind) for one in arguments) for kind in kinds)
    kind = schema["type"]
    if kind == "array" and "prefixItems" in schema:
        arguments = typing.get_args(hint)
        return typing.get_origin(hint) is tuple and all(map(fits, arguments, schema["prefixItems"]))
    if kind == "array":
        return typing.get_origin(hint) is list and fits(typing.get_args(hint)[0], schema["items"])
    if kind == "object":
        return typing.get_origin(hint) is dict and fits(typing.get_args(hint)[1], schema["additionalProperties"])
    names = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None)}
    return hint is names[kind]


def test_the_comparison_sees_a_difference():
    text, number = {"type": "string"}, {"type": ["integer", "null"]}
    assert fits(str, text) and not fits(int, text) and not fits(str | None, text)
    assert fits(int | None, number) and not fits(int, number) and not fits(str | None, number)
    assert not fits(list[int], {"type": "array", "items": {"type": "string"}})
