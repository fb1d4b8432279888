"""The errors of Tamis. Each says what happened, to what, and what to do."""

from __future__ import annotations

__all__ = [
    "BusyError",
    "Cancelled",
    "ConfigError",
    "GuaranteeError",
    "ModelError",
    "NotFoundError",
    "ParameterError",
    "StoreError",
    "TamisError",
    "UnavailableError",
]


class TamisError(Exception):
    """An operation that failed. All errors of this package are one."""


class ParameterError(TamisError, ValueError):
    """An argument that is not allowed."""

    parameter: str | None
    """Name of the argument."""
    value: str | None
    """The value received, as text."""
    allowed: str | None
    """What is allowed."""

    def __init__(
        self,
        message: str,
        parameter: str | None = None,
        value: str | None = None,
        allowed: str | None = None,
    ) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.value = value
        self.allowed = allowed


class ConfigError(TamisError, ValueError):
    """A configuration that is not valid."""


class NotFoundError(TamisError, LookupError):
    """A path, an identifier or an index that does not exist, or means several things."""


class ModelError(TamisError):
    """A model that cannot be used, or vectors that are missing."""


class GuaranteeError(TamisError):
    """A guarantee that cannot be given, for want of judged queries."""


class StoreError(TamisError):
    """An index that cannot be read or written."""


class BusyError(StoreError):
    """An index that another process is writing."""


class UnavailableError(StoreError):
    """A database that does not answer."""


class Cancelled(TamisError):
    """A call that was stopped."""
