# SPDX-License-Identifier: MIT
"""The files that comments and pages name are there: no compiler sees when one has moved.

Looked at are the comments of sources and scripts, and Markdown pages as a whole. A word is taken for
a file's name when it ends as ours do (core/probe.h), or when it starts with a folder from the top of
the tree (tests/mutations). It may be written from the top of the tree; from src/, include/ or
tests/, as in an #include; or from a folder that the file stands in. A name alone (probe.h) may be
that of a file anywhere, or of a header that some source includes; in a page's code it is a user's.
bench/kinds is the program of bench/kinds.c, unit.core.probe the test of
tests/unit/core/test_probe.c. A part in capitals, a lone x, a * and an … stand for any name, and
something must fit.

What is not ours is written in a way that shows it: <sys/stat.h>, an absolute path, an address.
CHANGELOG.md tells of files as they were.
"""
import fnmatch
import io
import posixpath
import re
import sys
import tokenize
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import SOURCE, check, scratch, tracked, write  # noqa: E402

SOURCES = (".c", ".h", ".cc", ".hpp")
ENDS = re.compile(r"\w\.(c|h|cc|hpp|py|sh|cmake|md)$")
UNIT = re.compile(r"unit((?:\.[a-z]\w*)*)\.([a-z]\w*)$")
MADE = re.compile(r"build\b|web/dist\b|bloomery\.c$")  # by a build, `make web`, `make amalgamation`
WORD = re.compile(r"(?<![\w./*…@~$%-])(?:[\w.*…-]+/)*[\w.*…-]+")
ANY = re.compile(r"(?<![A-Za-z0-9])(x|[A-Z]+)(?![A-Za-z0-9])|…|\*+")
# Addresses, <headers>, absolute paths, and what a shell puts together.
NOT_OURS = re.compile(r"\b[a-z][a-z0-9+]*://\S+|<[^<>\s]+>|(?<![\w.…*/)])~?/\S+|\$[\w{(]\S*")
LINK = re.compile(r"\]\(([^)\s#:]+)(?:#[^)\s]*)?\)")
CODE = re.compile(r"^( *)```.*?^\1```|`[^`\n]+`", re.M | re.S)
COMMENT = {
    "c": re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(/\*.*?\*/|//[^\n]*)', re.S),
    "shell": re.compile(r"(?:^|[ \t])(#.*)", re.M),
}
INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)


def language(path):
    """What the file is written in, as far as that matters here; None: not looked at."""
    if path.suffix in SOURCES:
        return "c"
    if path.suffix == ".md":
        return None if path.name == "CHANGELOG.md" else "page"
    if path.suffix in (".sh", ".cmake") or path.name in ("Makefile", "CMakeLists.txt"):
        return "shell"
    if path.suffix == ".py":
        return "python"
    with path.open("rb") as file:
        first = file.readline(100)
    if first.startswith(b"#!"):
        return "python" if b"python" in first else "shell"
    return None


def only(text, spans):
    """The text with everything outside the spans blank: what is left keeps its line."""
    kept, end = [], 0
    for start, stop in [*spans, (len(text), len(text))]:
        kept += [re.sub(r"[^\n]", " ", text[end:start]), text[start:stop]]
        end = stop
    return "".join(kept)


def python_comments(text):
    """Where comments are, and strings that are statements of their own."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    new = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and new):
            yield (starts[token.start[0] - 1] + token.start[1],
                   starts[token.end[0] - 1] + token.end[1])
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            new = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def words_and_code(path):
    """What is to be read of the file, and what of it is a page's code."""
    spoken, text = language(path), path.read_text(encoding="utf-8")
    if spoken == "page":
        # Blocks and commands; a word in backquotes is a word.
        code = [match.span() for match in CODE.finditer(text) if re.search(r"\s", match[0])]
        ends = [0, *(stop for _, stop in code)]
        starts = [*(start for start, _ in code), len(text)]
        return only(text, zip(ends, starts)), only(text, code)
    if spoken == "python":
        return only(text, python_comments(text)), ""
    return only(text, [m.span(1) for m in COMMENT[spoken].finditer(text) if m[1]]), ""


class Tree:
    """What there is, to ask names of."""

    def __init__(self, root, paths):
        self.root = root
        self.names = {path.relative_to(root).as_posix() for path in paths}
        self.folders = {folder.as_posix() for name in self.names for folder in Path(name).parents}
        self.tops = {name.split("/")[0] for name in self.names if "/" in name}
        self.alone = {posixpath.basename(name) for name in self.names}
        for path in paths:
            if path.suffix in SOURCES:
                self.alone.update(INCLUDED.findall(path.read_text(encoding="utf-8")))

    def has(self, name):
        if name in self.names or name in self.folders or f"{name}.c" in self.names:
            return True
        pattern = ANY.sub("*", name)
        return "*" in pattern and any(fnmatch.fnmatchcase(known, pattern)
                                      for known in self.names | self.folders)

    def knows(self, word, path, code):
        """Is this word no file's name, or that of one which is there?"""
        if MADE.match(word):
            return True
        if UNIT.match(word) and not ENDS.search(word):
            folders, name = UNIT.match(word).groups()
            folder = f"tests/unit{folders.replace('.', '/')}"
            return self.has(f"{folder}/test_{name}.c") or self.has(f"{folder}/{name}")
        if "/" not in word:
            return code or not ENDS.search(word) or word in self.alone or self.has(f"*/{word}")
        if not ENDS.search(word) and word.split("/")[0] not in self.tops:
            return True
        here = [folder.as_posix() for folder in path.relative_to(self.root).parents]
        return any(self.has(posixpath.normpath(f"{base}/{word}"))
                   for base in [*here, "src", "include", "tests"])

    def unknown(self, path):
        """(line, name) of all that the file names and the tree does not have."""
        for is_code, text in enumerate(words_and_code(path)):
            for number, line in enumerate(text.split("\n"), 1):
                for link in LINK.findall(line) if path.suffix == ".md" else []:
                    if not (path.parent / link).exists():
                        yield number, link
                for match in WORD.finditer(NOT_OURS.sub(" ", LINK.sub(" ", line))):
                    word = match[0].rstrip(".…")
                    if not self.knows(word, path, is_code):
                        yield number, word


def wrong_names(root, paths):
    tree = Tree(root, paths)
    return [f"{path.relative_to(root)}:{number}: {name}"
            for path in paths if language(path) for number, name in tree.unknown(path)]


# A small tree: what is fine passes, and what is not is named, with its line.
small = scratch("names")
write(small / "src/core/probe.h", '/* As core/probe.h, src/core, docs/x.md, "a/b.c"; <sys/no.h>. */\n'
      '#include <xx.h>\nstatic const char *path = "src/no.h"; // probe.h, xx.h and core/NAME.h\n'
      "/* unit.core, unit.core.probe, not unit.probe. */\n")
write(small / "tests/unit/core/test_probe.c", "")
write(small / "src/core/a.c", "int a;\n/* Not core/gone.h,\n * nor gone.h, nor src/kind/… */\n")
write(small / "tools/run", "#!/usr/bin/env python3\n'''See tools/run, docs/no.md.'''\nx = 'src/no.c'\n")
write(small / "tests/run.sh", "cat src/no.c # ../docs/page.md, ./no.sh and /etc/no.sh\n")
write(small / "docs/page.md", "[a](page.md#x), [b](gone.md), `app.c` or `cc app.c`, https://a.b/src/c.c\n"
      "```\ncc app.c src/core/b.c -o build/src/c.c\n```\n")
WRONG = ["docs/page.md:1: gone.md", "docs/page.md:1: app.c", "docs/page.md:3: src/core/b.c",
         "src/core/a.c:2: core/gone.h", "src/core/a.c:3: gone.h", "src/core/a.c:3: src/kind/",
         "src/core/probe.h:1: a/b.c", "src/core/probe.h:4: unit.probe",
         "tests/run.sh:1: ./no.sh", "tools/run:2: docs/no.md"]
said = wrong_names(small, sorted(path for path in small.rglob("*") if path.is_file()))
check(said == WRONG, f"of the small tree it says {said}")

found = wrong_names(SOURCE, tracked())
check(not found, "\n".join(["no such file in the tree:", *found]))
