# SPDX-License-Identifier: MIT
"""The independent decoder, tests/native_decoder.py, reads what the library writes: files of every
kind, with the same counts and the same answers; and finds what is wrong with a damaged one."""
import json
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import native_decoder  # noqa: E402
from harness import BUILD, CC, SOURCE, check, run, scratch  # noqa: E402

rng = random.Random(7)
work = scratch("native")

# Known answers of the hashes, so that a fault of the decoder is not taken for one of the library:
# XXH64 and XXH3 of the empty input; SipHash's own example.
check(native_decoder.xxh64(b"") == 0xef46db3751d8e999, "XXH64")
check(native_decoder.xxh3(b"", 0) == 0x2d06800538d394c2, "XXH3")
check(native_decoder.siphash(bytes(range(15)), 0x0706050403020100, 0x0f0e0d0c0b0a0908)
      == 0xa129ca6149be45e5, "SipHash")

# Every length up to 260, and longer ones across XXH3's blocks of 1024 bytes.
lengths = list(range(261)) * 2 + [511, 512, 1023, 1024, 1025, 1088, 2048, 2049]
keys = [rng.randbytes(n) for n in lengths] + [rng.randbytes(8) for _ in range(1500)]
lines = "".join(k.hex() + "\n" for k in keys)

run(CC, "-std=c11", "-D_GNU_SOURCE", "-I", SOURCE / "include", Path(__file__).parent / "write.c",
    BUILD / "libbloomery.so", f"-Wl,-rpath,{BUILD}", "-lm", "-o", work / "write")
with open(work / "keys", "w") as f:
    f.write(lines)


def decode(path, fails=False):
    with open(work / "keys") as stdin:
        done = subprocess.run([sys.executable, SOURCE / "tests/native_decoder.py", path, "-"],
                              stdin=stdin, capture_output=True, text=True, check=False)
    check((done.returncode != 0) == fails, f"{path}: {done.stdout[:200]}{done.stderr[-500:]}")
    return done.stderr if fails else json.loads(done.stdout)


with open(work / "keys") as stdin:
    written = subprocess.run([work / "write"], stdin=stdin, capture_output=True, text=True,
                             cwd=work, check=False)
check(written.returncode == 0, written.stderr)

kinds = set()
for line in written.stdout.splitlines():
    said = json.loads(line)
    path = work / said["file"]
    read = decode(path)
    where = f"{path.name}: "
    kinds.add(read["kind"])
    check(read["kind"] == said["kind"] and read["hash"] == said["hash"], where + "kind or hash")
    check(len(read["layers"]) == said["layers"], where + "layers")
    check(sum(l["bits"] for l in read["layers"]) == said["bits"], where + "bits")
    check(sum(l["ones"] for l in read["layers"]) == said["ones"], where + "ones")
    check(read["rate"] == said["rate"], where + "rate")
    check(read["answers"] == said["answers"], where + "answers")
    check(read["slots_whole"] == 2, where + "slots")
    died = "died" in path.name
    check(read["closed"] != died, where + "closed")
    if path.name == "shared-died.blm":
        check(0 < read["items"] < said["items"], where + "items are those of the last sync")
    elif "forgets" not in path.name:  # the file counts all adds
        check(read["items"] == said["items"], where + "items")
    bad = sum(l["regions"] - l["good"] for l in read["layers"])
    marked = sum(l["marked"] for l in read["layers"])
    check((bad > 0) == died and bad <= marked, where + f"{bad} regions differ, {marked} marked")
    if "cleared" not in path.name and "forgets" not in path.name and read["kind"] != "counting" \
            and not (read["kind"] == "cuckoo" and "mapped" not in path.name and not died):
        check(all(read["answers"][::2]), where + "a key that was added is denied")
    check(not all(read["answers"]), where + "it answers maybe to everything")
check(kinds == set(native_decoder.KINDS), f"only {kinds}")
check("large-died.blm" in written.stdout, "large files")

# A flipped bit anywhere in a small file is found, but in one of the two slots.
small = (work / "scalable.blm").read_bytes()
slots = range(512, 512 + 2 * 4608)
for _ in range(300):
    at = rng.randrange(len(small))
    damaged = bytearray(small)
    damaged[at] ^= 1 << rng.randrange(8)
    try:
        file = native_decoder.File(bytes(damaged))
        found = not all(all(layer.good) for layer in file.layers) or file.slots_whole == 1
        check(found, f"a flip at {at} is not found")
    except native_decoder.Bad:
        check(at not in slots, f"a flip at {at}, in one slot, is too much")
for size in sorted(rng.sample(range(len(small)), 100)) + [len(small) - 1]:
    try:
        native_decoder.File(small[:size])
        check(False, f"{size} of {len(small)} bytes are enough")
    except native_decoder.Bad:
        pass
check("not a native file" in decode(work / "keys", fails=True), "another file")
