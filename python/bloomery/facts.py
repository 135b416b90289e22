# SPDX-License-Identifier: MIT
"""Figures: what a filter is, what is in it, what one would be."""
from dataclasses import dataclass, fields
from typing import Any, Dict, NamedTuple, Optional, Type, TypeVar

from . import _core


class Estimate(NamedTuple):
    """An estimated number and its 95% interval."""

    value: float
    low: float
    high: float
    saturated: bool = False             # every bit is set: value is the most one can say

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True)
class Params:
    """Parameters of a filter. Takes no time to get."""

    kind: str
    scheme: str
    scheme_version: int
    hash: Optional[str]
    bits: int                           # m; counting: counters
    probes: int                         # k
    lines: int
    layers: int
    capacity: int                       # n it was planned for; 0: unknown
    items: int                          # keys that were new when added
    rate: float                         # promised; 0: none was
    bytes: int                          # that the bits take
    seed: Optional[int]
    shared: bool
    mapped: bool                        # in a file
    writable: bool
    growth: float
    tightening: float
    kernel: str
    format: str
    funnel: Optional[str]
    notice: Optional[str]               # what is odd about these parameters
    threads: int
    cell_bits: int


@dataclass(frozen=True)
class Stats(Params):
    """Parameters, and what the bits say. Reads every bit once."""

    ones: int
    fill: float
    estimate: Estimate                  # keys, from the bits alone
    rate_now: float                     # the rate that the bits give now
    stuck: int                          # counting: saturated counters
    overfilled: bool                    # rate_now is above the promise by more than chance


@dataclass(frozen=True)
class Overlap:
    """How many keys two filters have, and how many in common."""

    a: Estimate
    b: Estimate
    both: Estimate
    either: Estimate
    jaccard: Estimate


@dataclass(frozen=True)
class Trial:
    """The rate, measured with keys that were never added."""

    trials: int
    hits: int
    rate: float
    low: float
    high: float
    promised: float
    modelled: float
    holds: bool                         # the trial does not contradict the promise


@dataclass(frozen=True)
class Plan:
    """What a filter would be."""

    kind: str
    capacity: int
    rate: float
    bits: int
    probes: int
    lines: int
    bytes: int
    fits: bool
    bytes_needed: int
    bits_per_key: float


T = TypeVar("T")


def record(kind: Type[T], values: Dict[str, Any]) -> T:
    """A dataclass of the extension's dict."""
    named = {f.name: values[f.name] for f in fields(kind)}
    return kind(**{k: Estimate(*v) if isinstance(v, tuple) else v for k, v in named.items()})


def given(**options: Any) -> Dict[str, Any]:
    """The options that were given."""
    return {k: v for k, v in options.items() if v is not None and v is not False}


def calc(capacity: Optional[float] = None, rate: Optional[float] = None, *, bits: Optional[int] = None,
         probes: Optional[int] = None, memory: Optional[int] = None, kind: Optional[str] = None,
         scheme: Optional[str] = None, lines: Optional[int] = None) -> Plan:
    """Plans a filter: any two of capacity, rate, bits (or memory) and probes give the others.

    >>> import bloomery
    >>> bloomery.calc(1_000_000, 0.01, kind="classic").bytes
    1199120
    """
    if rate is None and bits is None and memory is None:
        rate = 0.01
    return record(Plan, _core.calc(given(capacity=capacity, rate=rate, bits=bits, probes=probes,
                                         memory=memory, kind=kind, scheme=scheme, lines=lines)))


def kinds() -> Dict[str, str]:
    """The kinds of filter, each with one line about it."""
    return _core.rows()["kinds"]


def schemes() -> Dict[str, Dict[str, Any]]:
    """The schemes: how keys become positions, here and in other systems."""
    return _core.rows()["schemes"]


def formats() -> Dict[str, Dict[str, Any]]:
    """The file formats that can be read or written."""
    return _core.rows()["formats"]
