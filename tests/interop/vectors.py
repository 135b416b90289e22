# SPDX-License-Identifier: MIT
"""The golden vectors of other systems' filters, as scripts for tests/interop/peer.c and what it must
write: tests/amalgamation/test_cross.py runs them on other machines, where the bytes must be the same."""
import json
from pathlib import Path

from harness import SOURCE

GOLDEN = SOURCE / "tests" / "golden"
FUNNELS = {"byteArrayFunnel": "bytes", "unencodedCharsFunnel": "chars", "integerFunnel": "int",
           "longFunnel": "long", "stringFunnel(UTF_8)": "string", "putString": "string",
           "putBinary": "binary", "putLong": "long"}


def keys_of(path, how, answers):
    """The keys of members.txt or probes.tsv as bytes, and the answers."""
    lines = path.read_bytes().split(b"\n")[:-1]
    if how != "utf8":
        lines = lines[1:]
    pairs = [line.rsplit(b"\t", 1) if answers else (line, b"") for line in lines]
    width = {"int32": 4, "int64": 8}.get(how)
    keys = [bytes.fromhex(k.decode()) if how == "hex" else
            int(k).to_bytes(width, "little", signed=True) if width else k for k, _ in pairs]
    return keys, "".join(a.decode() + "\n" for _, a in pairs)


def scheme_of(vector, meta):
    if vector.parent.name == "guava":
        return "guava64" if meta["strategy_ordinal"] else "guava32"
    if vector.parent.name == "spark":
        return f"spark{meta['version']}"
    return {"go": "go", "dcso": "dcso01" if vector.name.startswith("v01") else "dcso"}[
        vector.parent.name]


def cases(place):
    """For each vector: a script for peer.c, and what it must write."""
    script, expected = [], []
    for meta_path in sorted(GOLDEN.glob("*/*/meta.json")):
        vector = meta_path.parent
        if vector.parent.name not in ("guava", "go", "spark", "dcso"):
            continue
        meta = json.loads(meta_path.read_text())
        scheme = scheme_of(vector, meta)
        fmt = scheme if scheme.startswith("dcso") else vector.parent.name
        funnel = FUNNELS.get(meta.get("funnel", meta.get("put")), "-")
        name = f"{vector.parent.name}.{vector.name}"
        members, _ = keys_of(vector / "members.txt", meta["key_encoding"], False)
        probes, answers = keys_of(vector / "probes.tsv", meta["key_encoding"], True)
        for what, keys in (("in", members), ("ask", probes)):
            (place / f"{name}.{what}").write_text("".join(k.hex() + "\n" for k in keys))
        script.append(["answer", fmt, funnel, vector / "filter.bin", place / f"{name}.ask",
                       place / f"{name}.answers"])
        expected.append((place / f"{name}.answers", answers.encode()))
        # peer.c gives no seed, and attached data and a union's count are not built from keys.
        if not meta.get("seed") and not meta.get("data_bytes") and name != "dcso.v1-union":
            script.append(["make", fmt, scheme, funnel, meta["design_n"], repr(meta["design_p"]),
                           place / f"{name}.in", place / f"{name}.made"])
            expected.append((place / f"{name}.made", (vector / "filter.bin").read_bytes()))
        if fmt == "go":
            script.append(["make", "go-gob", *script[-1][2:7], place / f"{name}.gob"])
            expected.append((place / f"{name}.gob", (vector / "filter.gob").read_bytes()))
    return script, expected


def more_cases(place):
    """The same for formats whose filters are made in other ways."""
    script, expected = [], []
    for meta_path in sorted(GOLDEN.glob("*/*/meta.json")):
        vector, meta = meta_path.parent, json.loads(meta_path.read_text())
        kind, name = vector.parent.name, f"{vector.parent.name}.{vector.name}"
        if kind not in ("parquet", "bip37", "byteslot", "redisbloom"):
            continue
        old = kind == "byteslot" and vector.name.startswith("old7")
        members, _ = keys_of(vector / "members.txt", meta["key_encoding"], False)
        probes, answers = keys_of(vector / "probes.tsv", meta["key_encoding"], True)
        for what, keys in (("in", members), ("ask", probes)):
            (place / f"{name}.{what}").write_text("".join(k.hex() + "\n" for k in keys))
        ins, ask, out = (place / f"{name}.{end}" for end in ("in", "ask", "out"))
        filter_bin, fmt = vector / "filter.bin", kind
        if kind == "redisbloom":
            filter_bin, fmt = vector / "dump.bin", "redisbloom-dump"
        if kind != "byteslot":  # peer.c also lets it be sniffed, which bare arrays are not
            script.append(["answer", fmt, "-", filter_bin, ask, f"{out}.answers"])
            expected.append((Path(f"{out}.answers"), answers.encode()))
        if kind == "redisbloom":
            # As BF.RESERVE makes them from a rate and a capacity alone.
            if meta["reserve"].replace(".", "").replace(" ", "").isdigit():
                make = ["redisbloom", "-", meta["design_n"], repr(meta["design_p"]), ins]
                script.append(["make", fmt, *make, f"{out}.dump"])
                expected.append((Path(f"{out}.dump"), filter_bin.read_bytes()))
        elif kind != "byteslot":  # united with itself it is written as it was read
            script.append(["merge", fmt, filter_bin, filter_bin, f"{out}.merged"])
            expected.append((Path(f"{out}.merged"), filter_bin.read_bytes()))
        if kind in ("parquet", "byteslot"):
            script.append(["new", "raw" if old else fmt, "polynomial" if old else kind, "-",
                           meta["m"], meta["k"], ins, f"{out}.new"])
            expected.append((Path(f"{out}.new"), filter_bin.read_bytes()))
    return script, expected


def every_case(place):
    """All of them: lines for peer.c's standard input, and (path, bytes) of what it then wrote."""
    script, expected = (one + two for one, two in zip(cases(place), more_cases(place)))
    return "".join("\t".join(str(field) for field in line) + "\n" for line in script), expected
