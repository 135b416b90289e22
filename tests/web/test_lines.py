#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lines that the calculator shows (web/src/lines.mjs) are run: each must make a filter of the bits and
probes that the page names beside it. C, Shell and Redis always; Python, Java and Go where they are here.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "redis")]
from harness import BUILD, CC, SOURCE, STRICT, check, run, scratch, skip, write  # noqa: E402
from server import Server  # noqa: E402

PROGRAM = BUILD / "bloomery"
GUAVA = Path("/usr/share/java/guava.jar")
GO = Path("/usr/share/gocode/src/github.com/willf/bloom/bloom.go")
# What is given, by the names that the library has for it; and the kind.
CHOICES = [
    ({"items": 1000000, "rate": 0.01}, "blocked"),
    ({"items": 1000000, "rate": 0.01}, "classic"),
    ({"items": 54321, "rate": 1e-6}, "classic"),
    ({"items": 54321, "rate": 0.0001}, "blocked"),
    ({"items": 20000, "rate": 0.03}, "scalable"),
    ({"items": 20000, "rate": 0.001}, "counting"),
    ({"items": 20000, "rate": 0.001}, "cuckoo"),
    ({"items": 20000, "rate": 0.001}, "window"),
    ({"items": 3000, "rate": 0.004}, "static"),
    ({"items": 500000, "memory": 1048576}, "blocked"),
    ({"memory": 65536, "rate": 0.001}, "classic"),
    ({"bits": 100000, "probes": 5, "rate": 0.001}, "classic"),
    ({"items": 10000, "bits": 99968}, "classic"),
]
FLAG = {"items": "-n", "rate": "-p", "memory": "--memory", "bits": "-m", "probes": "-k"}
LINES = """
import { makeLines } from %s;
let text = '';
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map(([asked, plan, kind]) => Object.fromEntries(makeLines(asked, plan, kind)))));
"""


def plan_of(asked, kind):
    given = [w for name, v in asked.items() for w in (FLAG[name], repr(v))]
    plans = json.loads(run(PROGRAM, "calc", "--json", *given))["plans"]
    return next(p for p in plans if p["kind"] == kind)


def info(place):
    d = json.loads(run(PROGRAM, "info", "--json", place))
    return d["bits"], d["probes"]


def expect(what, line, got, want):
    check(tuple(got) == tuple(want), f"{what}: {line}\nmade {got}, the page says {want}")


# ---- what the page says of other systems: what the library makes in their schemes ----

def original(place, n, p, scheme, *more):
    f = place / "original.blm"
    run(PROGRAM, "create", f, "-n", str(n), "-p", repr(p), "--scheme", scheme, "--force", "--quiet", *more)
    return info(f)


def numbers(line):
    """n and p of a line for another system."""
    found = re.search(r"(?:Funnel\(\), |Estimates\()([\d_]+)L?, ([-\d.e]+)\)", line)
    return int(found[1].replace("_", "")), float(found[2])


# ---- the languages ----

def shell(rows, place):
    for i, (lines, plan, kind) in enumerate(rows):
        here = place / f"shell{i}"
        here.mkdir()
        write(here / "keys.txt", "".join(f"{j}\n" for j in range(plan["items"])) if kind == "static" else "")
        words = shlex.split(lines["Shell"])
        check(words[0] == "bloomery", lines["Shell"])
        run(PROGRAM, *words[1:], "--quiet", cwd=here)
        expect("Shell", lines["Shell"], info(here / "seen.blm"), (plan["bits"], plan["probes"]))


def c(rows, place):
    body = "".join(f"""
    {{
        {lines['C']}
        show(f);
        {'blm_builder_free(b);' if kind == 'static' else ''}
    }}""" for lines, plan, kind in rows)
    count = max(plan["items"] for _, plan, kind in rows if kind == "static")
    write(place / "lines.c", f"""#include <bloomery.h>
#include <bloomery/fixed.h>
#include <stdio.h>
static blm_key keys[{count}];
static char    text[{count}][16];
static void show(blm_filter *f)
{{
    blm_params p = {{ .size = sizeof p }};
    blm_get_params(f, &p);
    printf("%llu %u\\n", (unsigned long long)p.bits, (unsigned)p.probes);
    blm_free(f);
}}
int main(void)
{{
    size_t count = {count};
    for (size_t i = 0; i < count; i++) {{
        keys[i].data = text[i];
        keys[i].len  = (size_t)snprintf(text[i], sizeof text[i], "%zu", i);
    }}
{body}
    return 0;
}}
""")
    run(CC, *STRICT, f"-I{SOURCE}/include", place / "lines.c", f"-L{BUILD}", "-lbloomery", f"-Wl,-rpath,{BUILD}", "-o", place / "lines")
    said = run(place / "lines").splitlines()
    for (lines, plan, _), line in zip(rows, said, strict=True):
        expect("C", lines["C"], map(int, line.split()), (plan["bits"], plan["probes"]))


NONSCALING = ["--variant", "13"]  # NOROUND, FORCE64 and NO_SCALING


def redis(rows, place):
    with Server() as s:
        client = s.client()
        for lines, _, _ in rows:
            words = lines["Redis"].split()
            client("DEL", "seen")
            check(client(*words) in (b"OK", "OK"), lines["Redis"])
            if words[0] == "CF.RESERVE":
                continue  # the page names no bits of it
            header = client("BF.SCANDUMP", "seen", 0)[1]  # docs/formats/redisbloom.md: first layer's bits and hashes
            got = int.from_bytes(header[28:36], "little"), int.from_bytes(header[60:64], "little")
            want = original(place, int(words[3]), float(words[2]), "redisbloom", *(NONSCALING if words[-1] == "NONSCALING" else []))
            expect("Redis", lines["Redis"], got, want)
        client.close()


def python(rows, place):
    site, interpreter = BUILD / "python" / "site", "/usr/bin/python3"
    env = dict(os.environ, PYTHONPATH=str(site), PYTHONDONTWRITEBYTECODE="1")
    if subprocess.run([interpreter, "-c", "import bloomery"], env=env, cwd=place, capture_output=True, check=False).returncode:
        return "no Python package in this build"
    shutil.copy(next(place.glob(f"shell{[k for _, _, k in rows].index('static')}/seen.blm")), place / "seen.blm")
    write(place / "lines.py", "import bloomery\n" + "".join(f"{lines['Python']}\nprint(seen.params.bits, seen.params.probes)\n" for lines, _, _ in rows))
    said = run(interpreter, "lines.py", cwd=place, env=env).splitlines()
    for (lines, plan, _), line in zip(rows, said, strict=True):
        expect("Python", lines["Python"], map(int, line.split()), (plan["bits"], plan["probes"]))
    return None


JAVA = """
import com.google.common.hash.*;
import java.io.*;
public class Lines {
    static void show(BloomFilter<byte[]> seen) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        seen.writeTo(out);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(out.toByteArray()));
        in.readByte();
        int probes = in.readUnsignedByte();
        System.out.println(64L * in.readInt() + " " + probes);
    }
    public static void main(String[] args) throws IOException {
%s
    }
}
"""


def java(rows, place):
    if not shutil.which("javac") or not GUAVA.exists():
        return "no Java or no Guava"
    write(place / "Lines.java", JAVA % "\n".join(f"{{ {lines['Java (Guava)']} show(seen); }}" for lines, _, _ in rows))
    run("javac", "-cp", GUAVA, "-d", place, place / "Lines.java")
    said = run("java", "-XX:+UseSerialGC", "-cp", f"{GUAVA}:{place}", "Lines").splitlines()
    for (lines, _, _), line in zip(rows, said, strict=True):
        expect("Java", lines["Java (Guava)"], map(int, line.split()), original(place, *numbers(lines["Java (Guava)"]), "guava"))
    return None


def go(rows, place):
    if not shutil.which("go") or not GO.exists():
        return "no Go or no package bloom"
    env = dict(os.environ, GO111MODULE="off", GOPATH="/usr/share/gocode", GOFLAGS="-buildvcs=false", GOCACHE=str(place / "cache"))
    write(place / "lines.go", 'package main\nimport ("fmt"; "github.com/willf/bloom")\nfunc main() {\n' + "".join(
        f"{{\n{lines['Go']}\nfmt.Println(seen.Cap(), seen.K())\n}}\n" for lines, _, _ in rows) + "}\n")
    said = run("go", "run", place / "lines.go", env=env, cwd=place).splitlines()
    for (lines, plan, _), line in zip(rows, said, strict=True):
        plain = lines["Go"].startswith("seen := bloom.New(")
        want = (plan["bits"], plan["probes"]) if plain else original(place, *numbers(lines["Go"]), "go")
        expect("Go", lines["Go"], map(int, line.split()), want)
    return None


def main():
    if not shutil.which("node"):
        skip("no node: see tools/setup web")
    place = scratch("web-lines")
    chosen = [(asked, plan_of(asked, kind), kind) for asked, kind in CHOICES]
    script = write(place / "lines.mjs", LINES % json.dumps((SOURCE / "web/src/lines.mjs").as_uri()))
    made = json.loads(subprocess.run(["node", script], input=json.dumps(chosen), capture_output=True, text=True, check=True).stdout)
    rows = [(lines, plan, kind) for lines, (_, plan, kind) in zip(made, chosen, strict=True)]
    for language in (shell, c, redis, python, java, go):
        why = language(rows, place)
        print(f"{language.__name__}: {why or f'{len(rows)} lines'}")


main()
