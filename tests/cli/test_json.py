# SPDX-License-Identifier: MIT
"""docs/json.md names every key that --json prints, and no other. bench takes a while: only with
BLM_SLOW=1, and then its figures must make sense."""
import json
import os
import re

from tool import SLOW, SOURCE, check, scratch, tool

work = scratch("cli.json")
os.chdir(work)

documented = {}
for section in (SOURCE / "docs/json.md").read_text().split("\n## ")[1:]:
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    documented[section.split("\n")[0]] = {k for row in rows for k in re.findall(r"`([^`]+)`", row)}


def keys_of(value, path=""):
    """Paths of all keys, `a.b` and `a[].b`."""
    found = set()
    if isinstance(value, dict):
        for key, inner in value.items():
            name = f"{path}.{key}" if path else key
            found |= {name} | keys_of(inner, name)
    elif isinstance(value, list):
        for inner in value:
            found |= keys_of(inner, path + "[]")
    return found


def compare(command, text, optional=()):
    value = json.loads(text)
    found, said = keys_of(value), documented[command]
    check(found <= said,
          f"{command} prints {sorted(found - said)}, which docs/json.md does not say")
    check(said - found <= set(optional), f"{command} does not print {sorted(said - found)}")
    return value


(work / "keys").write_bytes(b"".join(b"%d\n" % i for i in range(3000)))
of_windows = {k for k in documented["info"] if k.startswith("window.")}
of_fixed = {k for k in documented["info"] if k.startswith("fixed.")}
for kind in ("classic", "blocked", "counting", "scalable"):
    tool("create", f"{kind}.blm", "-n", "1000", "--kind", kind, "--seed", "1", "--from", "keys",
         "--quiet")
    value = compare("info", tool("info", "--json", "--plot", f"{kind}.blm")[0], of_windows | of_fixed)
    check(value["kind"] == kind and len(value["regions"]) == 65, value)
    check("regions" not in json.loads(tool("info", "--json", f"{kind}.blm")[0]), "no plot, regions")
tool("create", "window.blm", "--last", "1000", "--seed", "1", "--from", "keys", "--quiet")
value = compare("info", tool("info", "--json", "--plot", "window.blm")[0], of_fixed | {"regions"})
check([a["adds"] for a in value["window"]["ages"]] == [140] + [143] * 6 + [143], value["window"])
(work / "others").write_bytes(b"".join(b"%d\n" % i for i in range(3000, 9000)))
tool("build", "cascade.blm", "--include", "keys", "--exclude", "others", "--seed", "1", "--quiet")
value = compare("info", tool("info", "--json", "--plot", "cascade.blm")[0], of_windows | {"regions"})
check(value["fixed"]["included"] == 3000 and value["fixed"]["excluded"] == 6000, value)
for words in (["-n", "1e6", "-p", "0.01"], ["-n", "1e6", "--memory", "1M"],
              ["-m", "1e6", "-k", "3"]):
    compare("calc", tool("calc", "--json", *words)[0])
compare("compare", tool("compare", "--json", "classic.blm", "classic.blm")[0])
compare("schemes", tool("schemes", "--json")[0])
value = compare("check", tool("check", "--json", "classic.blm", "keys")[0])
check(value == {"filter": "classic.blm", "lines": 3000, "maybe": 3000, "no": 0}, value)
(work / "absent").write_bytes(b"x\ny\n")
value = compare("check", tool("check", "-v", "--json", "classic.blm", "absent", "keys")[0])
check(value["lines"] == 3002 and value["maybe"] + value["no"] == 3002 and value["no"] <= 2, value)

# ---- verify: what it says in words
value = compare("verify", tool("verify", "--json", "classic.blm", "--members", "keys", "--trials", 10000,
                               code=1)[0])
check(not value["good"] and value["fill"]["verdict"] == "over-filled" and
      not value["promise"]["holds"] and value["members"]["found"] == 3000, value)
tool("create", "good.blm", "-n", "3000", "--seed", "1", "--from", "keys", "--quiet")
value = compare("verify", tool("verify", "--json", "good.blm", "--members", "absent", "--absent",
                               "absent", code=1)[0])
check(not value["good"] and value["members"]["first_missing_line"] == 1 and
      value["rate"]["keys"] == "absent" and value["rate"]["trials"] == 2, value)
value = json.loads(tool("verify", "--json", "good.blm", "--trials", 100000)[0])
check(value["good"] and value["members"] is None and value["checksums"]["verdict"] == "good" and
      value["promise"] == {"rate": 0.01, "asked": False, "holds": True}, value)
tool("create", "f.guava", "-n", "3000", "--scheme", "guava", "--from", "keys", "--quiet")
value = json.loads(tool("verify", "--json", "f.guava", "--trials", 1000)[0])
check(value["checksums"]["verdict"] == "none" and value["promise"]["rate"] is None, value)
with open("good.blm", "r+b") as f:
    f.seek(os.path.getsize("good.blm") // 2)
    f.write(b"damage")
value = json.loads(tool("verify", "--json", "good.blm", "--trials", 1000, code=1)[0])
check(value["checksums"]["verdict"] == "damaged" and value["checksums"]["damaged_offset"] > 0, value)

# ---- a column of a .parquet file
file = SOURCE / "tests/golden/parquet-file/duckdb-types.parquet"
(work / "names").write_bytes(b"name-0\nname-35\nnobody\n")
value = compare("info of a .parquet file", tool("info", "--json", file)[0])
check([len(c["filters"]) for c in value["columns"]] == [3, 3, 3, 3, 3, 0, 3], value)
value = compare("check of a column",
                tool("check", "--json", file, "names", "--column", "name")[0])
check([g["maybe"] for g in value["row_groups"]] == [2, 1, 0] and value["no"] == 1, value)
value = compare("verify of a column",
                tool("verify", "--json", file, "--column", "name", "--members", "names", "--trials",
                     1000, code=1)[0])
check(value["members"]["first_missing_line"] == 3 and len(value["row_groups"]) == 3, value)

# ---- several filters: an object for each
decoder, text, several = json.JSONDecoder(), tool("info", "--json", "classic.blm", "f.guava",
                                                  "counting.blm")[0].decode(), []
while text.strip():
    value, end = decoder.raw_decode(text)
    several.append(value["filter"])
    text = text[end:].lstrip()
check(several == ["classic.blm", "f.guava", "counting.blm"], several)

compare("dedup", tool("dedup", "keys", "--stats", "--json")[1])

# ---- the page's transcript
answer = json.loads(tool("calc", "-n", "1e6", "-p", "0.01", "--json")[0])
blocked = [p["bytes"] for p in answer["plans"] if p["kind"] == "blocked"]
check(f"\n{blocked[0]}\n" in (SOURCE / "docs/json.md").read_text(),
      f"the page's example: {blocked}")

if SLOW:
    value = compare("bench", tool("bench", "--quick", "--json")[0])
    ours = [r for r in value["results"] if r["kind"] in ("blocked", "classic")]
    check([(r["kind"], r["items"]) for r in ours] ==
          [(k, n) for n in (100000, 10000000) for k in ("blocked", "classic")], value)
    kinds = [r["kind"] for r in value["results"]]
    check(kinds.count("split") == kinds.count("split_in") == kinds.count("local") and
          kinds.count("inlined") == 2, kinds)
    for n in (100000, 10000000):  # who beats us stands above us
        rows = [r for r in value["results"] if r["items"] == n]
        us = next(i for i, r in enumerate(rows) if r["kind"] == "blocked")
        for i, r in enumerate(rows):
            if r["kind"] in ("split", "local", "libbloom"):
                faster = any(r[c] and r[c] < rows[us][c] for c in r
                             if c.startswith(("add", "check", "absent")))
                check(faster == (i < us), rows)
    for r in ours:
        figures = [v for k, v in r.items() if k not in ("kind", "items", "bytes")]
        check(all(0.1 < v < 100000 for v in figures), r)
