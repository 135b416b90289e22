# SPDX-License-Identifier: MIT
"""Every command that writes, once, for the tests in which something fails: what it is given, what it
makes, and what must hold of that whether it succeeds or not. Loads tests/cli/failing.c."""
import os
import subprocess
import tempfile
from pathlib import Path

from tool import BLOOMERY, check, tool
from harness import BUILD, CC, SOURCE, run

KEYS = [b"key %d\n" % i for i in range(300)]
MORE = [b"more %d\n" % i for i in range(40)]
MANY = [b"many %d\n" % i for i in range(4000)]

WALLET = ("23002200008001000001000000102000800001080005000000000000000000002002181113000000c702a7db"
          "01")
PAYMENT = ("0100000001d58cf16a6c27098d414ac52e97366ea08fbbc5e0045a5dcc204476368d092e9f000000006a4730"
           "079a55674c50c5996635b1307a569e86ce0bcee8ad5388b501c9c6427e7de6d5a37872c5e18b1482955e61c5"
           "eb37e006fcc26ccaf71439edce53034595ef4f28089a032dccf92102183fe7f3010dbe677c0a88b6ab5f5e88"
           "c7a2b21c40dc34408b39b4c2cd9119ccffffffff0288130000000000001976a914be166be34745723bcfb193"
           "3ffdb7337f9ebeda9388ac7017000000000000232102183fe7f3010dbe677c0a88b6ab5f5e88c7a2b21c40dc"
           "34408b39b4c2cd9119ccac00000000")

# A file that is made or replaced as a whole (WHOLE), changed where it is (PLACE), or made by a command
# that can be run again to go on (RESUMED); NONE: only standard output.
NONE, WHOLE, PLACE, RESUMED = range(4)
# The new file has its name, and then its directory, or the mark that it was closed, could not be flushed.
IN_PLACE = (b"the file is in place", b"nobody knows what is on it")
# name: (words, what becomes of `target`, target, standard input)
CASES = {
    "create": ("create new.blm -n 1000 --seed 1", WHOLE, "new.blm", None),
    "create --force": ("create old.blm -n 1000 --seed 1 --force", WHOLE, "old.blm", None),
    "create --from": ("create old.blm -n 1000 --seed 1 --from keys --force", WHOLE, "old.blm", None),
    "create scalable": ("create old.blm --kind scalable -n 100 --seed 1 --from keys --force", WHOLE,
                        "old.blm", None),
    "create -": ("create - -n 1000 --seed 1 --from keys", NONE, None, None),
    "create guava": ("create old.guava -n 1000 --scheme guava --from keys --force", WHOLE, "old.guava",
                     None),
    "create --working-memory": ("create new.blm -n 50000 -p 1e-9 --seed 1 --from many "
                                "--working-memory 64K", RESUMED, "new.blm", None),
    "build": ("build old.blm --include keys --seed 1 --kind static --force", WHOLE, "old.blm", None),
    "build --exclude": ("build old.blm --include keys --exclude more --seed 1 --force", WHOLE, "old.blm",
                        None),
    "build --exclude -": ("build new.blm --include keys --exclude - --seed 1", WHOLE, "new.blm", "more"),
    "build --memory": ("build new.blm --include many --kind static --seed 1 --memory 1M", RESUMED,
                       "new.blm", None),
    "build classic --memory": ("build new.blm --include many --kind classic --seed 1 --memory 1M",
                               RESUMED, "new.blm", None),
    "add": ("add f.blm more", PLACE, "f.blm", None),
    "add -": ("add - more", NONE, None, "f.blm"),
    "add scalable": ("add s.blm keys more", PLACE, "s.blm", None),
    "add guava": ("add old.guava more", WHOLE, "old.guava", None),
    "remove": ("remove c.blm more", PLACE, "c.blm", None),
    "dedup": ("dedup keys keys", NONE, None, None),
    "dedup --state": ("dedup --state f.blm more", PLACE, "f.blm", None),
    "check": ("check f.blm keys more", NONE, None, None),
    "check -v": ("check -v f.blm keys more", NONE, None, None),
    "check --json": ("check -c --json f.blm keys", NONE, None, None),
    "check parquet": ("check t.parquet --column name --groups keys", NONE, None, None),
    "merge": ("merge old.blm f.blm g.blm --force", WHOLE, "old.blm", None),
    "intersect": ("intersect old.blm f.blm g.blm --force", WHOLE, "old.blm", None),
    "convert": ("convert old.guava new.blm --to native", WHOLE, "new.blm", None),
    "convert --members": ("convert f.blm old.guava --to guava --members keys -n 1000 --force", WHOLE,
                          "old.guava", None),
    "diff": ("diff f.blm g.blm", NONE, None, None),
    "patch": ("patch f.blm", PLACE, "f.blm", "delta"),
    "info": ("info f.blm", NONE, None, None),
    "info --json": ("info --json f.blm old.guava", NONE, None, None),
    "info parquet": ("info t.parquet", NONE, None, None),
    "verify": ("verify f.blm --members keys --trials 1000", NONE, None, None),
    "compare": ("compare f.blm g.blm", NONE, None, None),
    "calc": ("calc -n 1e6 -p 1%", NONE, None, None),
    "calc --plot": ("calc -n 1e6 -p 1% --plot", NONE, None, None),
    "schemes": ("schemes --json", NONE, None, None),
    "bip37": ("bip37 match wallet payment --txid", NONE, None, None),
    "bip37 --update": ("bip37 match wallet payment --update", WHOLE, "wallet", None),
    "help": ("build --help", NONE, None, None),
}


if "BLOOMERY_WITH_MD:BOOL=ON" not in (BUILD / "CMakeCache.txt").read_text():
    CASES = {name: case for name, case in CASES.items() if not name.startswith("bip37")}


def prepare():
    """The files of the cases, in the current directory. Returns them, name to bytes."""
    for name, lines in (("keys", KEYS), ("more", MORE), ("many", MANY)):
        Path(name).write_bytes(b"".join(lines))
    tool("create", "f.blm", "-n", 1000, "-p", "1e-4", "--seed", 1, "--from", "keys", "--quiet")
    tool("create", "g.blm", "--like", "f.blm", "--from", "keys", "--quiet")
    tool("add", "g.blm", "more", "--quiet")
    tool("create", "s.blm", "--kind", "scalable", "-n", 50, "-p", "1e-4", "--seed", 1, "--quiet")
    tool("create", "c.blm", "--kind", "counting", "-n", 1000, "-p", "1e-4", "--seed", 1, "--quiet")
    tool("add", "c.blm", "keys", "more", "--quiet")
    tool("create", "old.blm", "-n", 10, "--seed", 2, "--from", "more", "--quiet")
    tool("create", "old.guava", "-n", 1000, "-p", "1e-4", "--scheme", "guava", "--from", "keys", "--quiet")
    Path("delta").write_bytes(tool("diff", "f.blm", "g.blm", "--quiet")[0])
    golden = SOURCE / "tests/golden"
    Path("t.parquet").write_bytes((golden / "parquet-file/duckdb-types.parquet").read_bytes())
    Path("wallet").write_bytes(bytes.fromhex(WALLET))
    Path("payment").write_text(PAYMENT + "\n", encoding="ascii")
    return {name: Path(name).read_bytes() for name in os.listdir()}


def library(where):
    """failing.c, compiled."""
    out = where / "failing.so"
    run(CC, "-O1", "-shared", "-fPIC", "-o", out, SOURCE / "tests/cli/failing.c", "-ldl")
    return str(out)


class Bytes:
    """What all runs of a command have in common: a new file has random bytes of its own."""

    def __init__(self, runs):
        self.one = runs[0]
        self.loose = [] if self.one is None else [
            i for i, byte in enumerate(self.one) if any(other[i] != byte for other in runs)]

    def __eq__(self, data):
        if self.one is None or data is None or len(data) != len(self.one):
            return self.one is data
        data = bytearray(data)
        for i in self.loose:
            data[i] = self.one[i]
        return data == self.one


class Bench:
    """Runs cases in a directory of its own, the current one from then on."""

    def __init__(self, work):
        self.so, self.mark, self.runs = library(work), str(work / "mark"), 0
        # Where a flush costs nothing, if there is such a place.
        self.place = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        os.chdir(self.place.name)
        self.files = prepare()
        self.want = {}
        for name in CASES:
            runs = self.twice(name)
            if runs[0][1:] != runs[1][1:]:  # a random byte may be the same in two of them, not in eight
                runs += self.twice(name) + self.twice(name) + self.twice(name)
            check(CASES[name][1] == NONE or runs[0][2] is not None, f"{name} makes nothing")
            self.want[name] = (runs[0][0], Bytes([r[1] for r in runs]), Bytes([r[2] for r in runs]))

    def twice(self, name):
        runs = []
        for _ in range(2):
            done, made = self.run(name)
            self.restore()
            check(done.returncode in (0, 1), f"{name}: {done.stderr.decode()}")
            runs.append((done.returncode, done.stdout, made))
        return runs

    def restore(self):
        for root, folders, names in os.walk(".", topdown=False):
            for name in names:
                path = os.path.relpath(os.path.join(root, name))
                if path not in self.files:
                    os.remove(path)
            for name in folders:
                os.rmdir(os.path.join(root, name))
        for name, data in self.files.items():
            path = Path(name)
            if not path.exists() or path.read_bytes() != data:
                path.unlink(missing_ok=True)
                path.write_bytes(data)

    def run(self, name, **fail):
        """Runs a case, with this failing. Returns how it ended, and what became of its target."""
        words, _, target, source = CASES[name]
        env = dict(os.environ)
        env.update({f"FAIL_{k.upper()}": str(v) for k, v in fail.items()})
        if fail:
            env.update(LD_PRELOAD=self.so, FAIL_MARK=self.mark)
        if os.path.exists(self.mark):
            os.remove(self.mark)
        self.runs += 1
        with open(source or "/dev/null", "rb") as stdin:
            done = subprocess.run([BLOOMERY, *words.split()], stdin=stdin, capture_output=True, env=env,
                                  check=False, timeout=120)
        self.failed = os.path.exists(self.mark)  # was the call that was to fail reached?
        return done, Path(target).read_bytes() if target and os.path.exists(target) else None

    def judge(self, name, done, made, context):
        """Exit 2 with a sentence and the old file whole; or all as it should be."""
        said = f"{name}, {context}: exit {done.returncode}: {done.stderr.decode(errors='replace')}"
        code, out, target = self.want[name]
        what, path = CASES[name][1:3]
        check(done.returncode in (2, code), said)
        if done.returncode == 2:
            lines = done.stderr.decode().splitlines()
            check(lines and all(line.startswith("bloomery") for line in lines), said)
        else:
            check(out == done.stdout, f"{said}\nother output: {done.stdout!r}")
        names = sorted(os.listdir())
        extra = set(names) - set(self.files) - {path}
        check(extra <= ({path + ".spill"} if what == RESUMED else set()), f"{said}\nleft behind: {extra}")
        if what == WHOLE and not (target == made or
                                  (done.returncode == 2 and made == self.files.get(path))):
            check(done.returncode == 2 and any(text in done.stderr for text in IN_PLACE),
                  f"{said}\nthe file is neither the old one nor the new one")
            tool("verify", path, "--trials", "1000")
        elif what == RESUMED:
            check(target == made or (done.returncode == 2 and made is None), f"{said}\nanother file")
            if done.returncode == 2 and made is None:
                again = self.run(name)
                check(again[0].returncode == 0 and target == again[1],
                      f"{said}\nit does not go on: {again[0].stderr.decode()}")
        elif what == PLACE:
            self.judge_place(name, done, path, said)

    def judge_place(self, name, done, path, said):
        """What was there before is there still, and after success all that was asked for."""
        keys = [] if name == "add scalable" else KEYS
        if done.returncode != 2 and name != "remove":
            keys = KEYS + MORE
        members = ["--members", "-"] if keys else []
        verdict = subprocess.run([BLOOMERY, "verify", path, *members, "--trials", "1000"],
                                 input=b"".join(keys), capture_output=True, check=False)
        check(verdict.returncode == 0, f"{said}\n{verdict.stdout.decode()}{verdict.stderr.decode()}")
        if done.returncode != 2 and name == "remove":
            gone = subprocess.run([BLOOMERY, "check", "-c", path, "more"], capture_output=True, check=False)
            check(int(gone.stdout) < 3, f"{said}\nkeys are still there")
