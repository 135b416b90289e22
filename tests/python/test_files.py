# SPDX-License-Identifier: MIT
import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import bloomery
from bloomery import Filter

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"


def test_a_file_that_is_mapped(tmp_path):
    path = tmp_path / "seen.blm"
    with Filter(1000, path=path) as f:
        f.update(["a", "b"])
        assert f.params.mapped and f.params.writable
        with pytest.raises(bloomery.BusyError):
            Filter.open(path, "r+")
        with Filter.open(path) as reader:
            assert "a" in reader
            f.add("c")
            assert "c" in reader
            with pytest.raises(bloomery.ReadOnlyError):
                reader.add("d")
        f.sync()
    with Filter.open(path, "r+") as f:
        assert "c" in f and len(f) == 3
        f.verify()
    with pytest.raises(FileExistsError):
        Filter(1000, path=path)
    with Filter(1000, path=path, replace=True) as f:
        assert "a" not in f
    with pytest.raises(ValueError):
        Filter.open(path, "w")


def test_the_command_line_reads_it_and_back(tmp_path, cli):
    path = tmp_path / "f.blm"
    with Filter(1000, path=path) as f:
        f.update(["alpha", "beta"])
        f.update([1, -5])
    assert cli("check", path, stdin=b"alpha\nnot there\nbeta\n", ok=(0, 1)) == b"alpha\nbeta\n"
    assert cli("check", "-e", "int64", path, stdin=b"1\n2\n-5\n", ok=(0, 1)) == b"1\n-5\n"
    other = tmp_path / "g.blm"
    cli("create", other, "-n", "1000")
    cli("add", other, stdin="gamma\ngrüße\n".encode())
    cli("add", "-e", "int64", other, stdin=b"77\n")
    with Filter.open(other) as f:
        assert "gamma" in f and "grüße" in f and 77 in f and "alpha" not in f
        told = json.loads(cli("info", "--json", other))
        assert told["probes"] == f.params.probes


def test_save_load_bytes(tmp_path):
    f = Filter(100, seed=5)
    f.update(range(100))
    f.save(tmp_path / "x")
    f.save(tmp_path / "x")
    with pytest.raises(FileExistsError):
        f.save(tmp_path / "x", replace=False)
    g = Filter.load(tmp_path / "x")
    assert g == f and not g.params.mapped
    g.add("more")
    assert Filter.from_bytes(f.to_bytes()) == f
    assert Filter.from_bytes(memoryview(bytearray(f.to_bytes()))) == f


def test_a_damaged_file_is_not_loaded(tmp_path):
    path = tmp_path / "f.blm"
    f = bloomery.Filter(1000, seed=1)
    f.update(range(1000))
    f.save(path)
    data = bytearray(path.read_bytes())
    data[2048:2548] = bytes(500)
    path.write_bytes(data)
    with pytest.raises(bloomery.ChecksumError):
        bloomery.Filter.load(path)
    assert bloomery.Filter.load(path, verify=False).count_many(range(1000)) < 1000


def test_errors_of_bytes(tmp_path):
    good = Filter(100).to_bytes()
    with pytest.raises(bloomery.FormatError) as e:
        Filter.from_bytes(b"nonsense")
    assert e.value.status == "E_FORMAT" and e.value.offset == 0
    with pytest.raises(bloomery.TruncatedError):
        Filter.from_bytes(good[:-9])
    bad = bytearray(Filter(100_000).to_bytes())
    bad[len(bad) // 2] ^= 1
    with pytest.raises(bloomery.ChecksumError):
        Filter.from_bytes(bad)
    with pytest.raises(FileNotFoundError) as e:
        Filter.open(tmp_path / "none")
    assert e.value.errno == 2 and isinstance(e.value, bloomery.Error)
    with pytest.raises(bloomery.LimitError):
        Filter.from_bytes(Filter(100_000).to_bytes(), max_bytes=1000)


FORMATS = {"guava": "guava", "go": "go", "spark": "spark", "dcso": None, "bip37": "bip37",
           "byteslot": "byteslot", "parquet": "parquet"}
VECTORS = [p.parent for p in sorted(GOLDEN.glob("*/*/probes.tsv")) if p.parts[-3] in FORMATS]


def probes(folder):
    lines = (folder / "probes.tsv").read_text(encoding="utf-8").split("\n")
    coding = "utf8"
    if lines[0].startswith("#"):
        coding = lines.pop(0)[1:].split("\t")[0]
    for line in lines:
        if line:
            key, answer = line.rsplit("\t", 1)
            if coding == "hex":
                key = bytes.fromhex(key)
            elif coding.startswith("int"):
                key = int(key).to_bytes(int(coding[3:]) // 8, "little", signed=True)
            yield key, answer == "1"


@pytest.mark.parametrize("folder", VECTORS, ids=lambda p: "/".join(p.parts[-2:]))
def test_other_systems_filters(folder):
    meta = json.loads((folder / "meta.json").read_text())
    name = meta.get("funnel", "")
    funnel = "chars" if "nencoded" in name else None
    how = dict(format=FORMATS[folder.parts[-2]])
    if folder.name.startswith("old7"):
        how = dict(format="raw", scheme="polynomial")
    f = Filter.open(folder / "filter.bin", **how)
    if funnel:
        f.set_funnel(funnel)
    asked = list(probes(folder))
    assert f.check_many([k for k, _ in asked]) == [a for _, a in asked]
    assert [k in f for k, _ in asked] == [a for _, a in asked]
    assert f.to_bytes() == (folder / "filter.bin").read_bytes()


def test_go_json_and_gob():
    folder = GOLDEN / "go" / "small10"
    one = Filter.open(folder / "filter.bin", format="go")
    for name in ("filter.json", "filter.gob"):
        assert Filter.from_bytes((folder / name).read_bytes()) == one
    assert Filter.open(folder / "filter.json") == Filter.open(folder / "filter.json", format="go-json") == one
    assert Filter.from_bytes(one.to_bytes("go-json"), "go-json") == one
    assert one.to_bytes("go-json") == (folder / "filter.json").read_bytes()


@pytest.mark.parametrize("format", ["go", "go-json", "guava"])
def test_foreign_files_are_not_changed_in_place(tmp_path, format):
    path = tmp_path / "f"
    Filter(100, scheme=format.partition("-")[0]).save(path, format)
    with pytest.raises(bloomery.UnsupportedError, match=f"of format {format} cannot be changed in place"):
        Filter.open(path, "r+", format=format)
    with pytest.raises(TypeError, match="no option 'bitz'"):
        Filter.open(path, format=format, bitz=3)
    assert Filter.open(path, format=format, shared=True, threads=2).params.threads == 2
    with pytest.raises(bloomery.MissingError):
        Filter.open(tmp_path / "none", format=format)


def test_go_json_stays_what_it_is(tmp_path):
    path = tmp_path / "f.json"
    Filter(100, scheme="go").save(path, "go-json")
    f = Filter.load(path)
    f.add("a")
    for g in (f, f.copy(), copy.deepcopy(f), pickle.loads(pickle.dumps(f)), Filter.from_bytes(f.to_bytes()), f | f.copy()):
        assert g.params.format == g.stats.format == g.layers[0].format == "go-json"
        g.save(path)
        assert path.read_bytes().startswith(b'{"m":') and "a" in Filter.open(path, format="go-json")
    f.save(path, "go")
    assert Filter.open(path, format="go").params.format == "go" and Filter(like=f).params.format == "go-json"


def test_go_json_with_members_of_no_meaning(tmp_path):
    one = Filter(100, scheme="go")
    one.add("a")
    text = b'{"id":[18446744073709551616,1e999,"\\ud800","\xff"],"id":null,' + one.to_bytes("go-json")[1:]
    assert Filter.from_bytes(text) == one
    (tmp_path / "f").write_bytes(text)
    assert Filter.open(tmp_path / "f") == one


def test_raw_bits_can_be_pickled():
    f = Filter.from_bytes(bytes(128), "raw", scheme="guava", bits=1024, probes=3, funnel="chars")
    f.add("a")
    again = pickle.loads(pickle.dumps(f))
    assert again == f and "a" in again and again.params.funnel == "chars"


def test_go_json_inside_another_file(tmp_path):
    """The one at the offset is read, and not what follows it; a file that begins with { is no go-json for that."""
    path = tmp_path / "several"
    one, two, native = Filter(100, scheme="go"), Filter(100, scheme="go"), Filter(100, seed=1)
    one.add("one"), two.add("two"), native.add("native")
    parts = [one.to_bytes("go-json"), b" \n" + two.to_bytes("go-json"), native.to_bytes()]
    path.write_bytes(b"".join(parts) + b"\xff{")
    for format in (None, "go-json"):
        assert Filter.open(path, format=format, offset=len(parts[0])) == two
    assert Filter.open(path, offset=len(parts[0] + parts[1])) == native
    with pytest.raises(bloomery.FormatError) as e:
        Filter.open(path, format="go-json", offset=1)
    assert e.value.offset == 1


def test_a_brace_alone_is_not_json():
    """0x7b: a bip37 filter of 123 bytes says so first."""
    f = Filter(bits=8 * 123, probes=5, scheme="bip37")
    f.add("a")
    assert f.to_bytes()[:1] == b"{"
    read = Filter.from_bytes(f.to_bytes())
    assert read.params.scheme == "bip37" and read == f


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"m":96,"k":7}', '{"m":96,"k":7,"b":"*"}', '{"m":0,"k":7,"b":""}',
                                  '{"m":-96,"k":7,"b":""}', '{"m":96.5,"k":7,"b":""}', '{"m":96,"k":7,"b":"AAAA"}',
                                  '{"m":true,"k":7,"b":""}', '{"m":96,"k":7,"b":7}', "{" * 100_000])
def test_malformed_json(text):
    with pytest.raises(bloomery.FormatError):
        Filter.from_bytes(text.encode(), "go-json")


BAD = [p for p in sorted(GOLDEN.glob("*/bad/*")) if p.suffix != ".tsv" and p.parts[-3] in FORMATS]


@pytest.mark.parametrize("path", BAD, ids=lambda p: "/".join(p.parts[-3:]))
def test_malformed_files_are_refused(path):
    if path.name.startswith("old7"):
        pytest.skip("a raw file: anything of its length is one")
    with pytest.raises(bloomery.Error) as e:
        Filter.open(path, format=FORMATS[path.parts[-3]])
    assert e.value.status.startswith("E_") and str(e.value)


def test_interpreter_exit_with_an_open_map(tmp_path):
    path = tmp_path / "f.blm"
    code = f"import bloomery; f = bloomery.Filter(100, path={str(path)!r}); f.add('x')"
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
    with Filter.open(path, "r+", verify=True) as f:
        assert "x" in f


def test_a_child_after_fork_leaves_the_file_alone(tmp_path):
    f = Filter(100, path=tmp_path / "f.blm")
    f.add("before")
    pid = os.fork()
    if pid == 0:
        os._exit(0 if "before" in f else 1)
    assert os.waitpid(pid, 0)[1] == 0
    f.add("after")
    f.close()
    with Filter.open(tmp_path / "f.blm", "r+") as f:
        assert "before" in f and "after" in f


def test_subinterpreters_are_refused():
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        pytest.skip("this Python has no module for subinterpreters")
    sub = interpreters.create()
    try:
        with pytest.raises(Exception, match="main interpreter"):
            interpreters.run_string(sub, "import sys; sys.path[:] = %r; import bloomery" % (sys.path,))
    finally:
        interpreters.destroy(sub)


def test_fixed_sets(cli, tmp_path):
    """What `bloomery build` made is asked here, and refuses what its kind cannot do."""
    keys, others = [f"in{i}" for i in range(2000)], [f"out{i}" for i in range(8000)]
    for name, lines in (("in", keys), ("out", others)):
        (tmp_path / name).write_text("".join(k + "\n" for k in lines))
    cli("build", tmp_path / "s", "--seed", "1", "--kind", "static", "-p", "0.004", "--include", tmp_path / "in")
    cli("build", tmp_path / "c", "--seed", "1", "--include", tmp_path / "in", "--exclude", tmp_path / "out")
    for name, kind in (("s", "static"), ("c", "cascade")):
        with Filter.open(tmp_path / name) as f:
            assert f"{kind}, 2,000 of 2,000 keys" in repr(f) and len(f) == 2000 == f.estimate.value
            assert all(k in f for k in keys) and all(f.check_many(keys)) and f.count_many(iter(keys)) == 2000
            wrong = f.count_many(others)
            assert f.check_many(others) == [k in f for k in others]
            assert wrong == 0 if kind == "cascade" else wrong < 8000 * 0.004 * 3
            assert f.stats.kind == kind and f.try_rate(20_000).holds
            assert pickle.loads(pickle.dumps(f)) == f == f.copy()
            for refused in (lambda: f.add("x"), lambda: f.update(["x"]), lambda: f.discard("in1"), lambda: f | f.copy(), lambda: Filter(like=f)):
                with pytest.raises(bloomery.UnsupportedError):
                    refused()
    with pytest.raises(bloomery.UnsupportedError, match="built from all its keys"):
        Filter(100, kind="static")
