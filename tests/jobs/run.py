# SPDX-License-Identifier: MIT
"""One job of examples/, three ways: it keeps its promises (exit 0), and notices (exit 1, and says
what was broken) when its filter is replaced by one that always answers "maybe", or always "no".
And its page shows what it prints: the transcript there, numbers aside, is the one of this run."""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import BUILD, SOURCE, check, scratch  # noqa: E402

job = sys.argv[1]
program = BUILD / "examples" / job


def runs(answer, expected):
    env = {**os.environ, "BLOOMERY_EXAMPLE_FILTER": answer}
    done = subprocess.run([program], capture_output=True, text=True, env=env, check=False,
                          cwd=scratch(f"job-{job}"), stdin=subprocess.DEVNULL, timeout=280)
    check(done.returncode == expected,
          f"{job} with {answer or 'its own filter'}: exit {done.returncode}, not {expected}\n"
          f"{done.stdout}{done.stderr}")
    check(("broken: " in done.stderr) == (expected == 1),
          f"{job} {answer}: says what broke\n{done.stderr}")
    print(f"--- {answer or 'as it is'}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def shape(text):
    """The words and their order: numbers, units and the width of columns may differ."""
    text = re.sub(r"[-−+]?\d[\d.,]*(e[-+]?\d+)?( ?(ns|µs|ms|s|B|KB|MB|GB)\b)?", "#", text)
    return [re.sub(r"[\s─|-]+", " ", line).strip() for line in text.strip().splitlines()]


said = runs("", 0)
page = (SOURCE / "examples" / job / "README.md").read_text()
shown = re.search(rf"^```console\n\$ build/examples/{job}\n(.*?)^```$", page, re.M | re.S)
check(shown, f"examples/{job}/README.md shows a run of build/examples/{job}")
check(shape(shown.group(1)) == shape(said),
      f"the page shows another run:\n{shown.group(1)}\nthis run:\n{said}")
runs("maybe", 1)
runs("no", 1)
