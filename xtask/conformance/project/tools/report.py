"""Counts what a mill did in a day."""

import collections
import json


def read_log(path):
    """The entries of a log: one JSON object a line, broken lines passed over."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def count_by_outcome(entries):
    """How many jobs ended in which way."""
    return collections.Counter(entry["outcome"] for entry in entries)
