"""The load that benchmarks put on a service: what they count is what was learned."""

import os

import pytest

from bench import serving
from bench.disturbance import Watch
from bench.load import CONNECTIONS, Load
from bench.service_load import encode, make_bodies
from tests.unit.service.running_server import listening


@pytest.mark.parametrize(("rows", "rate"), [(1, None), (100, None), (1, 400.0)])
def test_all_requests_are_answered_and_learned(rows, rate, tmp_path):
    bodies = make_bodies(rows)
    requests = [encode(bodies[k % len(bodies)], k) for k in range(64)]
    with listening(tmp_path) as (url, owner):
        load = Load(int(url.rstrip("/").rpartition(":")[2]), requests, most=40)
        took = load.put(60.0, rate)
        assert not load.refused
        assert load.sent == len(load.latencies) == 40
        assert owner.learner.n_rows == rows * 40
    assert rate is None or took > (40 - CONNECTIONS) / rate


def test_bars_are_told():
    ours, peer = serving.Measured(5000.0, 3.0, 40.0, 0), serving.Measured(100.0, 9.0, 60.0, 0)
    assert serving.compare_speeds("a", [ours], [peer], 4000).meets
    assert not serving.compare_speeds("a", [ours._replace(refused=1)], [peer], 4000).meets
    assert not serving.compare_speeds("a", [ours], [peer], 6000).meets
    assert serving.compare_latencies("a", [ours], [peer], 50.0).meets
    assert serving.compare_latencies("a", [ours], [peer], None).meets is None


def test_bars_are_for_the_median_of_turns():
    turns = [serving.Measured(speed, 3.0, p99, 0) for speed, p99 in [(1, 90), (5000, 9), (6000, 7)]]
    speed = serving.compare_speeds("a", turns, turns, 4000)
    latency = serving.compare_latencies("a", turns, turns, 50.0)
    assert speed.meets
    assert latency.meets
    assert speed.ours == "5,000 (1, 5,000, 6,000)"
    assert latency.ours == "9.0 (90.0, 9.0, 7.0)"


def test_what_others_take_from_the_cores_is_told():
    still = serving.Measured(5000.0, 3.0, 40.0, 0)
    assert serving._tell_disturbance([still]) == []
    told = serving._tell_disturbance([still, still._replace(host=0.5), still])
    assert "to the host 0.00 and 0.50" in told[0]
    watch = Watch([os.getpid()])
    assert all(share >= 0.0 for share in watch.stop())
