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
import os
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple
from urllib.parse import urlsplit, urlunsplit

from . import errors
from .cluster import PREFIX, ClusterFilter
from .filter import Filter, _bar

log = logging.getLogger(__name__)

RATE = 1e-6                             # a page that is skipped wrongly is never fetched
REDIS_CAPACITY = 1_000_000              # of the first layer; the server adds more
KEY = "%(spider)s:seen"


class _Local:
    """A filter in memory, or in a file that survives the process."""

    def __init__(self, path: Optional[str], capacity: Optional[int], rate: float):
        kind = None if capacity else "scalable"
        if path is None:
            self.filter = Filter(capacity, rate, kind=kind)
        elif os.path.exists(path):
            self.filter = Filter.open(path, "r+")
        else:
            self.filter = Filter(capacity, rate, kind=kind, path=path)

    def add(self, fingerprint: bytes) -> bool:
        return self.filter.add(fingerprint)

    def clear(self) -> None:
        self.filter.clear()

    def figures(self) -> Tuple[int, int, float]:
        p = self.filter.params
        return p.items, p.bytes, p.rate

    def close(self) -> None:
        self.filter.close()


class _Remote:
    """A filter on Redis that any number of spiders share: BF.ADD tells exactly one of them "new".

    If the connection breaks before the answer is read, nobody knows whether the add happened. The
    request then counts as new: fetching a page twice is better than never."""

    def __init__(self, server: Any, key: str, capacity: Optional[int], rate: float):
        import redis
        self.server, self.key, self.rate, self.lost = server, key, rate, 0
        self.broken = (redis.ConnectionError, redis.TimeoutError)
        try:
            server.execute_command("BF.RESERVE", key, rate, capacity or REDIS_CAPACITY)
        except redis.ResponseError as e:
            if "unknown command" in str(e).lower():
                raise errors.UnsupportedError(
                    "the server has no BF.* commands; load bloomery's module or RedisBloom into it") from None
            if "exists" not in str(e).lower():
                raise

    @classmethod
    def at(cls, url: str, key: str, capacity: Optional[int], rate: float) -> "_Remote":
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
        # Without retries of its own: a retried BF.ADD would find its own first try and say "seen".
        return cls(redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0)), key, capacity, rate)

    def add(self, fingerprint: bytes) -> bool:
        try:
            return bool(self.server.execute_command("BF.ADD", self.key, fingerprint))
        except self.broken as e:
            self.lost += 1
            log.warning("%s: no answer from Redis (%s); the request counts as new", self.key, e)
            return True

    def add_many(self, fingerprints: List[bytes]) -> None:
        if fingerprints:
            self.server.execute_command("BF.MADD", self.key, *fingerprints)

    def clear(self) -> None:
        self.server.delete(self.key)
        self.__init__(self.server, self.key, None, self.rate)  # type: ignore[misc]

    def figures(self) -> Tuple[int, int, float]:
        reply = self.server.execute_command("BF.INFO", self.key)
        if not isinstance(reply, dict):
            reply = dict(zip(reply[::2], reply[1::2]))
        named = {(k.decode() if isinstance(k, bytes) else k): v for k, v in reply.items()}
        return int(named["Number of items inserted"]), int(named["Size"]), self.rate

    def close(self) -> None:
        self.server.close()


class _Spread:
    """A filter in shards over a Redis Cluster, with the promise of _Remote. An add whose answer was lost
    is sent again, so that the others know of it, and counts as new here."""

    def __init__(self, url: str, key: Optional[str], capacity: Optional[int], rate: float):
        import redis
        self.filter = ClusterFilter(url, capacity or REDIS_CAPACITY, rate, key.encode() if key else None)
        self.lost = 0
        self.broken = (redis.ConnectionError, redis.TimeoutError)

    def add(self, fingerprint: bytes) -> bool:
        before = self.filter.repeated
        try:
            fresh = self.filter.add(fingerprint)
        except self.broken as e:
            self.lost += 1
            log.warning("%s: no answer from the cluster (%s); the request counts as new", self.filter.key.decode(errors="replace"), e)
            return True
        self.lost += self.filter.repeated - before
        return fresh

    def add_many(self, fingerprints: List[bytes]) -> None:
        self.filter.add_many(fingerprints)

    def clear(self) -> None:
        self.filter.clear()

    def figures(self) -> Tuple[int, int, float]:
        return self.filter.figures()

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
        self._figures: Optional[Tuple[int, int, float]] = None

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
        keys, size, rate = self.store.figures()
        # Of N pages nobody had seen, N·p were answered "seen" and N·(1−p) "new".
        skipped = self.fresh * rate / (1 - rate)
        log.info("%d requests remembered in %d bytes; of the %d new ones now, at most %.2g pages are expected to have"
                 " been skipped wrongly (rate %g)", keys, size, self.fresh, skipped, rate)
        if self.stats is not None:
            for name, value in (("keys", keys), ("bytes", size), ("rate", rate), ("new", self.fresh),
                                ("skipped_wrongly_expected", skipped)):
                self.stats.set_value(f"bloomery/{name}", value)
            if getattr(self.store, "lost", 0):
                self.stats.set_value("bloomery/answers_lost", self.store.lost)
        self.store.close()


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


def import_set(server: Any, key: str, add: Callable[[List[bytes]], Any], *, cursor: int = 0, batch: int = 10_000,
               progress: Optional[Callable[[int, Optional[int]], Any]] = None,
               note: Optional[Callable[[int], Any]] = None) -> Tuple[int, int]:
    """Gives every 40-hex fingerprint of a set to `add`, in batches of 20-byte keys. `note` is told the
    cursor after each batch; given back as `cursor`, it goes on from there. Returns how many were
    taken, and how many members were no fingerprints."""
    total = server.scard(key)
    taken = 0
    bad: List[bytes] = []
    while True:
        cursor, members = server.sscan(key, cursor, count=batch)
        wrong: List[bytes] = []
        good = list(_fingerprints(members, wrong))
        add(good)
        taken += len(good)
        bad += wrong
        if note:
            note(cursor)
        if progress:
            progress(taken, total)
        if cursor == 0:
            return taken, len(bad)


def _shown(url: str) -> str:
    """The URL without user and password: what may stand in a message and in a file's name."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _state_of(args: argparse.Namespace) -> Path:
    """Where an import notes how far it is."""
    if args.state:
        return Path(args.state)
    to = _shown(args.to).replace("/", "_") if args.to.startswith("redis") else args.to
    return Path(f"{to}.import")


def _import(args: argparse.Namespace) -> int:
    import redis
    source = redis.Redis.from_url(args.url)
    kind = source.type(args.set)
    if kind != b"set":
        print(f"bloomery: {args.set}: {'no such key' if kind == b'none' else 'not a set'} on {_shown(args.url)}", file=sys.stderr)
        return 1
    total = source.scard(args.set)
    before = source.memory_usage(args.set, samples=1000) or 0
    state = _state_of(args)
    start: Dict[str, Any] = {}
    if state.exists():
        start = json.loads(state.read_text())
        if start.get("set") != args.set:
            print(f"bloomery: {state} is of another import ({start.get('set')}); delete it to start anew", file=sys.stderr)
            return 1
        print(f"going on after {start['taken']:,} of {total:,}", file=sys.stderr)
    capacity = max(int(args.capacity), total, 1)
    if args.to.startswith("redis"):
        where, _, key = (args.to, "", "") if args.to.startswith(PREFIX) else args.to.partition("#")
        target: Any = _on_redis(where, key or f"{args.set}:bloom", capacity, args.rate)
        add = target.add_many
    else:
        target = _Local(args.to, capacity, args.rate)

        def add(keys: List[bytes]) -> None:
            target.filter.update(keys)
            target.filter.sync()
    done = start.get("taken", 0)

    def note(cursor: int) -> None:
        temporary = state.with_suffix(".tmp")
        temporary.write_text(json.dumps({"set": args.set, "cursor": cursor, "taken": done}))
        temporary.replace(state)

    def counted(keys: List[bytes]) -> None:
        nonlocal done
        add(keys)
        done += len(keys)
    step, end = _bar(True if sys.stderr.isatty() else None, args.set)
    taken, bad = import_set(source, args.set, counted, cursor=start.get("cursor", 0), batch=args.batch, progress=step,
                            note=note)
    end()
    state.unlink()
    keys, size, rate = target.figures()
    print(f"{taken:,} fingerprints taken, {keys:,} in the filter, rate {rate:g}")
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
    return _import(parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
