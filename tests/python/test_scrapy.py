# SPDX-License-Identifier: MIT
"""Real spiders on a site of 1 500 pages (5 000 with BLM_LONG=1): coverage with and without the filter, killed and resumed, and two that
share one filter on a real Redis."""
import collections
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("scrapy")
import bloomery  # noqa: E402
from bloomery import scrapy as ours  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "redis"))
PAGES = 5000 if os.environ.get("BLM_LONG") else 1500
OURS = "bloomery.scrapy.DupeFilter"


@pytest.fixture(scope="module")
def port():
    site = subprocess.Popen([sys.executable, HERE / "website.py", str(PAGES)], stdout=subprocess.PIPE)
    yield int(site.stdout.readline())
    site.kill()
    site.wait()


@pytest.fixture
def redis(tmp_path):
    import server
    if not Path(server.MODULE).exists():
        pytest.skip("the Redis module is not built")
    with server.Server() as s:
        yield s


class Crawl:
    def __init__(self, port, out, **settings):
        self.out = Path(out)
        self.log = Path(str(out) + ".log")
        options = [w for k, v in settings.items() for w in ("-s", f"{k}={v}")]
        with self.log.open("a") as log:
            self.process = subprocess.Popen([sys.executable, "-m", "scrapy", "runspider", HERE / "spider.py", "-a", f"port={port}",
                                             "-a", f"out={out}", *options], stderr=log, cwd=self.out.parent)

    def wait(self):
        try:
            assert self.process.wait(600) == 0, self.log.read_text()[-3000:]
        finally:
            self.process.kill()
        return self

    def pages(self):
        return collections.Counter(self.out.read_text().split())

    def stat(self, name):
        return float(re.findall(rf"'{re.escape(name)}': ([\d.e+-]+)", self.log.read_text())[-1])


@pytest.fixture(scope="module")
def plain(port, tmp_path_factory):
    """What Scrapy's own filter, a set, fetches."""
    return Crawl(port, tmp_path_factory.mktemp("plain") / "out").wait().pages()


def test_equal_coverage_and_the_stats(port, plain, tmp_path):
    c = Crawl(port, tmp_path / "out", DUPEFILTER_CLASS=OURS).wait()
    # Redirects make the order of requests, and so which spelling comes first, a matter of chance.
    assert set(c.pages()) == set(plain)
    assert len(c.pages()) >= PAGES
    assert c.stat("bloomery/rate") <= 1e-6
    assert c.stat("bloomery/keys") == c.stat("bloomery/new") >= len(plain)
    assert 0 < c.stat("bloomery/skipped_wrongly_expected") < 0.05
    assert c.stat("dupefilter/filtered") > PAGES
    assert c.stat("bloomery/bytes") < 200 * PAGES


def test_killed_and_resumed(port, plain, tmp_path):
    settings = dict(DUPEFILTER_CLASS=OURS, JOBDIR=tmp_path / "job", BLOOMERY_CAPACITY=50_000)
    first = Crawl(port, tmp_path / "out", **settings)
    deadline = time.monotonic() + 120
    while not (tmp_path / "out").exists() or len((tmp_path / "out").read_text().split()) < PAGES // 5:
        assert time.monotonic() < deadline and first.process.poll() is None, first.log.read_text()[-3000:]
        time.sleep(0.05)
    first.process.send_signal(signal.SIGTERM)       # Scrapy finishes what it has begun and writes its queue
    first.wait()
    before = first.pages()
    assert len(before) < len(plain)
    c = Crawl(port, tmp_path / "out", **settings).wait()
    assert set(c.pages()) == set(plain)
    assert c.stat("bloomery/keys") > c.stat("bloomery/new")


def test_a_kill_forgets_nothing_that_was_seen(tmp_path):
    """SIGKILL between two requests: what request_seen answered "new" to is "seen" afterwards."""
    code = ("import os, sys; from bloomery.scrapy import DupeFilter; from scrapy.settings import Settings; from scrapy.http import Request\n"
            "d = DupeFilter.from_settings(Settings({'JOBDIR': sys.argv[1]}))\n"
            "for i in range(1000): assert not d.request_seen(Request(f'http://a/{i}'))\n"
            "os.kill(os.getpid(), 9)")
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(tmp_path)]).returncode == -9
    from scrapy.http import Request
    from scrapy.settings import Settings
    d = ours.DupeFilter.from_settings(Settings({"JOBDIR": str(tmp_path)}))
    assert all(d.request_seen(Request(f"http://a/{i}")) for i in range(1000))
    assert not d.request_seen(Request("http://a/new"))
    d.close("finished")


def test_two_spiders_share_one_filter(port, plain, redis, tmp_path):
    url = f"redis://127.0.0.1:{redis.port}/0"
    both = [Crawl(port, tmp_path / f"out{i}", DUPEFILTER_CLASS=OURS, BLOOMERY_REDIS_URL=url, BLOOMERY_CAPACITY=100_000) for i in (1, 2)]
    for c in both:
        c.wait()
    fetched = both[0].pages() + both[1].pages()
    # Start requests are not filtered, and a redirect's target is asked for by nobody else.
    assert set(fetched) == set(plain)
    new = sum(c.stat("bloomery/new") for c in both)
    assert new == both[-1].stat("bloomery/keys") or new == both[0].stat("bloomery/keys")


def test_two_spiders_share_one_filter_on_a_cluster(port, plain, tmp_path):
    import server
    from cluster import Cluster
    if not Path(server.MODULE).exists():
        pytest.skip("the Redis module is not built")
    with Cluster(server.REDIS) as nodes:
        url = ",".join(f"127.0.0.1:{n.port}" for n in nodes.nodes[:2])
        both = [Crawl(port, tmp_path / f"out{i}", DUPEFILTER_CLASS=OURS, BLOOMERY_CAPACITY=100_000,
                      BLOOMERY_REDIS_URL=f"redis+cluster://{url}/visited?shards=6&timeout=300") for i in (1, 2)]
        for c in both:
            c.wait()
    assert set(both[0].pages() + both[1].pages()) == set(plain)
    new = [c.stat("bloomery/new") for c in both]
    assert sum(new) in [c.stat("bloomery/keys") for c in both]


class Spider:
    """As much of a spider as scrapy-redis's scheduler hands over."""

    name = "shop"

    def __init__(self, **settings):
        from scrapy.settings import Settings
        from scrapy.statscollectors import MemoryStatsCollector
        self.settings = Settings(settings)
        self.crawler = self
        self.stats = MemoryStatsCollector(type("C", (), {"settings": self.settings})())


def test_under_scrapy_redis(redis):
    import redis as client
    from scrapy.http import Request
    spider = Spider(REDIS_URL=f"redis://127.0.0.1:{redis.port}/0")
    d = ours.DupeFilter.from_spider(spider)
    assert [d.request_seen(Request(u)) for u in ("http://a/?x=1&y=2", "http://a/?y=2&x=1", "http://a/")] == [False, True, False]
    assert len(d.request_fingerprint(Request("http://a/"))) == 40
    assert client.Redis(port=redis.port).keys() == [b"shop:dupefilter:bloom"]
    d.log(Request("http://a/"), spider)
    assert spider.stats.get_value("dupefilter/filtered") == 1
    d.clear()
    assert not d.request_seen(Request("http://a/"))
    d.close("finished")
    assert spider.stats.get_value("bloomery/keys") == 1


def test_a_lost_answer_counts_as_new(redis):
    from scrapy.http import Request
    d = ours.DupeFilter.from_spider(Spider(REDIS_HOST="127.0.0.1", REDIS_PORT=redis.port))
    assert not d.request_seen(Request("http://a/"))
    redis.process.send_signal(signal.SIGKILL)
    redis.process.wait()
    assert not d.request_seen(Request("http://a/"))
    assert d.store.lost == 1


def test_a_server_without_the_commands(tmp_path):
    import server
    with server.Server(module=None) as s:
        with pytest.raises(bloomery.UnsupportedError, match="BF"):
            ours.DupeFilter.from_spider(Spider(REDIS_HOST="127.0.0.1", REDIS_PORT=s.port))


def test_import_of_a_set(redis, tmp_path, capsys):
    import hashlib
    import redis as client
    r = client.Redis(port=redis.port)
    prints = [hashlib.sha1(b"%d" % i).hexdigest() for i in range(20_000)]
    for i in range(0, len(prints), 5000):
        r.sadd("shop:dupefilter", *prints[i:i + 5000])
    r.sadd("shop:dupefilter", "not a fingerprint")
    url = f"redis://127.0.0.1:{redis.port}/0"
    to = str(tmp_path / "seen.blm")
    # Stopped half-way: the note says where, and a second call goes on.
    taken = []

    def stop(keys):
        taken.extend(keys)
        if len(taken) > 5000:
            raise KeyboardInterrupt
    cursors = []
    with pytest.raises(KeyboardInterrupt):
        ours.import_set(r, "shop:dupefilter", stop, batch=1000, note=cursors.append)
    rest, bad = ours.import_set(r, "shop:dupefilter", taken.extend, batch=1000, cursor=cursors[-1])
    assert {t.hex() for t in taken} == set(prints) and bad <= 1
    assert ours.main(["import", url, "shop:dupefilter", "--to", to]) == 0
    said = capsys.readouterr().out
    assert "20,000 fingerprints taken" in said and "1 members were left out" in said and "times less" in said
    with bloomery.Filter.open(to) as f:
        assert all(f.check_many([bytes.fromhex(p) for p in prints]))
    assert not Path(to + ".import").exists()
    assert ours.main(["import", url, "shop:dupefilter", "--to", f"{url}#shop:seen"]) == 0
    assert r.execute_command("BF.EXISTS", "shop:seen", bytes.fromhex(prints[7])) == 1
    assert ours.main(["import", url, "none", "--to", to]) == 1


def test_import_keeps_the_password_to_itself(redis, tmp_path, capsys, monkeypatch):
    import redis as client
    r = client.Redis(port=redis.port)
    r.sadd("shop:dupefilter", *(f"{i:040x}" for i in range(100)))
    monkeypatch.chdir(tmp_path)
    r.config_set("requirepass", "p@ss/word")
    url = f"redis://:p%40ss%2Fword@127.0.0.1:{redis.port}/0"

    def stopped(*args, note, **more):
        note(0)
        raise KeyboardInterrupt
    try:
        with monkeypatch.context() as m, pytest.raises(KeyboardInterrupt):
            m.setattr(ours, "import_set", stopped)
            ours.main(["import", url, "shop:dupefilter", "--to", f"{url}#shop:hidden"])
        assert [p.name for p in tmp_path.iterdir()] == [f"redis:__127.0.0.1:{redis.port}_0#shop:hidden.import"]
        assert ours.main(["import", url, "shop:dupefilter", "--to", f"{url}#shop:hidden"]) == 0
        assert not list(tmp_path.iterdir())
        assert ours.main(["import", url, "nothing", "--to", f"{url}#shop:hidden"]) == 1
        said = capsys.readouterr()
        assert "nothing: no such key" in said.err and "word" not in said.out + said.err
        # --state is heard for files too
        with monkeypatch.context() as m, pytest.raises(KeyboardInterrupt):
            m.setattr(ours, "import_set", stopped)
            ours.main(["import", url, "shop:dupefilter", "--to", "seen.blm", "--state", "here"])
        assert sorted(p.name for p in tmp_path.iterdir()) == ["here", "seen.blm"]
    finally:
        client.Redis(port=redis.port, password="p@ss/word").config_set("requirepass", "")
