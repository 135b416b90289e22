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
for kind in ("classic", "blocked", "counting", "scalable"):
    tool("create", f"{kind}.blm", "-n", "1000", "--kind", kind, "--seed", "1", "--from", "keys",
         "--quiet")
    value = compare("info", tool("info", "--json", "--plot", f"{kind}.blm")[0])
    check(value["kind"] == kind and len(value["regions"]) == 65, value)
    check("regions" not in json.loads(tool("info", "--json", f"{kind}.blm")[0]), "no plot, regions")
for words in (["-n", "1e6", "-p", "0.01"], ["-n", "1e6", "--memory", "1M"],
              ["-m", "1e6", "-k", "3"]):
    compare("calc", tool("calc", "--json", *words)[0])
compare("compare", tool("compare", "--json", "classic.blm", "classic.blm")[0])
compare("schemes", tool("schemes", "--json")[0])
compare("dedup", tool("dedup", "keys", "--stats", "--json")[1])

# ---- the page's transcript
answer = json.loads(tool("calc", "-n", "1e6", "-p", "0.01", "--json")[0])
blocked = [p["bytes"] for p in answer["plans"] if p["kind"] == "blocked"]
check(f"\n{blocked[0]}\n" in (SOURCE / "docs/json.md").read_text(),
      f"the page's example: {blocked}")

if SLOW:
    value = compare("bench", tool("bench", "--quick", "--json")[0])
    ours = [r for r in value["results"] if r["kind"] != "libbloom"]
    check([r["items"] for r in ours] == [100000, 10000000] * 2, value)
    for r in ours:
        figures = [v for k, v in r.items() if k not in ("kind", "items", "bytes")]
        check(all(0.1 < v < 100000 for v in figures), r)
