#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second decoder of native files, written from docs/formats/native.md and nothing else: no import
from the library, no package but Python's own.

    native_decoder.py FILE [HEXKEY…]

Prints what the file holds as JSON: parameters, layers, how many regions match their checksums, and
for each key (in hexadecimal; from standard input, a line each, when `-` is given) whether it may be
in the filter. Exit 1, with a sentence, when the file is not a valid one.
"""
import json
import struct
import sys
import time

MASK = (1 << 64) - 1
MAGIC = b"\x89bloom\r\n"
KINDS = ["classic", "blocked", "counting", "scalable", "window", "cuckoo", "static", "cascade"]


class Bad(Exception):
    pass


def rotl(v, r):
    return (v << r | v >> (64 - r)) & MASK


def word(b, at):
    return int.from_bytes(b[at:at + 8], "little")


# ---- XXH64 ---------------------------------------------------------------------------------------

P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def xxh64_round(acc, v):
    return rotl((acc + v * P2) & MASK, 31) * P1 & MASK


def xxh64_avalanche(h):
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def xxh64(data):
    n, at = len(data), 0
    if n >= 32:
        a, b, c, d = (P1 + P2) & MASK, P2, 0, -P1 & MASK
        for w, x, y, z in struct.iter_unpack("<4Q", data[:n // 32 * 32]):
            a = xxh64_round(a, w)
            b = xxh64_round(b, x)
            c = xxh64_round(c, y)
            d = xxh64_round(d, z)
        at = n // 32 * 32
        h = (rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18)) & MASK
        for v in (a, b, c, d):
            h = ((h ^ xxh64_round(0, v)) * P1 + P4) & MASK
    else:
        h = P5
    h = (h + n) & MASK
    while at + 8 <= n:
        h = (rotl(h ^ xxh64_round(0, word(data, at)), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= n:
        h = (rotl(h ^ int.from_bytes(data[at:at + 4], "little") * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for v in data[at:]:
        h = rotl(h ^ v * P5 & MASK, 11) * P1 & MASK
    return xxh64_avalanche(h)


# ---- XXH3, 64 bits, with a seed ------------------------------------------------------------------

SECRET = bytes.fromhex("""
    b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221
    b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8
    a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb
    170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e""")
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D


def fold(a, b):
    p = a * b
    return p & MASK ^ p >> 64


def xxh3_avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & MASK
    return h ^ h >> 32


def mix16(data, at, secret, seed):
    return fold(word(data, at) ^ (word(SECRET, secret) + seed & MASK),
                word(data, at + 8) ^ (word(SECRET, secret + 8) - seed & MASK))


def xxh3_word(data, flip):
    """4 to 8 bytes."""
    first, last = (int.from_bytes(p, "little") for p in (data[:4], data[-4:]))
    h = last + (first << 32) ^ flip
    h = (h ^ rotl(h, 49) ^ rotl(h, 24)) * 0x9FB21C651E98DF25 & MASK
    h = (h ^ (h >> 35) + len(data)) * 0x9FB21C651E98DF25 & MASK
    return h ^ h >> 28


def xxh3_to_16(data, seed):
    n = len(data)
    if n == 0:
        return xxh64_avalanche(seed ^ word(SECRET, 56) ^ word(SECRET, 64))
    if n <= 3:
        mixed = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        low, high = struct.unpack_from("<2I", SECRET)
        return xxh64_avalanche(mixed ^ ((low ^ high) + seed & MASK))
    if n <= 8:
        seed ^= int.from_bytes((seed & 0xffffffff).to_bytes(4, "little"), "big") << 32
        return xxh3_word(data, (word(SECRET, 8) ^ word(SECRET, 16)) - seed & MASK)
    low = word(data, 0) ^ ((word(SECRET, 24) ^ word(SECRET, 32)) + seed & MASK)
    high = word(data, n - 8) ^ ((word(SECRET, 40) ^ word(SECRET, 48)) - seed & MASK)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return xxh3_avalanche(n + swapped + high + fold(low, high) & MASK)


def xxh3_to_240(data, seed):
    n = len(data)
    acc = n * P1
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            acc += mix16(data, 16 * i, 32 * i, seed) + mix16(data, n - 16 * (i + 1), 32 * i + 16, seed)
        return xxh3_avalanche(acc & MASK)
    for i in range(8):
        acc += mix16(data, 16 * i, 16 * i, seed)
    acc = xxh3_avalanche(acc & MASK)
    for i in range(8, n // 16):
        acc += mix16(data, 16 * i, 16 * (i - 8) + 3, seed)
    return xxh3_avalanche(acc + mix16(data, n - 16, 136 - 17, seed) & MASK)


def xxh3_long(data, seed):
    n = len(data)
    secret = b"".join(((w + (seed if i % 2 == 0 else -seed)) & MASK).to_bytes(8, "little")
                      for i, (w,) in enumerate(struct.iter_unpack("<Q", SECRET)))
    acc = [P32_3, P1, P2, P3, P4, P32_2, P5, P32_1]

    def stripe(at, key):
        for i in range(8):
            v = word(data, at + 8 * i)
            k = v ^ word(secret, key + 8 * i)
            acc[i ^ 1] = acc[i ^ 1] + v & MASK
            acc[i] = acc[i] + (k & 0xffffffff) * (k >> 32) & MASK

    blocks = (n - 1) // 1024
    for b in range(blocks):
        for s in range(16):
            stripe(1024 * b + 64 * s, 8 * s)
        for i in range(8):
            acc[i] = (acc[i] ^ acc[i] >> 47 ^ word(secret, 128 + 8 * i)) * P32_1 & MASK
    for s in range((n - 1 - 1024 * blocks) // 64):
        stripe(1024 * blocks + 64 * s, 8 * s)
    stripe(n - 64, 192 - 64 - 7)
    h = n * P1
    for i in range(4):
        h += fold(acc[2 * i] ^ word(secret, 11 + 16 * i), acc[2 * i + 1] ^ word(secret, 19 + 16 * i))
    return xxh3_avalanche(h & MASK)


def xxh3(data, seed):
    long = xxh3_to_240 if len(data) <= 240 else xxh3_long
    return (xxh3_to_16 if len(data) <= 16 else long)(data, seed)


# ---- SipHash-2-4 ---------------------------------------------------------------------------------

def siphash(data, k0, k1):
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def rounds(times):
        for _ in range(times):
            v[0] = v[0] + v[1] & MASK
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = v[2] + v[3] & MASK
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & MASK
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & MASK
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    whole = len(data) // 8 * 8
    tail = data[whole:] + bytes(7 - len(data) % 8) + bytes([len(data) & 0xff])
    for (m,) in struct.iter_unpack("<Q", data[:whole] + tail):
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


# ---- the file ------------------------------------------------------------------------------------

# Version 2 of hash xxh3: docs/hash.md.

def secret_words(seed):
    return [siphash(b"bloomery" + struct.pack("<Q", i), *seed) for i in range(48)]


def sums(data, pieces, words):
    """The halves of the products of pieces, each summed mod 2^64."""
    low = high = 0
    for i, (a, b) in enumerate(pieces):
        p = (word(data, a) + words[2 * i] & MASK) * (word(data, b) + words[2 * i + 1] & MASK)
        low, high = low + p & MASK, high + (p >> 64) & MASK
    return low, high


def keyed_to_128(data, w):
    n = len(data)
    if n <= 16:
        pieces = [(0, n - 8)]
    else:
        at = [x for i in range((n + 31) // 32) for x in (16 * i, n - 16 * (i + 1))]
        pieces = [(x, x + 8) for x in at]
    low, high = sums(data, pieces, w)
    return fold(low + n * w[39] & MASK, high + w[40] & MASK)


def keyed_long(data, w):
    n, x, prime = len(data), len(data), 2 ** 127 - 1
    for at in range(0, n, 256):
        end = min(at + 256, n)
        starts = list(range(at, end, 16))
        starts[-1] = end - 16
        low, high = sums(data, [(s, s + 8) for s in starts], w)
        x = (x * w[41] + low + (high << 64)) % prime
    (c0, c1, c2) = (w[42 + 2 * i] | w[43 + 2 * i] << 64 for i in range(3))
    return xxh64_avalanche((c0 + c1 * (x & MASK) + c2 * (x >> 64)) % 2 ** 128 >> 64)


def keyed(data, w):
    n = len(data)
    if n == 0:
        return w[32]
    if n <= 3:
        v = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return xxh64_avalanche(v ^ w[33])
    if n <= 8:
        return xxh3_word(data, w[34 + n - 4])
    return (keyed_to_128 if n <= 128 else keyed_long)(data, w)


def up(v, to):
    return (v + to - 1) // to * to


def must(truth, words):
    if not truth:
        raise Bad(words)


def zeroes(data, begin, end, where):
    must(not any(data[begin:end]), f"bytes {begin} to {end - 1}, {where}, are not all 0")


def name(field):
    text = field.rstrip(b"\0")
    must(len(text) < len(field) and all(0x20 < c < 0x7f for c in text), "a name that is none")
    return text.decode()


class Layer:
    """A section, its shape checked, with the bytes of its words."""

    def __init__(self, data, at, block, closed, items, others):
        record = data[at:at + 256]
        must(len(record) == 256, "the file ends within a record")
        must(xxh64(record[:184]) == word(record, 184), f"the record at {at} is damaged")
        (self.kind, self.way, self.bits, self.lines, self.probes, self.lines_each, self.cell,
         region, self.capacity, self.rate) = struct.unpack_from("<2I2Q4IQd", record)
        (words, size, regions, sums, marks, self.end) = struct.unpack_from("<6Q", record, 80)
        self.aux = struct.unpack_from("<2Q", record, 64)
        must((self.kind < 3 and self.way < 4) or self.kind == self.way in (4, 5)
             or (self.kind in (6, 7) and self.way == 6), "no such kind of layer")
        must(1 <= self.bits <= 1 << 48 and (4 <= self.cell <= 32 if self.way == 5 else
                                            1 <= self.cell <= 32 if self.way == 6 else
                                            self.cell == (4 if self.kind == 2 else 1)), "cells")
        if self.way == 1:
            must(self.kind == 1 and self.lines * 512 == self.bits and 1 <= self.lines_each <= 3
                 and 1 <= self.probes <= 8, "lines")
        elif self.way == 3:
            must(self.kind > 0 and self.lines * 128 == self.bits and 1 <= self.lines_each <= 5
                 and 1 <= self.probes <= 8, "short lines")
        elif self.way == 4:
            self.ages, self.by_time = self.aux[1] & 255, self.aux[1] >> 8
            must(self.ages in (8, 16, 32, 64) and self.by_time < 2 and self.aux[0], "ages")
            must(self.bits == 64 * ((self.lines + 1) * self.ages + 8) and 1 <= self.lines_each <= 3
                 and 1 <= self.probes <= 8, "spans")
        elif self.way == 5:
            self.parts = self.bits // 4 // self.lines if self.lines else 0
            must(self.lines % 2 == 0 and self.parts * self.lines * 4 == self.bits
                 and self.parts & self.parts - 1 == 0 and self.parts, "buckets")
            must(self.lines_each == 0 and self.probes == 1, "a key has one cell")
        elif self.way == 6:
            segment, self.parts = self.aux[0], self.lines
            must(segment and segment & segment - 1 == 0 and segment <= 1 << 18, "segments")
            must(self.parts and self.parts == self.aux[1] and self.bits % (self.parts * segment) == 0
                 and self.bits // self.parts >= 3 * segment, "parts")
            must(self.lines_each == 0 and self.probes == 3, "a key has three cells")
        else:
            must(self.lines == self.lines_each == 0 and 1 <= self.probes <= 2048, "probes")
        used = self.bits * self.cell + (64 * self.parts if self.way == 6 else 0)
        size_here = (used + 63) // 64 * 8 + 8 * (self.way in (5, 6))
        must(size == size_here and words == up(at + 256, block)
             and sums == words + size and regions == (size - 1 >> region) + 1
             and marks == sums + 8 * regions and self.end == up(marks + regions, block), "places")
        must(region >= 16 and regions <= 65536 and (region == 16 or size - 1 >> region - 1 >= 65536),
             "regions")
        must(self.end <= len(data), f"the file ends at {len(data)}, layer {at} at {self.end}")
        if not others:
            zeroes(record, 128, 184, "in a record")
        zeroes(record, 208 if self.way == 5 else 200, 256, "in a record")
        zeroes(data, at + 256, words, "before the words")
        zeroes(data, marks + regions, self.end, "after the marks")
        self.bytes = data[words:words + size]
        self.items = items if closed or items is not None else word(record, 192)
        must(not closed or word(record, 192) == items, "two counts of items")
        must(int.from_bytes(self.bytes, "little") >> used == 0, "bits past the last")
        self.marks = list(data[marks:marks + regions])
        must(max(self.marks) <= (0 if closed else 2), "marks")
        self.good = [(xxh64(self.bytes[r << region:r + 1 << region]) + r) & MASK
                     == word(data, sums + 8 * r) for r in range(regions)]

    def cells(self, h):
        """The cells that a hash names."""
        if self.way == 0:
            for _ in range(self.probes):
                yield h * self.bits >> 64
                h = h * 0xa0761d6478bd642f & MASK
            return
        pattern = [0, 1, 3, 0xb, 0x17, 0x2f, 0x3f, 0x7f, 0xff][self.probes]
        for _ in range(self.lines_each):
            line, x = h * self.lines >> 64, h * 0xa0761d6478bd642f & MASK
            used = pattern << (x >> 61)
            used = (used | used >> 8) & 0xff
            for j in range(8):
                if not used >> j & 1:
                    continue
                if self.way == 1:
                    yield line * 512 + 64 * j + (x >> 13 + 6 * j & 63)
                else:
                    yield line * 128 + 16 * j + (x >> 29 + 4 * j & 15)
            h = x * 0xe7037ed1a0b428db & MASK
            h ^= h >> 32

    def holds(self, cell):
        if self.cell == 4:
            return self.bytes[cell // 2] >> 4 * (cell % 2) & 15 != 0
        return self.bytes[cell // 8] >> cell % 8 & 1 != 0

    def word(self, i):
        return int.from_bytes(self.bytes[8 * i:8 * i + 8], "little")

    def turn(self, now):
        length = -(-self.aux[0] // (self.ages - 1))
        state = self.lines * self.ages
        if not self.by_time:
            return self.word(state + 1) // length
        began, turn = self.word(state) >> 20, self.word(state) & (1 << 20) - 1
        return turn + min(max(now - began, 0) // length, self.ages)

    def has_age(self, h, now):
        """Is there one age at which all spans have the key?"""
        turn, left = self.turn(now) % (1 << 20), set(range(self.ages))
        pattern = [0, 1, 3, 0xb, 0x17, 0x2f, 0x3f, 0x7f, 0xff][self.probes]
        for _ in range(self.lines_each):
            span, x = h * self.lines >> 64, h * 0xa0761d6478bd642f & MASK
            used = pattern << (x >> 61)
            used = (used | used >> 8) & 0xff
            mask = sum(1 << 7 * j + ((x >> 5 + 6 * j & 16383) * 7 >> 14) for j in range(8)
                       if used >> j & 1)
            for j in list(left):
                tag = (turn - (turn - j) % self.ages) // self.ages & 255
                v = self.word(span * self.ages + j)
                if v >> 56 != tag or v & mask != mask:
                    left.remove(j)
            h = x * 0xe7037ed1a0b428db & MASK
            h ^= h >> 32
        return bool(left)

    def cell_at(self, i):
        at = i * self.cell
        return int.from_bytes(self.bytes[at // 8:at // 8 + 8], "little") >> at % 8 & (1 << self.cell) - 1

    def has_print(self, h):
        """Does one of the key's eight cells hold its fingerprint?"""
        n = self.lines
        stands = 1 + ((h * 0xa0761d6478bd642f & MASK) * ((1 << self.cell) - 1) >> 64)
        part = (h * 0xe7037ed1a0b428db & MASK) * self.parts >> 64
        first = h * n >> 64
        other = (((stands * 0xe7037ed1a0b428db & MASK) * n >> 64 | 1) - first) % n
        return any(self.cell_at(4 * (part * n + b) + i) == stands
                   for b in (first, other) for i in range(4))

    def adds_up(self, h):
        """Are the key's three cells, exclusive-ored, its fingerprint?"""
        segment, cells = self.aux[0], self.bits // self.parts
        part = h * self.parts >> 64
        factor = self.word(part)
        z = (h * self.parts & MASK) * factor & MASK
        x = z * 0xa0761d6478bd642f & MASK
        first = z * (cells - 2 * segment) >> 64
        at = (first, first + segment ^ x >> 46 & segment - 1, first + 2 * segment ^ x >> 28 & segment - 1)
        stands = ((x ^ x >> 32) * 0xe7037ed1a0b428db & MASK) >> 64 - self.cell
        for c in at:
            bit = 64 * self.parts + (part * cells + c) * self.cell
            stands ^= int.from_bytes(self.bytes[bit // 8:bit // 8 + 8], "little") >> bit % 8
        return factor != 0 and stands & (1 << self.cell) - 1 == 0

    def has(self, h):
        if self.way == 6:
            return self.adds_up(h)
        if self.way == 5:
            return self.has_print(h)
        if self.way == 4:
            return self.has_age(h, int(time.time() * 1000))
        return all(self.holds(c) for c in self.cells(h))

    def ones(self):
        if self.way == 4:
            turn = self.turn(int(time.time() * 1000)) % (1 << 20)
            tags = [(turn - (turn - j) % self.ages) // self.ages & 255 for j in range(self.ages)]
            words = (self.word(i) for i in range(self.lines * self.ages))
            return sum(bin(v & (1 << 56) - 1).count("1") for i, v in enumerate(words)
                       if v >> 56 == tags[i % self.ages])
        if self.way == 6:  # no cell says whether it is in use: each key has determined one
            return self.items
        if self.way == 5:
            return sum(self.cell_at(i) != 0 for i in range(self.bits))
        if self.cell == 1:
            return bin(int.from_bytes(self.bytes, "little")).count("1")
        return sum((b & 15 != 0) + (b >> 4 != 0) for b in self.bytes)

    def report(self):
        return {"kind": KINDS[self.kind], "bits": self.bits, "probes": self.probes,
                "lines": self.lines_each, "capacity": self.capacity, "rate": self.rate,
                "items": self.items, "ones": self.ones(), "regions": len(self.good),
                "good": sum(self.good), "marked": sum(m != 0 for m in self.marks)}


class File:
    words = None

    def __init__(self, data):
        must(data[:8] == MAGIC, "not a native file")
        must(len(data) >= 512, "the file ends within the header")
        (version, size, needs, self.others) = struct.unpack_from("<2I2Q", data, 8)
        must(version == 1, f"version {version}")
        must(xxh64(data[:504]) == word(data, 504), "the header is damaged")
        must(size == 512 and needs == 0, "features that this decoder does not have")
        (self.block, slot_bytes, room, kind) = struct.unpack_from("<4I", data, 48)
        must(self.block in (512, 4096) and kind < 8, "header")
        must(room == (256 if kind == 3 else 2 if kind == 7 else 1) or (kind == 5 and room == 256), "room")
        must(slot_bytes == up(136 + 16 * room, self.block), "slots")
        self.kind = KINDS[kind]
        self.scheme, self.hash = name(data[64:96]), name(data[104:120])
        (self.scheme_version,) = struct.unpack_from("<I", data, 96)
        self.seed = struct.unpack_from("<2Q", data, 120)
        (attached, attached_sum) = struct.unpack_from("<2Q", data, 144)
        must(attached or not attached_sum, "a checksum of nothing")
        if not self.others:
            zeroes(data, 140, 144, "in the header")
            zeroes(data, 192, 504, "in the header")
        zeroes(data, 512, self.block, "after the header")
        self.slot(data, slot_bytes)
        start = self.block + 2 * slot_bytes
        self.attached = data[start:start + attached]
        must(len(self.attached) == attached and (not attached or xxh64(self.attached) == attached_sum),
             "the attached bytes are damaged")
        at = up(start + attached, self.block)
        zeroes(data, start + attached, at, "after the attached bytes")
        self.layers = []
        for place, items in self.table:
            must(place == at, f"a layer at {place}, not {at}")
            counts_elsewhere = self.flags & 1 and not self.flags & 2
            layer = Layer(data, at, self.block, not self.flags & 1,
                          None if counts_elsewhere else items, self.others)
            must(KINDS[layer.kind] == self.kind or (kind == 3 and layer.kind < 2), "kinds differ")
            self.layers.append(layer)
            at = layer.end
        must(at == self.length, f"the length is {self.length}, not {at}")
        must(self.block == (4096 if len(self.layers[0].bytes) >= 1 << 16 else 512), "block")
        must(kind != 5 or room == (256 if self.growth else 1), "room of a cuckoo filter")
        must(kind != 7 or self.layers[-1].cell == 1, "a last level of more than one bit")

    def slot(self, data, size):
        slots = [data[self.block + i * size:self.block + (i + 1) * size] for i in range(2)]
        whole = [s for s in slots if len(s) == size and xxh64(s[:-8]) == word(s, size - 8)]
        must(whole, "both slots are damaged")
        best = max(whole, key=lambda s: word(s, 0))
        self.slots_whole = len(whole)
        (self.length, count, self.active, self.flags) = struct.unpack_from("<Q3I", best, 16)
        (self.rate, self.growth, self.tightening, self.cap) = struct.unpack_from("<4d", best, 64)
        most = 256 if self.kind in ("scalable", "cuckoo") else 2 if self.kind == "cascade" else 1
        # 4: its writer saves cells before it overwrites them. What was saved is for another boot; here
        # writers are killed, and their machine goes on.
        must(1 <= count <= most and self.flags < 16, "slot")
        if not self.flags & 1:
            must(not self.flags & ~8, "flags without a writer")
            zeroes(best, 40, 64, "of a writer that is not there")
        if not self.others:
            zeroes(best, 36, 40, "in a slot")
            zeroes(best, 96, 128, "in a slot")
            zeroes(best, 128 + 16 * count, size - 8, "in a slot")
        self.table = [struct.unpack_from("<2Q", best, 128 + 16 * i) for i in range(count)]

    def hashed(self, key):
        if self.scheme != "native" or self.scheme_version > 2:
            raise Bad(f"scheme {self.scheme} {self.scheme_version} is not this decoder's")
        if self.hash == "xxh3" and self.scheme_version == 2:
            self.words = self.words or secret_words(self.seed)
            return keyed(key, self.words)
        if self.hash == "xxh3":
            return xxh3(key, self.seed[0])
        if self.hash == "siphash":
            return siphash(key, *self.seed)
        raise Bad(f"hash {self.hash} is the caller's own")

    def has(self, key):
        h = self.hashed(key)
        if self.kind == "cascade":  # the first level lets pass, the last one decides
            return all(layer.has(h) for layer in self.layers)
        return any(layer.has(h) for layer in self.layers)

    def items(self):
        """Keys: of a cascade, those of its first level, or all of its only one but the excluded."""
        if self.kind != "cascade":
            return sum(layer.items for layer in self.layers)
        return self.layers[0].items - (self.layers[0].capacity if len(self.layers) == 1 else 0)


def main(path, keys):
    with open(path, "rb") as f:
        data = f.read()
    try:
        file = File(data)
        if keys == ["-"]:
            keys = sys.stdin.read().split("\n")[:-1]
        answers = [file.has(bytes.fromhex(k)) for k in keys]
    except Bad as why:
        sys.exit(f"{path}: {why}")
    layers = [layer.report() for layer in file.layers]
    json.dump({"kind": file.kind, "scheme": file.scheme, "hash": file.hash, "seed": file.seed,
               "rate": file.rate, "growth": file.growth, "tightening": file.tightening,
               "rate_cap": file.cap, "active": file.active, "closed": not file.flags & 1,
               "slots_whole": file.slots_whole, "attached": file.attached.hex(),
               "items": file.items(), "layers": layers,
               "answers": answers}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    main(sys.argv[1], sys.argv[2:])
