# SPDX-License-Identifier: MIT
"""The completions, by the shells themselves: bash and zsh are typed to on a terminal, fish is asked.
File names with spaces, --option=value, names that only this build knows."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

from tool import BLOOMERY, SOURCE, check, scratch

work = scratch("cli.completion")
os.chdir(work)
for name in ("include", "LICENSE", "my filter.blm", "it's odd.blm", "star*.blm"):
    (work / name).write_bytes(b"")
ENV = {**os.environ, "PATH": os.path.dirname(BLOOMERY) + ":" + os.environ["PATH"], "TERM": "dumb",
       "LC_ALL": "C.UTF-8", "HOME": str(work), "XDG_CONFIG_HOME": str(work)}
SCRIPTS = SOURCE / "cli/completion"
missing = []


class Shell:
    """On a terminal. END prints a mark, so that we know when the line was run."""

    def __init__(self, words, setup):
        self.master, slave = pty.openpty()
        self.p = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=ENV,
                                  start_new_session=True)
        os.close(slave)
        self.run(setup)

    def until(self, mark):
        text, end = b"", time.monotonic() + 60
        while mark not in text:
            check(time.monotonic() < end and select.select([self.master], [], [], 60)[0],
                  f"no {mark} in {text}")
            text += os.read(self.master, 65536)
        return text

    def run(self, line):
        os.write(self.master, line.encode() + b"; echo END''MARK\n")
        return self.until(b"ENDMARK")

    def completed(self, line, tabs=b"\t"):
        """The words that bloomery, which is a function here, is called with."""
        os.write(self.master, line.encode() + tabs)
        os.write(self.master, b"\n")
        text = self.until(b"<<END>>").decode()
        return re.findall(r"<([^<>]*)>", text[text.rindex("<<BEGIN>>") + 9:text.rindex("<<END>>")])

    def close(self):
        os.write(self.master, b"\x03exit\n")
        os.close(self.master)
        self.p.kill()
        self.p.wait()


FUNCTION = ("bloomery() { if [ \"$1\" = --names ]; then command bloomery \"$@\"; return; fi; "
            "printf '<<%s>>' BEGIN; printf '<%s>' \"$@\"; printf '<<%s>>\\n' END; }")
# What is typed before TAB, and what bloomery is then given.
LINES = [
    ("bloomery ded", ["dedup"]),
    ("bloomery create x --kind cl", ["create", "x", "--kind", "classic"]),
    ("bloomery create x --kind=cl", ["create", "x", "--kind=classic"]),
    ("bloomery create x --scheme gua", None),
    ("bloomery create x --scheme=redi", ["create", "x", "--scheme=redisbloom"]),
    ("bloomery create x --scheme=func", ["create", "x", "--scheme=func"]),
    ("bloomery convert a b --scheme redisbloom-", ["convert", "a", "b", "--scheme", "redisbloom-cf"]),
    ("bloomery create x --var", ["create", "x", "--variant"]),
    ("bloomery dedup --state inc", ["dedup", "--state", "include"]),
    ("bloomery dedup LIC", ["dedup", "LICENSE"]),
    ("bloomery check my", ["check", "my filter.blm"]),
    ("bloomery check my\\ f", ["check", "my filter.blm"]),
    ("bloomery check 'my f", ["check", "my filter.blm"]),
    ("bloomery create x --like my", ["create", "x", "--like", "my filter.blm"]),
    ("bloomery create x --like=my", ["create", "x", "--like=my filter.blm"]),
    ("bloomery check it", ["check", "it's odd.blm"]),
    ("bloomery check sta", ["check", "star*.blm"]),
    ("bloomery dedup -n inc", ["dedup", "-n", "inc"]),
    ("bloomery help inf", ["help", "info"]),
]


def judge(shell, name):
    for line, words in LINES:
        if words:
            got = shell.completed(line)
            check(got == words, f"{name}: {line}TAB gives {got}, not {words}")


if shutil.which("bash"):
    bash = Shell(["bash", "--norc", "--noprofile", "-i"],
                 f"bind 'set enable-bracketed-paste off'; set +H; PS1='$ '; . '{SCRIPTS}/bloomery.bash'; "
                 f"{FUNCTION}")
    judge(bash, "bash")
    bash.run("COMP_WORDBREAKS=${COMP_WORDBREAKS//=}")  # as some users have it
    got = bash.completed("bloomery create x --kind=cl")
    check(got == ["create", "x", "--kind=classic"], got)
    bash.close()
else:
    missing.append("bash")

if shutil.which("zsh"):
    done = subprocess.run(["zsh", "-n", str(SCRIPTS / "_bloomery")], capture_output=True, check=False)
    check(done.returncode == 0 and not done.stderr, done.stderr.decode())
    zsh = Shell(["zsh", "-f", "-i"],
                f"unsetopt zle_bracketed_paste prompt_sp prompt_cr; PS1='$ '; fpath=('{SCRIPTS}' $fpath); "
                f"autoload -U compinit; compinit -D -u; {FUNCTION}")
    judge(zsh, "zsh")
    zsh.close()
else:
    missing.append("zsh")


def fish(line):
    done = subprocess.run(["fish", "--no-config", "-c", f"source '{SCRIPTS}/bloomery.fish'; "
                           "complete -C $argv[1]", line], capture_output=True, text=True, env=ENV,
                          check=False)
    check(done.returncode == 0 and not done.stderr, done.stderr)
    return {row.split("\t")[0] for row in done.stdout.splitlines()}


if shutil.which("fish"):
    check(fish("bloomery ded") == {"dedup"}, fish("bloomery ded"))
    check("LICENSE" not in fish("bloomery "), "commands before files")
    check(fish("bloomery dedup --st") == {"--state", "--stats"} or
          fish("bloomery dedup --st") == {"--state=", "--state", "--stats"}, fish("bloomery dedup --st"))
    check(fish("bloomery create x --kind c") == {"classic", "counting", "cuckoo"}, "values")
    check(fish("bloomery create x --kind=c") == {"--kind=classic", "--kind=counting", "--kind=cuckoo"}, "values after =")
    check("native" in fish("bloomery create x --scheme na"), "values from the program")
    check(fish("bloomery check my") == {"my filter.blm"} or fish("bloomery check my") ==
          {"my\\ filter.blm"}, fish("bloomery check my"))
    check(fish("bloomery dedup --state inc") == {"include"}, "files after a file option")
    check(fish("bloomery dedup LIC") == {"LICENSE"}, "files")
    check(fish("bloomery dedup -n inc") == set(), fish("bloomery dedup -n inc"))
    check("info" in fish("bloomery help inf"), "help")
else:
    missing.append("fish")

for shell in missing:
    print(f"skipped: completion by {shell}: it is not installed")
