# SPDX-License-Identifier: MIT
"""RedisBloom in numbers, where its code cannot be had: the sizes of its layers, how it grows, what its keys
take of Redis' memory; and a filter that answers as it does, which a test can put in a replica's place.

Written from docs/formats/redisbloom.md. test_peer.py checks it against filters that RedisBloom itself wrote."""
import math
import socket
import struct

import server

LN2_SQUARED, LN2 = 0.480453013918201, 0.693147180559945
MASK = (1 << 64) - 1
M = 0xc6a4a7935bd1e995


def murmur64a(key, seed):
    h = seed ^ len(key) * M & MASK
    whole = len(key) // 8 * 8
    for (k,) in struct.iter_unpack("<Q", key[:whole]):
        k = k * M & MASK
        h = (h ^ (k ^ k >> 47) * M & MASK) * M & MASK
    if whole < len(key):
        h = (h ^ int.from_bytes(key[whole:], "little")) * M & MASK
    h = (h ^ h >> 47) * M & MASK
    return h ^ h >> 47


class Layer:
    def __init__(self, entries, error):
        self.entries, self.error, self.items = entries, error, 0
        self.bpe = abs(math.log(error) / LN2_SQUARED)
        self.hashes = math.ceil(LN2 * self.bpe)
        self.bytes = 8 * ((max(1, int(entries * self.bpe)) + 63) // 64)
        self.array = None  # made when it is first used: sizes alone need none

    def places(self, a, b):
        return [(a + i * b & MASK) % (8 * self.bytes) for i in range(self.hashes)]

    def has(self, a, b):
        self.array = self.array or bytearray(self.bytes)
        for i in range(self.hashes):
            x = (a + i * b & MASK) % (8 * self.bytes)
            if not self.array[x >> 3] >> (x & 7) & 1:
                return False
        return True

    def add(self, a, b):
        for x in self.places(a, b):
            self.array[x >> 3] |= 1 << (x & 7)
        self.items += 1


class Chain:
    """A filter as RedisBloom keeps it."""

    def __init__(self, rate=0.01, capacity=100, expansion=2, scaling=True):
        self.expansion, self.scaling = expansion, scaling
        self.layers = [Layer(capacity, rate * 0.5 if scaling else rate)]

    @classmethod
    def of(cls, header, arrays):
        """From the chunks of a dump: the header, then the arrays, end to end."""
        chain = cls()
        _, count, options, chain.expansion = struct.unpack_from("<QIII", header)
        chain.scaling, chain.layers = not options & 8, []
        for i in range(count):
            size, _, items, error, _, _, entries, _ = struct.unpack_from("<QQQddIQB", header, 20 + 53 * i)
            layer = Layer(entries, error)
            assert layer.bytes == size, (layer.bytes, size)
            layer.items, layer.array = items, bytearray(arrays[:size])
            arrays = arrays[size:]
            chain.layers.append(layer)
        return chain

    @staticmethod
    def words(key):
        a = murmur64a(key, M)
        return a, murmur64a(key, a)

    def has(self, key):
        a, b = self.words(key)
        return any(layer.has(a, b) for layer in reversed(self.layers))

    def grow(self):
        newest = self.layers[-1]
        self.layers.append(Layer(newest.entries * self.expansion, newest.error * 0.5))

    def add(self, key):
        a, b = self.words(key)
        if any(layer.has(a, b) for layer in reversed(self.layers)):
            return 0
        if self.layers[-1].items >= self.layers[-1].entries:
            if not self.scaling:
                return None
            self.grow()
        self.layers[-1].array = self.layers[-1].array or bytearray(self.layers[-1].bytes)
        self.layers[-1].add(a, b)
        return 1

    def chunks(self):
        """As BF.SCANDUMP gives them, end to end."""
        head = struct.pack("<QIII", sum(x.items for x in self.layers), len(self.layers),
                           5 if self.scaling else 13, self.expansion)
        for x in self.layers:
            head += struct.pack("<QQQddIQB", x.bytes, 8 * x.bytes, x.items, x.error, x.bpe, x.hashes, x.entries, 0)
        return head + b"".join(bytes(x.array or bytearray(x.bytes)) for x in self.layers)


# ---- memory ----

def allocated(size):
    """What jemalloc takes for it: four sizes between two powers of two."""
    if size <= 8:
        return 8
    if size <= 128:
        return (size + 15) // 16 * 16
    step = 1 << (size - 1).bit_length() - 3
    return (size + step - 1) // step * step


def layers_for(items, rate=0.01, capacity=100):
    """The layers of a filter that nobody reserved, when it has so many items."""
    chain, room = Chain(rate, capacity), capacity
    while room < items:
        chain.grow()
        room += chain.layers[-1].entries
    return chain.layers


def value_bytes(layers):
    """What RedisBloom's value takes: 32 bytes, 64 for each layer, and the arrays."""
    return allocated(32) + allocated(64 * len(layers)) + sum(allocated(x.bytes) for x in layers)


# ---- a replica ----

class Replica:
    """Follows a real server by Redis' replication protocol, and applies what comes to filters of its own as
    RedisBloom does: by its own defaults and its own growth. The master's data set must be empty when it begins, and
    it must save to disk (repl-diskless-sync no): otherwise it waits for more of the protocol."""

    def __init__(self, port):
        self.filters, self.seen = {}, []
        self.client = server.Client(port)
        self.client("REPLCONF", "listening-port", 1)
        self.client.sock.sendall(server.Client.pack("PSYNC", "?", -1))
        line = self.client.file.readline()
        assert line.startswith(b"+FULLRESYNC"), line
        line = b"\n"
        while line == b"\n":  # it is alive, and saves
            line = self.client.file.readline()
        self.client.file.read(int(line[1:]))

    def follow(self, until):
        """Applies commands up to this one, included: a SET that the test sends as the last."""
        while True:
            words = self.client.read()
            self.seen.append(words)
            if [w.upper() if i == 0 else w for i, w in enumerate(words)] == [b"SET", until, b"1"]:
                return
            self.apply([words[0].upper().decode(), *words[1:]])

    def apply(self, words):
        command, key = words[0], words[1] if len(words) > 1 else None
        if command == "BF.RESERVE":
            assert key not in self.filters, key
            options = [w.upper() for w in words[4:]]
            expansion = int(options[options.index(b"EXPANSION") + 1]) if b"EXPANSION" in options else 2
            self.filters[key] = Chain(float(words[2]), int(words[3]), expansion, b"NONSCALING" not in options)
        elif command in ("BF.ADD", "BF.MADD"):
            chain = self.filters.setdefault(key, None) or Chain()
            self.filters[key] = chain
            for item in words[2:]:
                assert chain.add(item) is not None, "a master never sends what has no room"
        else:
            assert command in ("SELECT", "PING", "MULTI", "EXEC", "REPLCONF", "SET", "DEL"), words

    def close(self):
        self.client.close()
