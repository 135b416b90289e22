#!/usr/bin/env python3
"""Writes bad/: .parquet files whose footers lie, and REASONS.tsv, which says how each is refused.

    python3 make_bad.py bad

The footers are made here by hand, around one good filter at byte 4.
"""
import os
import struct
import sys

STOP, I32, I64, BINARY, LIST, STRUCT = 0, 5, 6, 8, 9, 12


def varint(n):
    out = bytearray()
    while True:
        out.append(n & 0x7F | (0x80 if n > 0x7F else 0))
        n >>= 7
        if not n:
            return bytes(out)


def zigzag(n):
    return varint(n << 1 if n >= 0 else (-n << 1) - 1)


def text(s):
    return varint(len(s)) + s


def struct_(*fields):
    """fields: (number, type, bytes), in any order."""
    out, last = b"", 0
    for number, kind, value in fields:
        delta = number - last
        out += bytes([delta << 4 | kind]) if 0 < delta < 16 else bytes([kind]) + zigzag(number)
        out += value
        last = number
    return out + b"\0"


def list_(kind, items, count=None):
    n = len(items) if count is None else count
    head = bytes([n << 4 | kind]) if n < 15 else bytes([0xF0 | kind]) + varint(n)
    return head + b"".join(items)


def leaf(name=b"word", kind=6, *more):
    return struct_((1, I32, zigzag(kind)), (4, BINARY, text(name)), *more)


def inner(name, children):
    return struct_((4, BINARY, text(name)), (5, I32, zigzag(children)))


FILTER = bytes([0x15]) + zigzag(32) + bytes.fromhex("1c1c00001c1c00001c1c000000") + bytes(range(32))
HERE = ((14, I64, zigzag(4)), (15, I32, zigzag(len(FILTER))))


def chunk(*filter_, kind=6):
    return struct_((3, STRUCT, struct_((1, I32, zigzag(kind)), *filter_)))


def group(chunks, rows=3, count=None):
    return struct_((1, LIST, list_(STRUCT, chunks, count)), (3, I64, zigzag(rows)))


SCHEMA = [inner(b"root", 1), leaf()]


def meta(schema=None, groups=None, rows=3, extra=()):
    schema = list_(STRUCT, SCHEMA) if schema is None else schema
    groups = list_(STRUCT, [group([chunk(*HERE)])]) if groups is None else groups
    return struct_((1, I32, zigzag(2)), (2, LIST, schema), (3, I64, zigzag(rows)),
                   (4, LIST, groups), *extra)


def file(footer, length=None, tail=b"PAR1", head=b"PAR1", gap=b""):
    return head + FILTER + gap + footer + struct.pack("<I", len(footer) if length is None else length) + tail


def with_chunks(*chunks, rows=3):
    return meta(groups=list_(STRUCT, [group(list(chunks), rows)]))


def nested(depth):
    return b"\x1c" * depth + b"\0" * (depth + 1)


def deep_schema(depth):
    return list_(STRUCT, [inner(b"n", 1) for _ in range(depth)] + [leaf()])


def many_paths():
    """One long name over many columns: their paths are a thousand times the footer."""
    name = b"x" * 4096
    return meta(list_(STRUCT, [inner(b"root", 1), inner(name, 1000)] + [leaf(b"") for _ in range(1000)]),
                list_(STRUCT, []), 0)


two = list_(STRUCT, [inner(b"root", 2), leaf(b"a"), leaf(b"b")])
good = meta()
FORMAT, TRUNCATED, UNSUPPORTED = "BLM_E_FORMAT", "BLM_E_TRUNCATED", "BLM_E_UNSUPPORTED"
cases = {
    "empty": (b"", TRUNCATED, "too short"),
    "magic-only": (b"PAR1PAR1", TRUNCATED, "too short"),
    "head": (file(good, head=b"PAR2"), FORMAT, "does not begin with PAR1"),
    "cut": (file(good)[:-3], FORMAT, "it was cut"),
    "encrypted": (file(good, tail=b"PARE"), UNSUPPORTED, "encrypted"),
    "length-huge": (file(good, 0xFFFFFFFF), FORMAT, "more than the file"),
    "length-over-by-one": (file(good, len(good) + len(FILTER) + 1), FORMAT, "more than the file"),
    "length-zero": (file(good, 0), TRUNCATED, "the input ends within the footer"),
    "length-short": (file(good, len(good) - 1), FORMAT, "not a Parquet footer"),
    "length-long": (file(good, len(good) + 1), FORMAT, "not a Parquet footer"),
    "bytes-after": (file(good + b"\0\0"), FORMAT, "bytes follow its end"),
    "footer-zeroes": (file(bytes(64)), FORMAT, "field 2 (schema) is missing"),
    "footer-ff": (file(b"\xff" * 64), FORMAT, "not a Parquet footer"),
    "no-schema": (file(struct_((1, I32, zigzag(2)), (3, I64, zigzag(0)))), FORMAT,
                  "field 2 (schema) is missing"),
    "no-row-groups": (file(struct_((2, LIST, list_(STRUCT, SCHEMA)), (3, I64, zigzag(0)))), FORMAT,
                      "field 4 (row groups) is missing"),
    "groups-first": (file(struct_((4, LIST, list_(STRUCT, [])), (2, LIST, list_(STRUCT, SCHEMA)))),
                     FORMAT, "the row groups come before the schema"),
    "schema-twice": (file(meta(extra=[(2, LIST, list_(STRUCT, SCHEMA))])), FORMAT, "a field twice"),
    "schema-empty": (file(meta(list_(STRUCT, []))), FORMAT, "tree is not complete"),
    "schema-huge-count": (file(meta(list_(STRUCT, SCHEMA, 1 << 60))), FORMAT, "not a list that fits"),
    "schema-of-numbers": (file(meta(list_(I32, [zigzag(1)]))), FORMAT, "not a list that fits"),
    "schema-more-children": (file(meta(list_(STRUCT, [inner(b"root", 7), leaf()]))), FORMAT,
                             "tree is not complete"),
    "schema-fewer-children": (file(meta(list_(STRUCT, [inner(b"root", 1), leaf(), leaf()]))), FORMAT,
                              "more elements of the schema"),
    "schema-children-negative": (file(meta(list_(STRUCT, [inner(b"root", -1), leaf()]))), FORMAT,
                                 "negative number of children"),
    "schema-children-2g": (file(meta(list_(STRUCT, [inner(b"root", 0x7FFFFFFF), leaf()]))), FORMAT,
                           "tree is not complete"),
    "schema-deep": (file(meta(deep_schema(65))), FORMAT, "nested more than 64 deep"),
    "schema-cycle": (file(meta(list_(STRUCT, [inner(b"root", 1), inner(b"root", 1)]))), FORMAT,
                     "tree is not complete"),
    "schema-paths": (file(many_paths()), FORMAT, "longer than the footer"),
    "leaf-no-type": (file(meta(list_(STRUCT, [inner(b"root", 1), struct_((4, BINARY, text(b"x")))]))),
                     FORMAT, "without a physical type"),
    "leaf-type-9": (file(meta(list_(STRUCT, [inner(b"root", 1), leaf(b"x", 9)]))), FORMAT,
                    "unknown physical type"),
    "name-long": (file(meta(list_(STRUCT, [inner(b"root", 1),
                                           struct_((4, BINARY, varint(1 << 40) + b"x"))]))),
                  FORMAT, "a text longer than what is left"),
    "name-zero": (file(meta(list_(STRUCT, [inner(b"root", 1), leaf(b"a\0b")]))), FORMAT,
                  "a name with a zero byte"),
    "varint-long": (file(b"\x15" + b"\x80" * 11 + b"\0"), FORMAT, "longer than 64 bits"),
    "unknown-deep": (file(meta(extra=[(20, STRUCT, nested(100)[1:])])), FORMAT, "nested too deep"),
    "unknown-type": (file(b"\x1f\0"), FORMAT, "a field of an unknown type"),
    "groups-huge-count": (file(meta(groups=list_(STRUCT, [], 1 << 50))), FORMAT, "not a list that fits"),
    "group-no-columns": (file(meta(groups=list_(STRUCT, [struct_((3, I64, zigzag(3)))]))), FORMAT,
                         "without columns"),
    "group-no-rows": (file(meta(groups=list_(STRUCT, [struct_((1, LIST, list_(STRUCT, [chunk(*HERE)])))]))),
                      FORMAT, "without its number of rows"),
    "group-rows-negative": (file(meta(groups=list_(STRUCT, [group([chunk(*HERE)], -1)]))), FORMAT,
                            "a negative number of rows"),
    "rows-lie": (file(meta(rows=4)), FORMAT, "do not have its number of rows"),
    "chunk-missing": (file(with_chunks()), FORMAT, "does not have the columns of the schema"),
    "chunk-more": (file(with_chunks(chunk(*HERE), chunk())), FORMAT,
                   "does not have the columns of the schema"),
    "chunk-huge-count": (file(meta(groups=list_(STRUCT, [group([chunk(*HERE)], count=1 << 33)]))), FORMAT,
                         "not a list that fits"),
    "chunk-no-metadata": (file(with_chunks(b"\0")), FORMAT, "a column without metadata"),
    "chunk-other-type": (file(with_chunks(chunk(*HERE, kind=2))), FORMAT,
                         "type is not the one of the schema"),
    "offset-0": (file(with_chunks(chunk((14, I64, zigzag(0))))), FORMAT, "outside of the file"),
    "offset-negative": (file(with_chunks(chunk((14, I64, zigzag(-5))))), FORMAT,
                        "bloom_filter_offset is not a number"),
    "offset-huge": (file(with_chunks(chunk((14, I64, zigzag((1 << 63) - 1))))), FORMAT,
                    "outside of the file"),
    "offset-in-footer": (file(with_chunks(chunk((14, I64, zigzag(4 + len(FILTER)))))), FORMAT,
                         "outside of the file"),
    "offset-text": (file(with_chunks(chunk((14, BINARY, text(b"4"))))), FORMAT,
                    "bloom_filter_offset is not a number"),
    "length-no-offset": (file(with_chunks(chunk((15, I32, zigzag(47))))), FORMAT,
                         "without an offset"),
    "filter-length-over": (file(with_chunks(chunk(HERE[0], (15, I32, zigzag(48))))), FORMAT,
                           "outside of the file"),
    "filter-length-negative": (file(with_chunks(chunk(HERE[0], (15, I32, zigzag(-1))))), FORMAT,
                               "bloom_filter_length is not a number"),
    "filters-overlap": (file(meta(two, list_(STRUCT, [group([chunk(*HERE), chunk(*HERE)])]))), FORMAT,
                        "two filters at one place"),
    "filters-overlap-partly": (file(meta(two, list_(STRUCT, [group([chunk(*HERE),
                                                                    chunk((14, I64, zigzag(20)))])]))),
                               FORMAT, "two filters at one place"),
    # The footer is in order, and the filter is not what it says: found when the filter is read.
    "filter-length-less": (file(with_chunks(chunk(HERE[0], (15, I32, zigzag(46))))), TRUNCATED, "ends within"),
    "filter-length-more": (file(with_chunks(chunk(HERE[0], (15, I32, zigzag(len(FILTER) + 1)))), gap=b"\0"), FORMAT,
                           "and the footer says 48"),
    "filter-not-there": (file(with_chunks(chunk((14, I64, zigzag(9))))), FORMAT,
                         "not a Parquet filter header"),
    "filter-elsewhere": (file(with_chunks(struct_((1, BINARY, text(b"other.parquet")),
                                                  (3, STRUCT, struct_((1, I32, zigzag(6)), *HERE))))),
                         UNSUPPORTED, "in another file"),
    "filter-elsewhere-and-here": (file(meta(two, list_(STRUCT, [group([
        chunk(*HERE), struct_((1, BINARY, text(b"other.parquet")),
                              (3, STRUCT, struct_((1, I32, zigzag(6)), *HERE)))])]))),
                                  UNSUPPORTED, "in another file"),
    "column-encrypted": (file(with_chunks(struct_((8, STRUCT, b"\x1c\0\0")))), UNSUPPORTED,
                         "the column is encrypted"),
}

where = sys.argv[1]
os.makedirs(where, exist_ok=True)
with open(os.path.join(where, "REASONS.tsv"), "w") as reasons:
    for name, (data, status, why) in sorted(cases.items()):
        with open(os.path.join(where, name + ".parquet"), "wb") as out:
            out.write(data)
        reasons.write(f"{name}.parquet\t{status}\t{why}\n")
with open(os.path.join(where, os.pardir, "by-hand.parquet"), "wb") as out:
    out.write(file(good))
