# SPDX-License-Identifier: MIT
"""Every example in docs/python.md, in the READMEs and in the docstrings runs and gives what is shown."""
import doctest
import re
from pathlib import Path

import pytest

import bloomery
import bloomery.facts

TREE = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_page():
    pytest.importorskip("numpy")
    result = doctest.testfile(str(TREE / "docs" / "python.md"), module_relative=False)
    assert result.attempted > 30 and result.failed == 0


@pytest.mark.parametrize("module", [bloomery, bloomery.facts], ids=lambda m: m.__name__)
def test_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md", "python/README.md"])
def test_the_readmes(page):
    """Each line of the example gives what its comment says: `# True: it is new`."""
    numpy = pytest.importorskip("numpy")
    text = (TREE / page).read_text()
    assert "docs/python.md" in text
    lines = re.search(r"^```python\n(.*?)^```$", text, re.M | re.S).group(1).splitlines()
    names, compared = {"array": numpy.arange(10)}, 0
    for line in lines:
        said = re.search(r"# (True|False)[:：]", line)
        if said:
            assert str(eval(line, names)) == said.group(1), line
            compared += 1
        else:
            exec(line, names)
    assert compared >= 2
