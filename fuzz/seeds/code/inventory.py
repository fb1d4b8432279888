f#!/usr/bin/env python3
"""Keep count of what is in the shop.

Nothing is stored on disk.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

LIMIT = 100
UNITS = {"piece": 1, "dozen": 12}


class StockError(Exception):
    """The shop can not deliver."""


@dataclass
class Item:
    """One kind of thing."""

    name: str
    amount: int = 0
    tags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.name.strip()

    # Both kinds of discount end up here.
    @property
    def label(self) -> str:
        return f"{self.name} ({self.amount})"

    class Meta:
        ordering = ["name"]

        def describe(self):
            return self.ordering


@functools.cache
def units(name: str) -> int:
    """How many pieces a unit has."""

    def default() -> int:
        return 1

    return UNITS.get(name, default())


async def deliver(items: list[Item], to: str) -> None:
    for item in items:
        if item.amount > LIMIT:
            raise StockError(item.name)


def test_units():
    assert units("dozen") == 12


if __name__ == "__main__":
    import sys

    for name in sys.argv[1:]:
        print(name, units(name))
