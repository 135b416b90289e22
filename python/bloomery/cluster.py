# SPDX-License-Identifier: MIT
"""One filter in many keys of a Redis Cluster, for Python programs that add one key at a time.

The rules are those of docs/scale.md, so a filter that the command line made is found here, and the other
way round. redis-py talks to each node. Its own cluster client does not do: it sends a command again
when an answer is lost, without saying so, and the second answer to an add is then "it is there" of a
key that nobody has been told is new.
"""
import math
import os
import secrets
import time
from typing import Any, Callable, Dict, List, Optional, Set, Tuple
from urllib.parse import unquote, unquote_to_bytes

from . import errors
from .filter import Filter

PREFIX = "redis+cluster://"
SLOTS = 16384
MAGIC = b"bloomery-shards "
LEAST, EACH_MASTER = 16, 4              # shards, if the URL does not say how many
OVERFLOW = 1e-9                         # the chance that some shard gets more keys than planned
ANSWER = 15.0                           # seconds until an answer counts as lost
PAUSE = 0.05                            # seconds until a cluster that is not ready is asked again

Node = Tuple[str, int]


def _fail(status: str, text: str) -> errors.Error:
    return errors.make(status, text, None, 0)


def _bad(what: str) -> errors.Error:
    return _fail("BLM_E_ARGUMENT", f"{what}: write {PREFIX}[user:password@]host[:port],host[:port]/KEY[?shards=N]")


class Url:
    """redis+cluster://[user:password@]host[:port],host[:port]…/KEY[?shards=N&timeout=SECONDS]"""

    def __init__(self, text: str):
        if not text.startswith(PREFIX):
            raise _bad("this is not a reference to a cluster")
        hosts, _, rest = text[len(PREFIX):].partition("/")
        secret, at, hosts = hosts.rpartition("@")
        self.user: Optional[str] = None
        self.password: Optional[str] = os.environ.get("REDISCLI_AUTH") or None
        if at:
            user, colon, password = secret.partition(":")
            self.user = unquote(user) or None if colon else None
            self.password = unquote(password if colon else user)
        self.nodes = [self._node(h) for h in hosts.split(",")]
        key, _, query = rest.partition("?")
        self.key = unquote_to_bytes(key)
        self.shards: Optional[int] = None
        self.timeout = 30.0
        for word in filter(None, query.split("&")):
            name, _, value = word.partition("=")
            if name == "shards" and value.isdecimal() and 1 <= int(value) <= SLOTS:
                self.shards = int(value)
            elif name == "timeout":
                try:
                    self.timeout = float(value)
                except ValueError:
                    self.timeout = 0
                if not 0 < self.timeout <= 86400:
                    raise _bad("timeout is not a number of seconds")
            else:
                raise _bad("shards is not a number from 1 to 16384" if name == "shards" else
                           "after the ? only shards and timeout are known (a ? in a key is %3F)")

    @staticmethod
    def _node(text: str) -> Node:
        host, colon, port = text.rpartition(":")
        if not colon or text.endswith("]"):
            host, port = text, "6379"
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise _bad("the port is not a number from 1 to 65535")
        return unquote(host.strip("[]")) or "127.0.0.1", int(port)


# ---- which shard

def crc16(data: bytes) -> int:
    crc = 0
    for b in data:
        crc ^= b << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def slot_of(key: bytes) -> int:
    start = key.find(b"{")
    end = key.find(b"}", start + 1)
    return crc16(key[start + 1:end] if start >= 0 and end > start + 1 else key) % SLOTS


class Shards:
    """What a filter's descriptor says: the keys of its shards, and which of them a key goes to."""

    def __init__(self, name: bytes, shards: int, seed: int, id: int, items: int, rate: float):
        self.name, self.count, self.seed, self.id, self.items, self.rate = name, shards, seed, id, items, rate
        wanted = {(2 * i + 1) * (SLOTS // 2) // shards: i for i in range(shards)}
        self.keys, tag = [b""] * shards, 0
        while wanted:
            i = wanted.pop(crc16(b"%d" % tag) % SLOTS, None)
            if i is not None:
                self.keys[i] = b"{%d}%s.%08x" % (tag, name, id)
            tag += 1
        self._hasher = Filter(bits=64, probes=1, hash="siphash", seed=seed)

    def of(self, key: Any) -> bytes:
        """The shard of a key."""
        return self.keys[self._hasher._hash(key) * self.count >> 64]

    def __bytes__(self) -> bytes:
        return (f"bloomery-shards 1 shards={self.count} route=siphash24 seed={self.seed:032x} id={self.id:08x}"
                f" items={self.items} rate={self.rate:.17g}").encode()

    @classmethod
    def read(cls, name: bytes, text: bytes) -> "Shards":
        words = text.decode("ascii", "replace").split()
        if not text.startswith(MAGIC) or len(words) < 2 or not words[1].isdecimal():
            raise _fail("BLM_E_UNSUPPORTED", "the key does not describe a filter of shards: give another key, or"
                                             " redis://host/KEY for a filter in one key")
        if words[1] != "1":
            raise _fail("BLM_E_VERSION", f"the shards follow rules of version {words[1]}")
        facts = dict(w.partition("=")[::2] for w in words[2:])
        if facts.get("route") != "siphash24":
            raise _fail("BLM_E_VERSION", f"the shards are chosen by {facts.get('route')}")
        try:
            count = int(facts["shards"])
            if not 1 <= count <= SLOTS:
                raise ValueError
            return cls(name, count, int(facts["seed"], 16), int(facts["id"], 16), int(facts["items"]), float(facts["rate"]))
        except (KeyError, ValueError):
            raise _fail("BLM_E_UNSUPPORTED", "the descriptor of the shards is damaged") from None


def share_of(items: int, shards: int) -> int:
    """How many keys a shard is planned for (docs/scale.md, "How large a shard is")."""
    mean, log = items / shards, math.log(shards / OVERFLOW)
    return min(math.ceil(mean + log / 3 + math.sqrt(log * log / 9 + 2 * mean * log)), items)


# ---- the nodes

class Cluster:
    """Sends a command to the node that has its key, and goes where it is sent."""

    def __init__(self, url: Url):
        self.url = url
        self._links: Dict[Node, Any] = {}
        self._owners: List[Optional[Node]] = [None] * SLOTS
        self._known: List[Node] = list(url.nodes)
        self.masters = 0

    def _link(self, node: Node) -> Any:
        """One connection, made here: if that fails, the command was not sent."""
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
        if node not in self._links:
            wait = min(self.url.timeout, ANSWER)
            self._links[node] = redis.Redis(host=node[0], port=node[1], username=self.url.user, password=self.url.password,
                                            socket_timeout=wait, socket_connect_timeout=wait, retry=Retry(NoBackoff(), 0),
                                            single_connection_client=True)
        return self._links[node]

    def _hang_up(self, node: Optional[Node]) -> None:
        link = self._links.pop(node, None) if node else None
        if link is not None:
            link.close()

    def learn(self) -> None:
        """Asks a node where the slots are: the first that answers. Nobody: the map stays as it is."""
        import redis
        for node in list(self._known):
            try:
                rows = self._link(node).execute_command("CLUSTER", "SLOTS")
            except redis.AuthenticationError:
                raise
            except (redis.ConnectionError, redis.TimeoutError):
                self._hang_up(node)
                continue
            owners: List[Optional[Node]] = [None] * SLOTS
            masters: Set[Node] = set()
            for low, high, master, *replicas in rows:
                host = master[0].decode() if isinstance(master[0], bytes) else master[0]
                at = (host or node[0], int(master[1]))
                masters.add(at)
                owners[int(low):int(high) + 1] = [at] * (int(high) - int(low) + 1)
            self._owners, self.masters = owners, len(masters)
            self._known = [*masters, *(n for n in self._known if n not in masters)]
            return

    def call(self, key: bytes, *words: Any) -> Tuple[Any, bool]:
        """The reply, and whether the command may have been done before (its first answer was lost).
        Raises what the connection raised if nobody answered for the URL's timeout."""
        import redis
        slot, again = slot_of(key), False
        asking: Optional[Node] = None
        deadline = time.monotonic() + self.url.timeout
        trouble: Exception = redis.ConnectionError("no node of the cluster answers")
        if self._owners[slot] is None:
            self.learn()
        while True:
            node, sent = asking or self._owners[slot], False
            try:
                if node is None:
                    raise LookupError               # nobody has the slot: not now
                link, sent = self._link(node), True
                if asking:
                    pipe = link.pipeline(transaction=False)
                    pipe.execute_command("ASKING")
                    pipe.execute_command(*words)
                    return pipe.execute()[1], again
                return link.execute_command(*words), again
            except redis.AuthenticationError:
                raise
            except (redis.ConnectionError, redis.TimeoutError) as e:
                self._hang_up(node)
                again = again or sent and not _is(e, "LOADING", "BusyLoadingError")     # it may have been done
                trouble, asking = e, None
            except LookupError:
                pass
            except redis.ResponseError as e:
                moved, asks = _is(e, "MOVED ", "MovedError"), _is(e, "ASK ", "AskError")
                if not (moved or asks or _is(e, "TRYAGAIN", "TryAgainError") or _is(e, "CLUSTERDOWN", "ClusterDownError")
                        or _is(e, "MASTERDOWN", "MasterDownError") or _is(e, "READONLY", "ReadOnlyError")):
                    raise
                trouble = e
                if moved or asks:
                    there = _there(str(e), node)    # type: ignore[arg-type]
                    asking = there if asks else None
                    if moved:
                        self._owners[slot] = there
                    if time.monotonic() < deadline:
                        continue
                asking = None
            if time.monotonic() >= deadline:
                raise trouble
            time.sleep(PAUSE)
            self.learn()

    def close(self) -> None:
        for link in self._links.values():
            link.close()
        self._links.clear()


def _is(e: Exception, begins: str, name: str) -> bool:
    """redis-py has classes for some of these, in some versions."""
    return str(e).startswith(begins) or type(e).__name__ == name


def _there(text: str, here: Node) -> Node:
    """Of "MOVED 3999 10.0.0.1:6381", or without the word; an empty host is that of the node that said it."""
    host, _, port = text.split()[-1].rpartition(":")
    return host or here[0], int(port)


# ---- what a server says of a filter

def is_full(e: Exception) -> bool:
    """The server's "non scaling filter is full"."""
    return "filter is full" in str(e).lower()


def info_of(ask: Callable[[str], Any]) -> Dict[str, Any]:
    """BF.INFO by name. `ask` sends a command about one key."""
    return _named(ask("BF.INFO"))


def is_fixed(info: Dict[str, Any]) -> bool:
    """Was it made for a number of keys, after which it does not grow?"""
    kind = _text(info.get("Kind", "chain"))
    return info.get("Expansion rate", 0) is None and kind in ("chain", "blocked", "classic", "counting", "cuckoo")


def rates_of(ask: Callable[[str], Any]) -> Tuple[float, float]:
    """The rate there is now, and the one that the layers promise. One that has more keys than it was made for is asked
    for its bits: how many keys were new says too little, since the fuller it is, the fewer are. Raises what the server
    answers where these commands are forbidden."""
    right, over = 0.0, False            # the logarithm of the chance that no layer errs
    for line in ask("BF.DEBUG")[1:]:
        layer = dict(word.partition(":")[::2] for word in _text(line).split())
        right += math.log1p(-min(float(layer["ratio"]), 1 - 1e-12))
        over = over or int(layer["size"]) > int(layer["capacity"])
    promised = -math.expm1(right)
    if not over:
        return promised, promised
    return float(_named(ask("BF.ESTIMATE"))["Error rate now"]), promised


def _text(word: Any) -> str:
    return word.decode() if isinstance(word, bytes) else str(word)


def _named(reply: Any) -> Dict[str, Any]:
    """A map of RESP3, or the list that stands for one."""
    if not isinstance(reply, dict):
        reply = dict(zip(reply[::2], reply[1::2]))
    return {_text(name): value for name, value in reply.items()}


# ---- the filter

class ClusterFilter:
    """Opens the filter at a URL, or makes it: then every shard is reserved first and the descriptor
    published last, so that of many that try at once one succeeds and the others take its filter."""

    def __init__(self, url: str, capacity: int, rate: float, key: Optional[bytes] = None):
        self.url = Url(url)
        self.cluster = Cluster(self.url)
        self.key = self.url.key or key or b""
        if not self.key:
            raise _bad("the key is missing")
        self.capacity, self.rate, self.repeated = capacity, rate, 0
        found = self._find()
        self.made = found is None
        self.shards = found or self._make()

    def _find(self) -> Optional[Shards]:
        text, _ = self.cluster.call(self.key, "GET", self.key)
        if text is None:
            return None
        found = Shards.read(self.key, text)
        if self.url.shards and self.url.shards != found.count:
            raise _fail("BLM_E_MISMATCH", f"the filter has {found.count} shards, not {self.url.shards}: remove ?shards")
        return found

    def _reserve(self) -> Shards:
        self.cluster.learn()
        count = self.url.shards or max(LEAST, EACH_MASTER * self.cluster.masters)
        made = Shards(self.key, count, secrets.randbits(128), secrets.randbits(32), self.capacity, self.rate)
        for shard in made.keys:
            self._done("exists", shard, "BF.RESERVE", shard, f"{self.rate:.17g}", share_of(self.capacity, count))
        return made

    def _done(self, already: str, key: bytes, *words: Any) -> None:
        """A command that, sent twice, may find its own work."""
        import redis
        try:
            self.cluster.call(key, *words)
        except redis.ResponseError as e:
            if "unknown command" in str(e).lower():
                raise errors.UnsupportedError(
                    "the server has no BF.* commands; load bloomery's module or RedisBloom into it") from None
            if already not in str(e).lower():
                raise

    def _drop(self, old: Shards) -> None:
        for shard in old.keys:
            self.cluster.call(shard, "UNLINK", shard)

    def _make(self) -> Shards:
        made = self._reserve()
        self.cluster.call(self.key, "SET", self.key, bytes(made), "NX")
        there = self._find()                # also tells whose descriptor it is if the answer was lost
        if there is None:
            raise _fail("BLM_E_ABSENT", "the filter was deleted while it was being made")
        if there.id != made.id:
            self._drop(made)
        return there

    def _insert(self, find: Any, keys: List[Any]) -> List[Tuple[Any, bool]]:
        """Of keys of one shard: for each 1 or 0, and whether it may have been added by us before."""
        import redis
        for _ in range(3):
            shard = find(self.shards)
            try:
                reply, again = self.cluster.call(shard, "BF.INSERT", shard, "NOCREATE", "ITEMS", *keys)
            except redis.ResponseError as e:
                now = self._find() if "not found" in str(e).lower() else None
                if now is None or now.id == self.shards.id or len(keys) > 1:
                    raise
                self.shards = now           # it was replaced
                continue
            for answer in reply:
                if isinstance(answer, Exception):
                    raise answer            # the shard is full
            return [(bool(answer), again) for answer in reply]
        raise _fail("BLM_E_ABSENT", "the filter is replaced again and again")

    def add(self, key: Any) -> bool:
        """True: it is new, or its first answer was lost and nobody knows."""
        (fresh, again), = self._insert(lambda s: s.of(key), [key])
        self.repeated += again and not fresh
        return fresh or again

    def has(self, key: Any) -> bool:
        shard = self.shards.of(key)
        return bool(self.cluster.call(shard, "BF.EXISTS", shard, key)[0])

    def add_many(self, keys: List[Any]) -> None:
        parts: Dict[bytes, List[Any]] = {}
        for key in keys:
            parts.setdefault(self.shards.of(key), []).append(key)
        for shard, some in parts.items():
            for at in range(0, len(some), 1000):
                self._insert(lambda _: shard, some[at:at + 1000])

    def clear(self) -> None:
        """A new empty filter takes the place of the old one, all at once."""
        old, made = self.shards, self._reserve()
        text, again = self.cluster.call(self.key, "GETSET", self.key, bytes(made))
        self.shards = made
        # Another may have cleared it meanwhile: what it made goes, so that its adds find their way here.
        if text and not again:
            old = Shards.read(self.key, text)
        self._drop(old)

    def _asks(self) -> List[Callable[[str], Any]]:
        def of(shard: bytes) -> Callable[[str], Any]:
            return lambda command: self.cluster.call(shard, command, shard)[0]
        return [of(shard) for shard in self.shards.keys]

    def infos(self) -> List[Dict[str, Any]]:
        """What BF.INFO says of each shard."""
        return [info_of(ask) for ask in self._asks()]

    def rates(self) -> Tuple[float, float]:
        """The rate there is now, and the one that is promised. A key is asked of one shard, of any with the same chance."""
        each = [rates_of(ask) for ask in self._asks()]
        return sum(now for now, _ in each) / len(each), sum(promised for _, promised in each) / len(each)

    def close(self) -> None:
        self.cluster.close()
