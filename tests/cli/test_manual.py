# SPDX-License-Identifier: MIT
"""docs/man/ and cli/completion/ are what the option rows say: `cmake --build build --target manual`
writes them. The pages are also read by man's own formatter, where it is there."""
import re
import shutil
import subprocess
from email.utils import parsedate_to_datetime

from tool import SOURCE, check, tool

commands = []
for line in tool("--help")[0].decode().split("Commands:\n")[1].split("\n\n")[0].splitlines():
    commands.append(line.split()[0])
check(len(commands) >= 5, commands)

pages = {f"bloomery-{c}.1": tool("--man", c)[0] for c in commands}
pages["bloomery.1"] = tool("--man")[0]
there = {p.name for p in (SOURCE / "docs/man").glob("*.1")}
check(there == set(pages), f"docs/man has {sorted(there)}, the program {sorted(pages)}")
for name, text in pages.items():
    check((SOURCE / "docs/man" / name).read_bytes() == text,
          f"docs/man/{name} is not what bloomery --man prints: build the target `manual`")
for shell, name in (("bash", "bloomery.bash"), ("zsh", "_bloomery"), ("fish", "bloomery.fish")):
    check((SOURCE / "cli/completion" / name).read_bytes() == tool("--completion", shell)[0],
          f"cli/completion/{name} is not what the program prints: build the target `manual`")

for name, text in pages.items():
    check(not re.search(rb"[?!.:]\.$", text.replace(b"...", b""), re.M), f"{name}: a sentence ends twice")

# ---- version and date are those of the changelogs
dated = re.search(r'^\.TH \S+ 1 "(\S+)" "bloomery (\S+)"', pages["bloomery.1"].decode(), re.M)
newest = re.search(r"^## (\S+) \((\S+)\)$", (SOURCE / "CHANGELOG.md").read_text(), re.M)
check(dated and newest and dated.groups() == newest.groups()[::-1], f"{dated and dated.groups()}, CHANGELOG.md {newest}")
debian = (SOURCE / "debian/changelog").read_text()
check(debian.startswith(f"bloomery ({newest[1]}-"), "debian/changelog has that version")
signed = re.search(r"^ -- .*>  (.*)$", debian, re.M)
check(str(parsedate_to_datetime(signed[1]).date()) == newest[2], f"debian/changelog: {signed[1]}")
check(f"\nVersion:        {newest[1]}\n" in (SOURCE / "packaging/bloomery.spec").read_text(), "the spec has that version")

# ---- every option a command takes is in its page, its help and its completion
for c in commands:
    help_text = tool(c, "--help")[0].decode()
    page = pages[f"bloomery-{c}.1"].decode().replace("\\-", "-")
    for word in [w.rstrip(",") for line in help_text.splitlines() if line.startswith("  ")
                 for w in line.split()[:2] if w.startswith("-") and w != "-"]:
        check(word in page, f"{c}: {word} is missing in the manual")

for word in ("help", "-h", "--help", "-V", "--version"):
    check(re.search(rf"(^|[ ,]){word}\b", tool("--help")[0].decode(), re.M), f"--help does not list {word}")
    check(re.search(rf"\\fB{word}\\fR", pages["bloomery.1"].decode().replace("\\-", "-")),
          f"bloomery.1 does not list {word}")
    check(tool(word)[0], word)

# ---- the pages are well-formed
if shutil.which("groff") or shutil.which("mandoc"):
    for name in pages:
        path = str(SOURCE / "docs/man" / name)
        words = (["mandoc", "-T", "lint", "-W", "error", path] if shutil.which("mandoc") else
                 ["groff", "-man", "-Tutf8", "-ww", "-z", path])
        done = subprocess.run(words, capture_output=True, check=False)
        check(done.returncode == 0 and not done.stderr, done.stderr.decode())
