# SPDX-License-Identifier: MIT
"""The filter as a set."""
import atexit
import copyreg
import os
import sys
import weakref
from copy import deepcopy
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, TypeVar, Union

from . import _core
from .errors import AbsentError, make
from .facts import Estimate, Overlap, Params, Stats, Trial, given, record

Key = Union[str, bytes, bytearray, memoryview, int]
Progress = Union[bool, Callable[[int, Optional[int]], Any]]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
F = TypeVar("F", bound="Filter")

# Files that are open for writing: closed when the interpreter ends, so that the next writer does not
# find a file whose writer died. A child process leaves them to its parent.
_writers: "weakref.WeakValueDictionary[int, Filter]" = weakref.WeakValueDictionary()


def close_each(opened: Iterable[Any]) -> None:
    """Those of this process, when the interpreter ends. One that fails does not keep the others open."""
    for one in opened:
        try:
            if one._pid == os.getpid():
                one.close()
        except BaseException:
            sys.excepthook(*sys.exc_info())


def _close_writers() -> None:
    close_each(list(_writers.values()))


atexit.register(_close_writers)


def _bar(progress: Optional[Progress], what: str) -> Tuple[Optional[Callable[[int, Optional[int]], Any]], Callable[[], None]]:
    """The callback of a batch, and what ends it. True: tqdm's bar, where tqdm is installed."""
    if progress is None or progress is False:
        return None, lambda: None
    if progress is not True:
        return progress, lambda: None
    try:
        from tqdm import tqdm
    except ImportError:
        return None, lambda: None
    bar = tqdm(desc=what, unit="key", unit_scale=True)

    def step(done: int, total: Optional[int]) -> None:
        if total is not None:
            bar.total = total
        bar.update(done - bar.n)

    return step, bar.close


def _plain(keys: Any) -> Any:
    """A column of pandas or arrow as the array that it is made of."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and not isinstance(keys, numpy.ndarray) and hasattr(keys, "__array__"):
        return numpy.asarray(keys)
    return keys


class Filter(_core.Filter):
    """A set of keys that answers `key in f` with False (never wrong) or True (maybe).

    capacity  how many keys will come (n). Not known: kind="scalable".
    rate      the share of absent keys answered True, at capacity (p). Default 0.01.
    kind      "blocked" (the default: fast), "classic", "counting" and "cuckoo" (can remove), "scalable"
              (grows), "window" (forgets); bloomery.kinds() lists them.
    window    seconds for which a key is remembered, up to capacity keys of them. kind="window" without it
              remembers the last capacity keys. slack: how much longer it may, as a share (1/7).
    scheme    "native", or another system's: "guava", "go", "spark", …; see bloomery.schemes().
    seed      an int. Default: secret, from the system. Filters to be combined need the same one:
              take like=.
    shared    threads may add and check at once.
    like      another filter, whose parameters and seed the new one takes.
    path      a new file to keep it in; without it, it is in memory. Only its owner can read it, for the
              seed is in it; public=True leaves that to the umask.
    bits, probes, memory, lines, growth, tightening, hash, variant, funnel, threads, max_bytes: as in
    the C header.
    """

    _pid = 0

    def __new__(cls: Type[F], capacity: Optional[float] = None, rate: Optional[float] = None, *,
                kind: Optional[str] = None, scheme: Optional[str] = None, seed: Optional[int] = None,
                shared: bool = False, like: "Optional[Filter]" = None, path: Optional[Path] = None,
                replace: bool = False, bits: Optional[int] = None, probes: Optional[int] = None,
                memory: Optional[int] = None, lines: Optional[int] = None,
                hash: Optional[str] = None, growth: Optional[float] = None,
                tightening: Optional[float] = None, window: Optional[float] = None,
                slack: Optional[float] = None, public: bool = False, variant: Optional[int] = None,
                funnel: Optional[str] = None, threads: Optional[int] = None,
                max_bytes: Optional[int] = None) -> F:
        if rate is None and like is None and bits is None and memory is None:
            rate = 0.01
        if window is not None:
            kind = kind or "window"
            if not window >= 0.001:
                raise ValueError("window is in seconds, at least 0.001")
        if kind != "window" and like is None:
            for name, value in ("window", window), ("slack", slack):
                if value is not None:
                    raise ValueError(f"{name} is for kind 'window', and not for {kind or 'blocked'!r}")
        options = given(capacity=capacity, rate=rate, kind=kind, scheme=scheme, seed=seed,
                        window_ms=None if window is None else round(window * 1000), slack=slack,
                        public=public, shared=shared, bits=bits, probes=probes, memory=memory, lines=lines,
                        hash=hash, growth=growth, tightening=tightening, variant=variant,
                        funnel=funnel, threads=threads, max_bytes=max_bytes, replace=replace)
        f = cls._create(path, options, like)
        if path is not None:
            f._note_writer()
        return f

    def _note_writer(self) -> None:
        self._pid = os.getpid()
        _writers[id(self)] = self

    # ---- files and bytes

    @classmethod
    def open(cls: Type[F], path: Path, mode: str = "r", *, format: Optional[str] = None,
             funnel: Optional[str] = None, shared: bool = False, verify: bool = False,
             offset: Optional[int] = None, max_bytes: Optional[int] = None,
             threads: Optional[int] = None, **raw: Any) -> F:
        """Opens a filter's file. A native one is mapped: mode "r" reads it, also while another
        process writes; "r+" makes you its one writer. Another system's file is read into memory;
        save() writes it back. `format` names the format where the bytes do not. raw: scheme, bits,
        probes, seed, variant, for format="raw"."""
        if mode not in ("r", "r+"):
            raise ValueError('mode is "r" or "r+"')
        options = given(format=format, funnel=funnel, shared=shared, verify=verify, offset=offset,
                        max_bytes=max_bytes, threads=threads, write=mode == "r+", **raw)
        f = cls._open(path, options)
        if mode == "r+":
            f._note_writer()
        return f

    @classmethod
    def load(cls: Type[F], path: Path, **options: Any) -> F:
        """Reads a file of any format into memory: changes stay in memory until save(). A damaged one raises
        ChecksumError, unless verify=False."""
        options.setdefault("verify", True)
        with cls.open(path, **options) as f:
            return f.copy()

    def save(self, path: Path, format: Optional[str] = None, *, replace: bool = True) -> None:
        """Writes the filter to a file, whole or not at all. format: default the one it came from."""
        self._save(path, format, replace)

    @classmethod
    def from_bytes(cls: Type[F], data: Any, format: Optional[str] = None, *,
                   funnel: Optional[str] = None, shared: bool = False,
                   max_bytes: Optional[int] = None, **raw: Any) -> F:
        """A filter from its bytes, in any format."""
        return cls._decode(data, given(format=format, funnel=funnel, shared=shared,
                                       max_bytes=max_bytes, **raw))

    def to_bytes(self, format: Optional[str] = None) -> bytes:
        """The filter's bytes. format: default the one it came from, else native."""
        return self._encode(format)

    def __enter__(self: F) -> F:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        p = self.params
        format = "native" if p.format == "raw" else p.format    # raw bits do not say what they are
        state = self._added()
        return (_restore, (type(self), self.to_bytes(format), format, p.funnel, p.shared, self._common),
                (None, state) if state else None)

    def _added(self) -> Dict[str, Any]:
        """What a subclass keeps in its objects, in slots too."""
        kept = {name: value for name, value in vars(self).items() if name != "_pid"}
        for name in copyreg._slotnames(type(self)):     # type: ignore[attr-defined]
            if hasattr(self, name):
                kept[name] = getattr(self, name)
        return kept

    # ---- keys

    def check(self, key: Key) -> bool:
        """The same as `key in f`."""
        return key in self

    def remove(self, key: Key) -> None:
        """discard(), and AbsentError (a KeyError) if the key was never added."""
        if not self.discard(key):
            raise make("BLM_E_ABSENT", f"the key {key!r} was never added", None, 0)

    def update(self, *many: Iterable[Key], progress: Optional[Progress] = None) -> int:
        """Adds many keys, from iterables or arrays; returns how many were new.

        An array of integers, of fixed-width bytes (dtype S or V, or uint8 in two dimensions, one row
        a key) or of str is read without making Python objects. progress: True for a bar (tqdm), or
        a function of (done, total); if it returns False, the call ends with CancelledError.
        """
        fresh = 0
        for keys in many:
            step, end = _bar(progress, "add")
            try:
                fresh += self._add_many(_plain(keys), 0, step)
            finally:
                end()
        return fresh

    def add_many(self, keys: Iterable[Key], progress: Optional[Progress] = None) -> Any:
        """Adds many keys; for each, True if it was new."""
        return self._flags(self._add_many, keys, progress, "add")

    def check_many(self, keys: Iterable[Key], progress: Optional[Progress] = None) -> Any:
        """For each key what `key in f` is: a list, or for a numpy array an array of bool."""
        return self._flags(self._check_many, keys, progress, "check")

    def count_many(self, keys: Iterable[Key], progress: Optional[Progress] = None) -> int:
        """How many of the keys are answered True."""
        step, end = _bar(progress, "check")
        try:
            return int(self._check_many(_plain(keys), 0, step))
        finally:
            end()

    def discard_many(self, keys: Iterable[Key], progress: Optional[Progress] = None) -> Any:
        """Takes back one add of each key; for each, True if it was there."""
        return self._flags(self._remove_many, keys, progress, "remove")

    def _flags(self, call: Any, keys: Any, progress: Optional[Progress], what: str) -> Any:
        step, end = _bar(progress, what)
        keys = _plain(keys)
        numpy = sys.modules.get("numpy")
        try:
            if numpy is not None and isinstance(keys, numpy.ndarray):
                return numpy.frombuffer(call(keys, 1, step), dtype=bool)
            return call(keys, 2, step)
        finally:
            end()

    # ---- two filters

    def __ior__(self: F, other: "Filter") -> F:
        if not isinstance(other, Filter):
            return NotImplemented
        self._union(other)
        return self

    def __iand__(self: F, other: "Filter") -> F:
        if not isinstance(other, Filter):
            return NotImplemented
        self._intersect(other)
        return self

    def __or__(self: F, other: "Filter") -> F:
        if not isinstance(other, Filter):
            return NotImplemented
        return self.union(other)

    def __and__(self: F, other: "Filter") -> F:
        if not isinstance(other, Filter):
            return NotImplemented
        return self.intersection(other)

    def union(self: F, *others: "Filter") -> F:
        """A new filter with the keys of all."""
        both = self.copy()
        for other in others:
            if other is not self:       # as |= has it: to count its own keys again, or to append its layers, adds nothing
                both |= other
        return both

    def intersection(self: F, *others: "Filter") -> F:
        """A new filter that has every key which all have."""
        both = self.copy()
        for other in others:
            if other is not self:
                both &= other
        return both

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Filter):
            return NotImplemented
        return self._equal(other)

    __hash__ = None  # type: ignore[assignment]

    def compare(self, other: "Filter") -> Overlap:
        """How many keys both have, either has, and their ratio: estimated from the bits."""
        return record(Overlap, self._compare(other))

    # ---- the whole

    def copy(self: F) -> F:
        """A copy in memory, also of a filter in a file."""
        return self._copy()

    def __copy__(self: F) -> F:
        f = self._copy()
        for name, value in self._added().items():
            setattr(f, name, value)
        return f

    def __deepcopy__(self: F, memo: Any) -> F:
        f = memo[id(self)] = self._copy()
        for name, value in deepcopy(self._added(), memo).items():
            setattr(f, name, value)
        return f

    def fold(self: F, factor: int) -> F:
        """A filter of 1/factor the size with the same keys and a higher rate."""
        return self._fold(factor)

    def reduce(self: F) -> F:
        """Counting: a filter without counters that gives the same answers."""
        return self._reduce()

    def __len__(self) -> int:
        """How many keys were new when added. Where nobody counted them (another system's file; the
        keys that two filters have in common), the estimate from the bits."""
        items = super().__len__()
        if items and not self._common:
            return items
        found = round(self.estimate.value)
        return min(items, found) if self._common else found

    def __bool__(self) -> bool:
        """False: certainly empty. After an intersection True is a maybe, as an answer is: two filters
        without a common key have bits in common by chance."""
        return super().__len__() > 0 and not self._common or self.stats.ones > 0

    @property
    def params(self) -> Params:
        return record(Params, self._params())

    @property
    def layers(self) -> List[Params]:
        """The parameters of each layer: one, except where a filter grows."""
        return [record(Params, self._layer(i)) for i in range(self.params.layers)]

    @property
    def stats(self) -> Stats:
        return record(Stats, self._stats())

    @property
    def estimate(self) -> Estimate:
        """How many keys are in it, from the bits alone, with a 95% interval."""
        return self.stats.estimate

    def fill_map(self, slices: int = 64) -> List[float]:
        """The fill of equal parts of the filter, for a picture."""
        return self._fill_map(slices)

    def try_rate(self, trials: int = 100_000, seed: int = 0) -> Trial:
        """Measures the rate with random keys that were never added."""
        return record(Trial, self._try_rate(trials, seed))

    def verify(self) -> None:
        """Compares a file's bytes with their checksums; ChecksumError names the first bad part."""
        self._verify()

    def set_funnel(self, name: Optional[str]) -> None:
        """How text becomes hashed bytes from now on, where the scheme has several ways."""
        self._set_funnel(name)

    def set_threads(self, threads: int) -> None:
        """How many threads a batch may use."""
        self._set_threads(threads)

    def __repr__(self) -> str:
        if self.closed:
            return "<bloomery.Filter, closed>"
        p = self.params
        what = [p.kind] if p.scheme == "native" else [p.kind, p.scheme]
        what.append(f"{p.items:,} of {p.capacity:,} keys" if p.capacity else f"{p.bits:,} bits, k={p.probes}")
        if p.rate:
            what.append(f"rate {p.rate:g}")
        what.append(_size(p.bytes))
        if p.mapped:
            what.append("in a file" if p.writable else "in a file, read-only")
        return f"<bloomery.Filter {', '.join(what)}>"


def _size(n: int) -> str:
    size = float(n)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"


def _restore(cls: Type[F], data: bytes, format: str, funnel: Optional[str], shared: bool, common: bool = False) -> F:
    f = cls.from_bytes(data, format, funnel=funnel, shared=shared)
    f._common = common
    return f


def build(include: Iterable[Any], exclude: Optional[Iterable[Any]] = None, *, rate: Optional[float] = None,
          kind: Optional[str] = None, seed: Optional[int] = None, hash: Optional[str] = None,
          threads: Optional[int] = None, max_bytes: Optional[int] = None) -> Filter:
    """A filter built at once from all its keys, to which none is added later.

    include  the keys that are in. They may come twice, and their number need not be known.
    exclude  keys that are not, and are never answered True. The filter is then a cascade.
    rate     the share of other keys answered True. Default: 0.01; with exclude, whatever makes the
             filter smallest.
    kind     "static" or "cascade", or any other. Default: a cascade with exclude, else the smallest of
             static, classic and blocked.

    A key in both lists is a ConflictError. The hashes are in memory meanwhile, 8 bytes a key; for
    more keys than that allows there is `bloomery build --memory`.
    """
    if rate is None and exclude is None and kind != "cascade":
        rate = 0.01
    if kind is None and exclude is not None:
        kind = "cascade"
    options = given(rate=rate, kind=kind, seed=seed, hash=hash, threads=threads, max_bytes=max_bytes)
    return Filter._build(options, include, exclude)
