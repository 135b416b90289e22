# SPDX-License-Identifier: MIT
"""Every example in docs/python.md and in the docstrings runs and gives what is shown."""
import doctest
import os
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


def test_the_readme():
    assert "docs/python.md" in (TREE / "python" / "README.md").read_text()
