"""How cases are told to the runner."""

from collections import namedtuple

Case = namedtuple("Case", "body limit is_alone")

ALL = {}


def add(name, body, limit=150, is_alone=False):
    """Adds a case: `body` takes a lab. After `limit` seconds it has failed; one that is alone runs beside no other."""
    assert name not in ALL, name
    ALL[name] = Case(body, limit, is_alone)
