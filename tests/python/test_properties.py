# SPDX-License-Identifier: MIT
"""Against a set."""
import pytest

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings, strategies as st  # noqa: E402
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule  # noqa: E402

from bloomery import Filter  # noqa: E402

# The same examples on every run, and no limit on the time that a busy machine takes to make them.
SAME = settings(derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
KEY = st.one_of(st.binary(max_size=300), st.text(max_size=100).filter(lambda s: s.encode("utf8", "ignore").decode() == s),
                st.integers(-2**63, 2**64 - 1))


def canonical(key):
    if isinstance(key, int):
        return (key % 2**64).to_bytes(8, "little")
    return key.encode() if isinstance(key, str) else bytes(key)


@settings(SAME, max_examples=200)
@given(st.lists(KEY, max_size=200), st.sampled_from(["classic", "blocked", "counting", "scalable"]))
def test_what_was_added_is_there(keys, kind):
    f, g = Filter(1000, kind=kind, seed=1), Filter(1000, kind=kind, seed=1)
    for k in keys:
        f.add(k)
    g.update(keys)
    assert f == g
    assert all(k in f for k in keys) and all(f.check_many(keys))
    assert all(canonical(k) in f for k in keys)
    h = Filter.from_bytes(f.to_bytes())
    assert h == f and [k in h for k in keys] == [True] * len(keys)


class Counting(RuleBasedStateMachine):
    """A counting filter at a low rate does what a multiset does."""

    def __init__(self):
        super().__init__()
        self.filter = Filter(500, 1e-9, kind="counting", seed=9)
        self.model = {}

    @rule(key=KEY)
    def add(self, key):
        k = canonical(key)
        self.filter.add(key)
        self.model[k] = self.model.get(k, 0) + 1

    @rule(key=KEY)
    def check(self, key):
        assert (key in self.filter) == (self.model.get(canonical(key), 0) > 0)

    @rule(data=st.data())
    def remove(self, data):
        if self.model:
            k = data.draw(st.sampled_from(sorted(self.model)))
            self.filter.remove(k)
            self.model[k] -= 1
            if not self.model[k]:
                del self.model[k]

    @rule()
    def clear(self):
        self.filter.clear()
        self.model.clear()

    @rule()
    def through_bytes(self):
        self.filter = Filter.from_bytes(self.filter.to_bytes())

    @invariant()
    def all_there(self):
        assert all(k in self.filter for k in self.model)


Counting.TestCase.settings = settings(SAME, max_examples=50, stateful_step_count=30)
TestCounting = Counting.TestCase
