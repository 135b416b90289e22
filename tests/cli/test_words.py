# SPDX-License-Identifier: MIT
"""The command line does not speak C: what the library's errors call options.like or blm_refresh has
another name here. And the sizes that the help gives are those that the commands give."""
import os
import re

from tool import SOURCE, check, scratch, tool

work = scratch("cli.words")
os.chdir(work)
C_NAME = re.compile(r"\b(options\.\w+|blm_\w+|BLM_\w+)")
# Only a program can cause these: it brings memory, functions or flags of its own.
PROGRAMS = re.compile(r"options\.(words|word_count|hash_fn|hash_name|probe_fn|size)\b|unknown flags")
table = re.search(r"} spellings\[\] = {(.*?)\n};", (SOURCE / "cli/say.c").read_text(), re.S).group(1)
spellings = re.findall(r'{ "([^"]*)", "([^"]*)" }', table)
check(len(spellings) > 5, spellings)
for library, here in spellings:
    check(len(here) <= len(library) and not C_NAME.search(here), f"{library}: {here}")
texts = 0
for path in sorted((SOURCE / "src").rglob("*.c")):
    if "guard" in path.parts:
        continue
    for call in re.findall(r"\b(?:blm__fail\w*|differ|refuse)\((.*?)\);", path.read_text(), re.S):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call))
        for library, here in spellings:
            text = text.replace(library, here)
        texts += 1
        check(PROGRAMS.search(text) or not C_NAME.search(text), f"{path.name} would have us say: {text}")
check(texts > 300, texts)

# ---- no C names, and hints that fit
(work / "keys").write_bytes(b"".join(b"%d\n" % i for i in range(1000)))
tool("create", "a.blm", "-n", 1000, "--seed", 1, "--from", "keys", "--quiet")
tool("create", "b.blm", "-n", 1000, "--seed", 2, "--quiet")
for words, said in (
        (["merge", "o", "a.blm", "b.blm"], "--like"),
        (["create", "x", "--like", "a.blm", "--seed", "1"], "remove the options"),
        (["dedup", "--threads", "0"], "--threads 0: give how many threads, at least 1 "),
        (["dedup", "--threads", "many"], "--threads many: give how many threads, at least 1 ")):
    err = tool(*words, code=2)[1].decode()
    check(said in err and not C_NAME.search(err), f"{words}: {err}")
for pack, name in (("gzip", "gz"), ("zstd", "zst"), ("xz", "xz"), ("bzip2", "bz2")):
    if os.system(f"command -v {pack} >/dev/null") == 0:
        check(os.system(f"{pack} -c a.blm >a.{name}") == 0, pack)
        err = tool("info", f"a.{name}", code=2)[1].decode()
        check(err.endswith(f": it is compressed: give <({pack} -dc FILE) instead\n"), err)

# ---- the help's own example
help_text = tool("--help")[0].decode()
line, size = re.search(r"bloomery (create .*) --from urls.txt\n.* filter of (.*)\n", help_text).groups()
said = tool(*line.split())[1].decode()
check(f": {size}, " in said, f"{size} in the help: {said}")
