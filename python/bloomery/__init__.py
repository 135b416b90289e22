# SPDX-License-Identifier: MIT
"""Membership filters: is this key in the set, without the set.

>>> import bloomery
>>> seen = bloomery.Filter(capacity=1_000_000, rate=0.01)
>>> seen.add("https://example.org/")
True
>>> "https://example.org/" in seen
True
>>> "https://example.org/other" in seen
False

A key that was added is never answered False. A key that was not is answered True no more often than
the rate. A key is bytes, str (its UTF-8) or int (64 bits, little-endian).
"""
from . import _core, errors

_core.set_errors(errors.make)

from .errors import (AbsentError, AmbiguousError, ArgumentError, BusyError, CancelledError,  # noqa: E402
                     ChecksumError, ConflictError, DeniedError, Error, ExistsError, FileError, FormatError,
                     FullError, FunnelError, HashError, IndivisibleError, LimitError,
                     MismatchError, MissingError, NoMemoryError, ReadOnlyError, SpaceError,
                     TruncatedError, UnsupportedError, VersionError)
from .facts import Estimate, Overlap, Params, Plan, Stats, Trial, calc, formats, kinds, schemes  # noqa: E402
from .filter import Filter, build  # noqa: E402
from .guard import Guard  # noqa: E402

__version__: str = _core.version

__all__ = [
    "Filter", "Guard", "build", "calc", "kinds", "schemes", "formats",
    "Estimate", "Overlap", "Params", "Plan", "Stats", "Trial",
    "Error", "AbsentError", "AmbiguousError", "ArgumentError", "BusyError", "CancelledError",
    "ChecksumError", "ConflictError", "DeniedError", "ExistsError", "FileError", "FormatError", "FullError",
    "FunnelError", "HashError", "IndivisibleError", "LimitError", "MismatchError", "MissingError",
    "NoMemoryError", "ReadOnlyError", "SpaceError", "TruncatedError", "UnsupportedError",
    "VersionError",
]
