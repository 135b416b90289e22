# SPDX-License-Identifier: MIT
"""A guard in front of a data set that is expensive to reach."""
import atexit
import json
import os
import weakref
from typing import Any, Callable, Dict, Iterable, Optional, Type, TypeVar, Union

from . import _core
from .facts import given
from .filter import Key, Path, close_each

G = TypeVar("G", bound="Guard")
_open: "weakref.WeakSet[Guard]" = weakref.WeakSet()


def _close_all() -> None:
    close_each(list(_open))
    _core.wait_orphans()                # those that nobody had any more, and whose rebuild still runs


atexit.register(_close_all)

COUNTING, ADVISORY, MANUAL = 1, 2, 4


class Guard(_core.Guard):
    """Stands between you and a data set: a get to which the filter says no never reaches it.

    get(key) -> bytes or None      reads a row; None: there is none
    scan() -> iterable of keys     every key that is there during the whole scan
    put(key, value)                writes a row
    delete(key) -> bool            True: there was a row and now there is none
    count() -> int                 about how many rows there are
    read_mark() -> bytes or None, write_mark(bytes)
                                   up to 64 bytes kept with the data, as durable as a row; with them
                                   and a path the filter is trusted again after a restart

    Callables get the key as bytes, and are called from several threads. Rows that were put through
    the guard and not deleted are never answered None. What a callable raises comes out of the call.
    """

    _pid = 0

    def __new__(cls: Type[G], get: Callable[[bytes], Any], scan: Callable[[], Iterable[Key]], *,
                put: Optional[Callable[[bytes, bytes], Any]] = None,
                delete: Optional[Callable[[bytes], bool]] = None,
                count: Optional[Callable[[], int]] = None,
                read_mark: Optional[Callable[[], Optional[bytes]]] = None,
                write_mark: Optional[Callable[[bytes], Any]] = None,
                items: int = 0, rate: float = 0.0, path: Optional[Path] = None,
                counting: bool = False, advisory: bool = False, manual: bool = False,
                stale_share: float = 0.0, rate_factor: float = 0.0, kind: Optional[str] = None,
                hash: Optional[str] = None, seed: Optional[int] = None,
                max_bytes: Optional[int] = None) -> G:
        if (read_mark is None) != (write_mark is None):
            raise ValueError("read_mark and write_mark go together")
        flags = COUNTING * counting | ADVISORY * advisory | MANUAL * manual
        g = cls._open((get, put, delete, scan, count, read_mark, write_mark), items, rate,
                      stale_share, rate_factor, flags, path,
                      given(kind=kind, hash=hash, seed=seed, max_bytes=max_bytes))
        g._pid = os.getpid()
        _open.add(g)
        return g

    def maybe(self, key: Key) -> bool:
        """False: there is no such row. True: ask the data set. The same as `key in guard`."""
        return key in self

    @property
    def stats(self) -> Dict[str, Any]:
        """Figures: lookups, reads saved, rates, rebuilds; as in the C header."""
        figures: Dict[str, Any] = json.loads(self._json())
        return figures

    def __enter__(self: G) -> G:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()
