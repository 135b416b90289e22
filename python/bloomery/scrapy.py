# SPDX-License-Identifier: MIT
"""A duplicates filter for Scrapy that remembers a request in four bytes.

    DUPEFILTER_CLASS = "bloomery.scrapy.DupeFilter"

Its state is in JOBDIR if there is one, on Redis or a Redis Cluster if BLOOMERY_REDIS_URL says where, else in
memory.
Works under scrapy-redis's scheduler too, in place of its RFPDupeFilter. docs/python.md has the
settings, and how to take over a set of fingerprints that scrapy-redis has filled:

    python3 -m bloomery.scrapy import redis://host/0 myspider:dupefilter --to seen.blm
"""
import argparse
import json
import logging
import math
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple
from urllib.parse import urlsplit, urlunsplit

from . import errors
from .cluster import PREFIX, ClusterFilter, info_of, is_fixed, is_full, rates_of
from .filter import Filter, _bar

log = logging.getLogger(__name__)

RATE = 1e-6                             # a page that is skipped wrongly is never fetched
REDIS_CAPACITY = 1_000_000              # of the first layer; the server adds more
KEY = "%(spider)s:seen"


# Without a capacity it grows as the library chooses. With one, the first layer is for so many requests, and one more
# request begins a second layer: a filter of one size would take more and more pages for seen.
SIZED: Dict[str, Any] = {"growth": 2, "tightening": 0.5}
FIXED = ("blocked", "classic", "counting")
LOOK = 10_000                           # new requests after which a server is asked again how full its filter is


def _other_rate(name: str, rate: Optional[float], wanted: float) -> None:
    if rate is not None and rate > wanted * 1.01:
        log.warning("%s was made with another rate: %.2g of the pages that nobody has seen are taken for seen, not %.2g."
                    " It is used as it is", name, rate, wanted)


class _Store:
    """What is said of a filter that somebody else made for a number of requests, and done when it takes no more."""

    name = ""
    rate = RATE
    rest: Optional[Filter] = None       # what was refused

    def _warn_full(self, capacity: int) -> None:
        log.warning("%s is full: it was made for %d requests, and the more it gets now, the more pages are taken for"
                    " seen and never fetched. Take a new one, which grows", self.name, capacity)

    def _warn_overfilled(self, now: float, promised: float) -> None:
        log.warning("%s is overfilled: %.2g of the pages that nobody has seen are taken for seen, not %.2g", self.name,
                    now, promised)

    def _has(self, fingerprint: bytes) -> bool:
        raise NotImplementedError

    def _beyond(self, fingerprint: bytes) -> bool:
        """Of a request that was refused: is it new? To say so each time would lose no page either, but a site whose pages
        name each other would be fetched for ever."""
        if self._has(fingerprint):      # kinds that count refuse it again
            return False
        if self.rest is None:
            log.warning("%s is full and takes no more. Until this spider ends it remembers what comes now by itself, and"
                        " then it is forgotten. Take a new one, which grows", self.name)
            self.rest = Filter(None, self.rate, kind="scalable")
        return self.rest.add(fingerprint)

    def _with_rest(self, rate: float) -> float:
        return rate if self.rest is None else 1 - (1 - rate) * (1 - self.rest.stats.rate_now)


class _Local(_Store):
    """A filter in memory, or in a file that survives the process."""

    def __init__(self, path: Optional[str], capacity: Optional[int], rate: float):
        self.rate = rate
        sized = SIZED if capacity else {}
        self.name = path or "the filter"
        self.made = path is None or not os.path.exists(path)
        if path is None:
            self.filter = Filter(capacity, rate, kind="scalable", **sized)
        elif not self.made:
            self.filter = Filter.open(path, "r+")
            _other_rate(path, self.filter.params.rate, rate)
        else:
            self.filter = Filter(capacity, rate, kind="scalable", path=path, **sized)
        self.room = self._room()

    def _room(self) -> Optional[int]:
        """A file that somebody else made may be of one size. How many more it takes; None: any number, or it has too
        many already."""
        p = self.filter.params
        if p.kind not in FIXED or not p.capacity:
            return None
        if p.items > p.capacity:
            self._warn_full(p.capacity)
            return None
        return p.capacity - p.items

    def add(self, fingerprint: bytes) -> bool:
        try:
            fresh = self.filter.add(fingerprint)
        except errors.FullError:
            return self._beyond(fingerprint)
        if fresh and self.room is not None:
            if self.room == 0:
                self._warn_full(self.filter.params.capacity)
            self.room = self.room - 1 if self.room else None
        return fresh

    def _has(self, fingerprint: bytes) -> bool:
        return fingerprint in self.filter

    def clear(self) -> None:
        self.filter.clear()
        self.room, self.rest = self._room(), None

    def figures(self) -> Tuple[int, int, Optional[float]]:
        """Keys, bytes, and the rate that there is now, not the one that was promised."""
        s = self.filter.stats
        if s.overfilled:
            self._warn_overfilled(s.rate_now, s.rate)
        return s.items, s.bytes, self._with_rest(s.rate_now)

    def close(self) -> None:
        self.filter.close()


class _Served(_Store):
    """A filter on a server may be filled by others too, and so is looked at again: when this spider has added half of
    what there was room for, or LOOK requests. A subclass has _infos, what BF.INFO says of the filter or of its shards,
    and _capacity, of all of them together."""

    made = False
    left: Optional[int] = None          # new requests until the next look; None: none is needed

    def _infos(self) -> List[Dict[str, Any]]:
        raise NotImplementedError

    def _capacity(self, infos: List[Dict[str, Any]]) -> int:
        raise NotImplementedError

    def _look(self) -> None:
        import redis
        self.left = None
        try:
            infos = self._infos()
        except redis.ResponseError:     # it is gone, or this is forbidden
            return
        except redis.RedisError:
            self.left = LOOK
            return
        if not any(map(is_fixed, infos)):
            return
        capacity, items = self._capacity(infos), sum(int(i["Number of items inserted"]) for i in infos)
        if items > capacity:
            self._warn_full(capacity)
        else:
            self.left = min((capacity - items) // 2, LOOK)

    def _insert_one(self, fingerprint: bytes) -> bool:
        raise NotImplementedError

    def _insert_or_keep(self, fingerprint: bytes) -> bool:
        import redis
        try:
            return self._count(self._insert_one(fingerprint))
        except redis.ResponseError as e:
            if not is_full(e):
                raise
        return self._beyond(fingerprint)

    def _count(self, fresh: bool) -> bool:
        if fresh and self.left is not None:
            if self.left == 0:
                self._look()
            else:
                self.left -= 1
        return fresh

    def _now(self, rates: Callable[[], Tuple[float, float]], known: Optional[float]) -> Optional[float]:
        """The rate, whoever made the filter. `known`: where the server does not say."""
        import redis
        try:
            now, promised = rates()
        except redis.ResponseError:
            return known
        if now > promised * 1.1:
            self._warn_overfilled(now, promised)
        return self._with_rest(now)


class _Remote(_Served):
    """A filter on Redis that any number of spiders share: BF.INSERT tells exactly one of them "new".

    If the connection breaks before the answer is read, nobody knows whether the add happened. The
    request then counts as new: fetching a page twice is better than never."""

    def __init__(self, server: Any, key: str, capacity: Optional[int], rate: float):
        import redis
        self.server, self.key, self.capacity, self.rate, self.lost = server, key, capacity, rate, 0
        self.name = key
        self.broken = (redis.ConnectionError, redis.TimeoutError)
        self.made = self._reserve()
        if not self.made:
            _other_rate(key, self._promised(), rate)
        self._look()

    @classmethod
    def at(cls, url: str, key: str, capacity: Optional[int], rate: float) -> "_Remote":
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
        # Without retries of its own: a retried add would find its own first try and say "seen".
        return cls(redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0)), key, capacity, rate)

    def _reserve(self) -> bool:
        """False: there is one already."""
        import redis
        try:
            self.server.execute_command("BF.RESERVE", self.key, self.rate, self.capacity or REDIS_CAPACITY)
        except redis.ResponseError as e:
            if "unknown command" in str(e).lower():
                raise errors.UnsupportedError(
                    "the server has no BF.* commands; load bloomery's module or RedisBloom into it") from None
            if "exists" not in str(e).lower():
                raise
            return False
        return True

    def _insert(self, fingerprints: List[bytes]) -> List[Any]:
        """NOCREATE: a key that is gone must not come back with the server's default rate, one in a hundred."""
        import redis
        for _ in range(3):
            try:
                reply = self.server.execute_command("BF.INSERT", self.key, "NOCREATE", "ITEMS", *fingerprints)
            except redis.ResponseError as e:
                if "not found" not in str(e).lower():
                    raise
                log.warning("%s is gone from the server (deleted, or evicted); a new filter takes its place, and pages that were"
                            " seen may be fetched again", self.key)
                self.made = self._reserve()
                continue
            for answer in reply:
                if isinstance(answer, Exception):
                    raise answer            # it is full, and may not grow
            return list(reply)
        raise errors.make("BLM_E_ABSENT", f"{self.key}: the filter is deleted again and again", None, 0)

    def add(self, fingerprint: bytes) -> bool:
        try:
            return self._insert_or_keep(fingerprint)
        except self.broken as e:
            self.lost += 1
            log.warning("%s: no answer from Redis (%s); the request counts as new", self.key, e)
            return True

    def _insert_one(self, fingerprint: bytes) -> bool:
        return bool(self._insert([fingerprint])[0])

    def _has(self, fingerprint: bytes) -> bool:
        return bool(self.server.execute_command("BF.EXISTS", self.key, fingerprint))

    def add_many(self, fingerprints: List[bytes]) -> None:
        if fingerprints:
            self._insert(fingerprints)

    def clear(self) -> None:
        self.server.delete(self.key)
        self.made, self.rest = self._reserve(), None
        self._look()

    def _ask(self, command: str) -> Any:
        return self.server.execute_command(command, self.key)

    def _promised(self) -> Optional[float]:
        import redis
        try:
            return rates_of(self._ask)[1]
        except redis.ResponseError:
            return None

    def _infos(self) -> List[Dict[str, Any]]:
        return [info_of(self._ask)]

    def _capacity(self, infos: List[Dict[str, Any]]) -> int:
        return int(infos[0]["Capacity"])

    def figures(self) -> Tuple[int, int, Optional[float]]:
        info, = self._infos()
        items = int(info["Number of items inserted"])
        known = self.rate if self.made else None
        if "Error rate" in info and items <= int(info["Capacity"]):
            known = float(info["Error rate"])
        return items, int(info["Size"]), self._now(lambda: rates_of(self._ask), known)

    def close(self) -> None:
        self.server.close()


class _Spread(_Served):
    """A filter in shards over a Redis Cluster, with the promise of _Remote. An add whose answer was lost
    is sent again, so that the others know of it, and counts as new here."""

    def __init__(self, url: str, key: Optional[str], capacity: Optional[int], rate: float):
        import redis
        self.filter = ClusterFilter(url, capacity or REDIS_CAPACITY, rate, key.encode() if key else None)
        self.made, self.rate, self.name = self.filter.made, rate, self.filter.key.decode(errors="replace")
        _other_rate(self.name, self.filter.shards.rate, rate)
        self.lost = 0
        self._look()
        self.broken = (redis.ConnectionError, redis.TimeoutError)

    def add(self, fingerprint: bytes) -> bool:
        before = self.filter.repeated
        try:
            fresh = self._insert_or_keep(fingerprint)
        except self.broken as e:
            self.lost += 1
            log.warning("%s: no answer from the cluster (%s); the request counts as new", self.name, e)
            return True
        self.lost += self.filter.repeated - before
        return fresh

    def _insert_one(self, fingerprint: bytes) -> bool:
        return self.filter.add(fingerprint)

    def _has(self, fingerprint: bytes) -> bool:
        return self.filter.has(fingerprint)

    def add_many(self, fingerprints: List[bytes]) -> None:
        self.filter.add_many(fingerprints)

    def clear(self) -> None:
        self.filter.clear()
        self.rest = None
        self._look()

    def _infos(self) -> List[Dict[str, Any]]:
        return self.filter.infos()

    def _capacity(self, infos: List[Dict[str, Any]]) -> int:
        """That of the shards is larger, so that none is full when the others are not yet."""
        return self.filter.shards.items

    def figures(self) -> Tuple[int, int, Optional[float]]:
        infos = self._infos()
        return (sum(int(i["Number of items inserted"]) for i in infos), sum(int(i["Size"]) for i in infos),
                self._now(self.filter.rates, self.filter.shards.rate if self.made else None))

    def close(self) -> None:
        self.filter.close()


def _on_redis(url: str, key: Optional[str], capacity: Optional[int], rate: float) -> Any:
    if url.startswith(PREFIX):
        return _Spread(url, key, capacity, rate)
    return _Remote.at(url, key or "", capacity, rate)


class DupeFilter:
    """What Scrapy's scheduler, or scrapy-redis's, asks whether a request has been seen."""

    def __init__(self, store: Any, debug: bool = False, *, fingerprinter: Any = None, stats: Any = None):
        if fingerprinter is None:
            from scrapy.utils.request import RequestFingerprinter
            fingerprinter = RequestFingerprinter()
        self.store, self.debug, self.fingerprinter, self.stats = store, debug, fingerprinter, stats
        self.logdupes = True
        self.fresh = 0

    # ---- how schedulers make one

    @classmethod
    def from_settings(cls, settings: Any, *, fingerprinter: Any = None, stats: Any = None,
                      spider: str = "spider") -> "DupeFilter":
        rate = settings.getfloat("BLOOMERY_RATE", RATE)
        capacity = int(settings.getfloat("BLOOMERY_CAPACITY", 0)) or None
        url, path = settings.get("BLOOMERY_REDIS_URL"), settings.get("BLOOMERY_PATH")
        if url:
            key = settings.get("BLOOMERY_KEY", KEY) % {"spider": spider}
            store: Any = _on_redis(url, key, capacity, rate)
        else:
            jobdir = settings.get("JOBDIR")
            if not path and jobdir:
                Path(jobdir).mkdir(parents=True, exist_ok=True)
                path = str(Path(jobdir, "requests.seen.blm"))
            store = _Local(path, capacity, rate)
        return cls(store, settings.getbool("DUPEFILTER_DEBUG"), fingerprinter=fingerprinter, stats=stats)

    @classmethod
    def from_crawler(cls, crawler: Any) -> "DupeFilter":
        name: str = getattr(crawler.spider, "name", None) or getattr(crawler.spidercls, "name", None) or "spider"
        return cls.from_settings(crawler.settings, fingerprinter=getattr(crawler, "request_fingerprinter", None),
                                 stats=crawler.stats, spider=name)

    @classmethod
    def from_spider(cls, spider: Any) -> "DupeFilter":
        """For scrapy-redis: on the server that its settings name, beside its own key."""
        s = spider.settings
        if s.get("BLOOMERY_REDIS_URL") or s.get("BLOOMERY_PATH"):
            return cls.from_crawler(spider.crawler)
        url = s.get("REDIS_URL") or "redis://%s:%d/%d" % (
            s.get("REDIS_HOST", "localhost"), s.getint("REDIS_PORT", 6379), s.getint("REDIS_DB", 0))
        key = s.get("SCHEDULER_DUPEFILTER_KEY", "%(spider)s:dupefilter") % {"spider": spider.name} + ":bloom"
        store = _on_redis(url, key, int(s.getfloat("BLOOMERY_CAPACITY", 0)) or None, s.getfloat("BLOOMERY_RATE", RATE))
        return cls(store, s.getbool("DUPEFILTER_DEBUG"), stats=spider.crawler.stats,
                   fingerprinter=getattr(spider.crawler, "request_fingerprinter", None))

    # ---- what they call

    def open(self) -> None:
        pass

    def request_fingerprint(self, request: Any) -> str:
        """In hexadecimal, as Scrapy and scrapy-redis write it."""
        return bytes(self.fingerprinter.fingerprint(request)).hex()

    def request_seen(self, request: Any) -> bool:
        fresh = self.store.add(self.fingerprinter.fingerprint(request))
        self.fresh += fresh
        return not fresh

    def log(self, request: Any, spider: Any) -> None:
        from scrapy.utils.request import referer_str
        if self.debug:
            log.debug("Filtered duplicate request: %(request)s (referer: %(referer)s)",
                      {"request": request, "referer": referer_str(request)}, extra={"spider": spider})
        elif self.logdupes:
            log.debug("Filtered duplicate request: %(request)s - no more duplicates will be shown"
                      " (see DUPEFILTER_DEBUG to show all duplicates)", {"request": request},
                      extra={"spider": spider})
            self.logdupes = False
        spider.crawler.stats.inc_value("dupefilter/filtered", spider=spider)

    def clear(self) -> None:
        """Forgets every request."""
        self.store.clear()

    def close(self, reason: str = "") -> None:
        try:
            self._report()
        except Exception as e:              # the server may be down, or the key gone: the spider ends all the same
            log.warning("no figures of the requests remembered: %s", e)
        finally:
            self._note("new", self.fresh)
            if getattr(self.store, "lost", 0):
                self._note("answers_lost", self.store.lost)
            self.store.close()

    def _note(self, name: str, value: Any) -> None:
        if self.stats is not None:
            self.stats.set_value(f"bloomery/{name}", value)

    def _report(self) -> None:
        keys, size, rate = self.store.figures()
        self._note("keys", keys)
        self._note("bytes", size)
        if rate is None:
            log.info("%d requests remembered in %d bytes; the server does not say at which rate", keys, size)
            return
        # Of N pages nobody had seen, N·p were answered "seen" and N·(1−p) "new". The rate was never higher than now.
        skipped = self.fresh * rate / (1 - rate) if rate < 1 else math.inf
        log.info("%d requests remembered in %d bytes; of the %d new ones now, at most %.2g pages are expected to have"
                 " been skipped wrongly (rate %.2g)", keys, size, self.fresh, skipped, rate)
        self._note("rate", rate)
        self._note("skipped_wrongly_expected", skipped)


# ---- taking over a set of scrapy-redis

def _fingerprints(members: List[bytes], bad: List[bytes]) -> Iterator[bytes]:
    for member in members:
        try:
            fingerprint = bytes.fromhex(member.decode("ascii"))
        except ValueError:
            fingerprint = b""
        if len(fingerprint) == 20:
            yield fingerprint
        else:
            bad.append(member)


class Cursor(int):
    """How far an SSCAN is, and in which process of the server: to another one it means nothing."""

    run_id: Optional[str] = None

    @classmethod
    def of(cls, value: int, run_id: Optional[str]) -> "Cursor":
        cursor = cls(value)
        cursor.run_id = run_id
        return cursor


def _run_id(server: Any) -> Optional[str]:
    """A new one each time the server starts. None: it does not say."""
    import redis
    try:
        found = server.info("server").get("run_id")
    except redis.ResponseError:
        return None
    return str(found) if found else None


def _may_go_on(cursor: int, run_id: Optional[str]) -> bool:
    return run_id is not None and getattr(cursor, "run_id", None) == run_id


def import_set(server: Any, key: str, add: Callable[[List[bytes]], Any], *, cursor: int = 0, batch: int = 10_000,
               progress: Optional[Callable[[int, Optional[int]], Any]] = None,
               note: Optional[Callable[[int], Any]] = None) -> Tuple[int, int]:
    """Gives every 40-hex fingerprint of a set to `add`, in batches of 20-byte keys. `note` is told the
    cursor (a Cursor) after each batch; given back as `cursor`, it goes on from there, or from the beginning if
    the server was started again since: its tables have another order then. Returns how many were
    taken, and how many members were no fingerprints."""
    total = server.scard(key)
    run_id = _run_id(server)
    if not _may_go_on(cursor, run_id):
        cursor = 0
    taken = 0
    bad: List[bytes] = []
    while True:
        at, members = server.sscan(key, int(cursor), count=batch)
        wrong: List[bytes] = []
        good = list(_fingerprints(members, wrong))
        add(good)
        taken += len(good)
        bad += wrong
        cursor = Cursor.of(at, run_id)
        if note:
            note(cursor)
        if progress:
            progress(taken, total)
        if cursor == 0:
            now = _run_id(server)
            if now == run_id:
                return taken, len(bad)
            log.warning("%s: the server was started again meanwhile; reading the set once more", key)
            run_id, taken, bad = now, 0, []


def _shown(url: str) -> str:
    """The URL without user and password: what may stand in a message and in a file's name. Paths stay as they are."""
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.partition("://")[0] + "://…"
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


class _Trouble(Exception):
    """What ends an import, in one line."""


@contextmanager
def _about(what: str) -> Iterator[None]:
    import redis
    try:
        yield
    except (errors.Error, redis.RedisError, OSError, ValueError, OverflowError) as e:
        said = f"{e.filename}: {e.strerror}" if isinstance(e, OSError) and e.filename else str(e)
        raise _Trouble(said if said.startswith(what) else f"{what}: {said}") from None


def _state_of(args: argparse.Namespace) -> Path:
    """Where an import notes how far it is."""
    if args.state:
        return Path(args.state)
    to = _shown(args.to).replace("/", "_") if args.to.startswith("redis") else args.to
    return Path(f"{to}.import")


def _target(args: argparse.Namespace, capacity: int) -> Tuple[Any, Callable[[List[bytes]], Any]]:
    """Where the fingerprints go, and how they get there."""
    if args.to.startswith("redis"):
        where, _, key = (args.to, "", "") if args.to.startswith(PREFIX) else args.to.partition("#")
        served = _on_redis(where, key or f"{args.set}:bloom", capacity, args.rate)
        return served, served.add_many
    target = _Local(args.to, capacity, args.rate)

    def add(keys: List[bytes]) -> None:
        target.filter.update(keys)
        target.filter.sync()
    return target, add


def _import(args: argparse.Namespace) -> int:
    import redis
    with _about(_shown(args.url)):
        source = redis.Redis.from_url(args.url)
        kind = source.type(args.set)
        if kind != b"set":
            raise _Trouble(f"{args.set}: {'no such key' if kind == b'none' else 'not a set'} on {_shown(args.url)}")
        total = source.scard(args.set)
        before = source.memory_usage(args.set, samples=1000) or 0
    state = _state_of(args)
    start: Dict[str, Any] = {}
    if state.exists():
        with _about(str(state)):
            start = json.loads(state.read_text())
        if start.get("set") != args.set:
            raise _Trouble(f"{state} is of another import ({start.get('set')}); delete it to begin again")
    with _about("--capacity"):
        capacity = max(int(args.capacity), total, 1)
    to = _shown(args.to)
    with _about(to):
        target, add = _target(args, capacity)
    if start and target.made:
        print("the filter is gone, and what it had been given: reading from the beginning", file=sys.stderr)
        start = {}
    elif start and not _may_go_on(Cursor.of(start.get("cursor", 0), start.get("run_id")), _run_id(source)):
        print("the server was started again since, and its cursors are others: reading from the beginning", file=sys.stderr)
        start = {}
    elif start:
        print(f"going on after {start['taken']:,} of {total:,}", file=sys.stderr)
    done = start.get("taken", 0)

    def note(cursor: int) -> None:
        temporary = state.with_suffix(".tmp")
        with _about(str(state)):
            temporary.write_text(json.dumps({"set": args.set, "cursor": int(cursor), "run_id": getattr(cursor, "run_id", None),
                                             "taken": done}))
            temporary.replace(state)

    def counted(keys: List[bytes]) -> None:
        nonlocal done
        with _about(to):
            add(keys)
        done += len(keys)
    step, end = _bar(True if sys.stderr.isatty() else None, args.set)
    try:
        with _about(_shown(args.url)):
            taken, bad = import_set(source, args.set, counted, cursor=Cursor.of(start.get("cursor", 0), start.get("run_id")),
                                    batch=args.batch, progress=step, note=note)
    finally:
        end()
    state.unlink()
    with _about(to):
        keys, size, rate = target.figures()
    print(f"{taken:,} fingerprints taken, {keys:,} in the filter" + ("" if rate is None else f", rate {rate:.2g}"))
    if bad:
        print(f"{bad:,} members were left out: not 40 hexadecimal digits")
    print(f"memory: {before:,} bytes as a set, {size:,} as a filter ({before / max(size, 1):.0f} times less)")
    target.close()
    return 0


def main(argv: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m bloomery.scrapy", description="Scrapy's visited requests in a filter.")
    commands = parser.add_subparsers(dest="command", required=True)
    p = commands.add_parser("import", help="take over a set of fingerprints that scrapy-redis has filled",
                            description="Reads a set with SSCAN, so the server goes on working. Killed, it goes on where it was"
                                        " when called again. The set stays as it is.")
    p.add_argument("url", help="the server: redis://host:port/db")
    p.add_argument("set", help="the key of the set: myspider:dupefilter")
    p.add_argument("--to", required=True, help="a file, redis://host:port/db#KEY, or redis+cluster://host:port,host:port/KEY")
    p.add_argument("--rate", type=float, default=RATE, help="share of unseen requests taken for seen (default 1e-6)")
    p.add_argument("--capacity", type=float, default=0, help="requests expected in all (default: those in the set)")
    p.add_argument("--batch", type=int, default=10_000, help="members asked for at once (default 10000)")
    p.add_argument("--state", help="where to note how far it is (default: beside the file, or here)")
    try:
        return _import(parser.parse_args(argv))
    except _Trouble as e:
        print(f"bloomery: {e}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
