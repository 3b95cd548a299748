"""Partitions that a cluster reads: the model of the table in memory, and no rows at the caller.

`INFINIMIX_SEEDS` also asks clusters of one and of four workers, and kills a worker in 20 runs.
"""

import os
import pickle
import random
import signal
import threading
import time
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from infinimix import (
    AClassClassifier,
    CRPImputer,
    CRPMixture,
    DPMeans,
    DPMeansSVC,
    FiniteMixtureClassifier,
    GibbsInfiniteSVC,
    MaxMarginDPMeans,
    execution,
    read_partitions,
)
from infinimix.tables import partition_sources
from infinimix.tables.partitioned import PartitionedTable
from tests.clusters import start_cluster

pytest.importorskip("distributed", reason="needs infinimix[dask]")
pl = pytest.importorskip("polars", reason="Parquet needs polars or PyArrow")
MANY = "INFINIMIX_SEEDS" in os.environ
WORKERS = (1, 2, 4) if MANY else (2,)
N = 360
rng = np.random.default_rng(0)
Y = rng.integers(3, size=N)
Z = rng.normal(size=N)
FRAME = pd.DataFrame(
    {
        "bit": rng.integers(2, size=N),
        "size": np.where(rng.random(N) < 0.1, np.nan, Z + Y),
        "weight": np.where(rng.random(N) < 0.15 * Y, np.nan, Z + Y + 0.4 * rng.normal(size=N)),
        "skewed": np.exp(1.5 * rng.normal(size=N) + Y),
        "spiked": np.where(rng.random(N) < 0.4, 0.0, rng.exponential(size=N)),
        "word": [f"w{i // 170}" for i in range(N)],  # w2 is in the last partition only
        "kind": [f"class {c}" for c in Y],
    }
)
ROWS = FRAME.drop(columns="kind")
FEW = {"n_islands": 2, "n_particles": 2, "random_state": 0}
OPTIONS = {
    "default": {},
    "fast": {"effort": "fast"},
    "marked": {"holes": "mark", "correction": "none"},
    "not calibrated": {"calibrate": False, "alpha": 1.0, "prior": "reference"},
    "swept": {"sweeps": 2},
    "by one worker": {"sweeps": 2, "class_weight": "balanced"},
}


SOME = [None if i % 5 == 0 else label for i, label in enumerate(FRAME["kind"])]
FINITE = {
    "labels for all": {"n_components": 2, "n_init": 2},
    "owned, weighed": {
        "n_components": 1, "n_init": 1, "class_model": "owned", "class_weight": "balanced",
        "unlabelled_weight": 0.5,
    },
    "cut, by BIC": {"n_components": "bic", "n_init": 2, "bins": 3},
}  # fmt: skip


SCALED = {"s": 1.0, "lam": 400.0, "random_state": 0}
BY_ONE = {
    "max-margin": (MaxMarginDPMeans(**SCALED, max_iter=3), "predict_proba"),
    "clusters": (DPMeans(lam=400.0, n_init=1, random_state=0), "divergences"),
    "clusters, then SVMs": (DPMeansSVC(lam=400.0, random_state=0), "predict_proba"),
    "sampled": (GibbsInfiniteSVC(n_iter=3, burn_in=1, random_state=0), "predict_proba"),
    "imputer": (CRPImputer(**FEW), "transform"),
}


@pytest.fixture(scope="module", params=WORKERS)
def client(request):
    with start_cluster(request.param) as client:
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for i, (a, b) in enumerate([(0, 100), (100, 100), (100, 130), (130, 360)]):  # one is empty
        part = pl.DataFrame(FRAME.iloc[a:b].to_dict("list"), schema_overrides={"word": pl.String})
        holes = pl.col("size", "weight").cast(float).fill_nan(None)
        part = part if b > a else pl.DataFrame(FRAME.to_dict("list")).clear()
        part.with_columns(holes).write_parquet(folder / f"{i}.parquet")
    return folder


def refuse(*_):
    raise AssertionError("rows are read in the calling process")


def learn(table, options):
    model = AClassClassifier(**{**FEW, **options}).fit(table, "kind")
    return model


def assert_same(found, expected):
    assert found.columns_ == expected.columns_
    assert found.marked_ == expected.marked_
    assert found._schema == expected._schema
    np.testing.assert_array_equal(found.predict_proba(ROWS), expected.predict_proba(ROWS))
    np.testing.assert_array_equal(found.class_count_, expected.class_count_)
    assert found.log_evidence_ == expected.log_evidence_
    np.testing.assert_array_equal(found.loo_log_loss_, expected.loo_log_loss_)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_executor_learns_the_model_of_the_table_in_memory(client, folder, options):
    with execution.serial():
        alone = AClassClassifier(**{**FEW, **options}).fit(ROWS, FRAME["kind"])
    executors = [execution.dask(client)]
    if options == OPTIONS["fast"]:
        executors += [execution.serial(), execution.threads(2), execution.processes(2)]
    for executor in executors:
        with executor:
            assert_same(learn(read_partitions(folder), options), alone)


def test_columns_in_doubt_have_the_kinds_that_the_table_in_memory_chooses(client, tmp_path):
    y, code = np.arange(360) % 15, rng.integers(0, 6, 360)
    frame = pd.DataFrame(
        {
            "codes": rng.permutation(12)[2 * code + y % 2],  # which the rule takes for numbers
            "steps": np.clip(np.rint(0.5 * y + rng.normal(size=360)), 0, 7).astype(int),  # codes
            "size": rng.normal(size=360),
            "kind": [f"class {c}" for c in y],
        }
    )
    for i in range(3):
        pl.DataFrame(frame[120 * i : 120 * i + 120].to_dict("list")).write_parquet(
            tmp_path / f"{i}.parquet"
        )
    rows = frame.drop(columns="kind")
    with execution.serial():
        alone = AClassClassifier(**FEW).fit(rows, frame["kind"])
    assert alone.columns_ == {"codes": "categorical", "steps": "real", "size": "real"}
    for executor in (execution.dask(client), execution.processes(2)):
        with executor:
            found = AClassClassifier(**FEW).fit(read_partitions(tmp_path), "kind")
        assert found._schema == alone._schema
        np.testing.assert_array_equal(found.predict_proba(rows), alone.predict_proba(rows))


def test_islands_of_a_mixture_learn_partitions_as_the_table_in_memory(client, folder):
    with execution.serial():
        alone = CRPMixture(**FEW).fit(FRAME)
    with execution.dask(client):
        found = CRPMixture(**FEW).fit(read_partitions(folder))
    assert found.columns_ == alone.columns_
    assert found.log_evidence_ == alone.log_evidence_
    np.testing.assert_array_equal(found.labels_, alone.labels_)
    np.testing.assert_array_equal(found.score_samples(FRAME), alone.score_samples(FRAME))


@pytest.mark.parametrize("name", FINITE)
def test_shards_of_a_finite_mixture_learn_partitions_as_the_table_in_memory(
    client, folder, name, monkeypatch
):
    monkeypatch.setattr(partition_sources, "read_range", refuse)
    labels = FRAME["kind"] if name == "labels for all" else SOME
    with patch("infinimix.inference.finite.shards.ROWS", 64):  # so that there are six
        alone, found = (
            FiniteMixtureClassifier(max_iter=4, random_state=0, **FINITE[name]) for _ in range(2)
        )
        with execution.serial():
            alone.fit(ROWS, labels)
        with execution.dask(client):
            if labels is SOME:
                found.fit(read_partitions(folder, drop=["kind"]), labels)
            else:
                found.fit(read_partitions(folder), "kind")
    assert found._schema == alone._schema
    assert found.component_scores_ == alone.component_scores_
    assert found._state.table is None
    np.testing.assert_array_equal(found.unlabelled_gain_, alone.unlabelled_gain_)
    np.testing.assert_array_equal(found.predict_proba(ROWS), alone.predict_proba(ROWS))
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict_proba(ROWS), alone.predict_proba(ROWS))
    with pytest.raises(ValueError, match="fit a table in memory"):
        found.predict_batch(ROWS)


@pytest.mark.filterwarnings("ignore:Clusters hold")
@pytest.mark.parametrize("name", BY_ONE)
def test_models_that_a_worker_learns_are_those_of_the_table_in_memory(
    client, folder, name, monkeypatch
):
    model, asked = BY_ONE[name]
    left_out = [] if name == "imputer" else ["word"]
    rows = ROWS.drop(columns=left_out)
    unlabelled = asked in ("transform", "divergences")
    table = read_partitions(folder, drop=[*left_out, *(["kind"] if unlabelled else [])])
    alone, found = clone(model), clone(model)
    with execution.serial():
        alone.fit(rows, None if unlabelled else FRAME["kind"])
    monkeypatch.setattr(partition_sources, "read_range", refuse)
    with execution.dask(client):
        found.fit(table, None if unlabelled else "kind")
    assert found.feature_names_in_.tolist() == [*rows]
    answers = [np.asarray(getattr(one, asked)(rows)) for one in (found, alone)]
    np.testing.assert_array_equal(*answers)


def test_only_workers_read_and_few_bytes_come_back(client, tmp_path, monkeypatch):
    """What client and scheduler receive, both in this process, is a small part of the table."""
    tcp = pytest.importorskip("distributed.comm.tcp")
    n, d = 400_000, 20
    cells = (np.random.default_rng(1).random((n, d)) < 0.5).astype(np.int8)
    table = pl.DataFrame({**{f"x{j}": cells[:, j] for j in range(d)}, "kind": cells[:, 0] ^ 1})
    for i in range(4):
        table.slice(i * n // 4, n // 4).write_parquet(tmp_path / f"{i}.parquet")
    received, read = [], tcp.read_bytes_rw

    async def count(stream, size):
        received.append(size)
        return await read(stream, size)

    monkeypatch.setattr(tcp, "read_bytes_rw", count)
    monkeypatch.setattr(partition_sources, "read_range", refuse)
    options = {"n_islands": 1, "n_particles": 1, "alpha": 1.0, "prior": "reference"}
    with execution.dask(client):
        model = AClassClassifier(**options, calibrate=False, random_state=0)
        model.fit(read_partitions(tmp_path), "kind")
    assert model.class_count_.sum() == n
    assert 0 < sum(received) < n * d / 10


def test_collections_of_dask_and_labels_apart(client, monkeypatch):
    dd = pytest.importorskip("dask.dataframe", reason="needs infinimix[dask]")
    da = pytest.importorskip("dask.array", reason="needs infinimix[dask]")
    options = {**FEW, "effort": "fast"}
    alone = AClassClassifier(**options).fit(ROWS, FRAME["kind"])
    frame = dd.from_pandas(FRAME, npartitions=3)
    numbers = ROWS[["bit", "size"]].to_numpy()
    bare = AClassClassifier(**options).fit(numbers, Y).predict_proba(numbers)
    with execution.dask(client):
        assert_same(AClassClassifier(**options).fit(frame, "kind"), alone)
        rows = frame.drop(columns="kind")
        assert_same(AClassClassifier(**options).fit(rows, frame["kind"]), alone)
        assert_same(AClassClassifier(**options).fit(rows, FRAME["kind"].tolist()), alone)
        found = AClassClassifier(**options).fit(da.from_array(numbers, chunks=(100, 1)), Y)
    np.testing.assert_array_equal(found.predict_proba(numbers), bare)


def test_what_needs_all_rows_is_learned_by_one_worker(client, tmp_path):
    """Dates, rows without labels, and text among numbers."""
    some = [None if i % 5 == 0 else label for i, label in enumerate(FRAME["kind"])]
    days = pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d")
    tables = {
        "dates": FRAME.assign(day=days),
        "some labels": FRAME.assign(kind=some),
        "mixed": FRAME.assign(code=[f"{i % 7:02d}" if i < 300 else "x" for i in range(N)]),
    }
    for name, table in tables.items():
        (tmp_path / name).mkdir()
        for i in range(3):
            table.iloc[120 * i : 120 * (i + 1)].to_csv(tmp_path / name / f"{i}.csv", index=False)
        found = []
        for executor in (execution.serial(), execution.dask(client)):
            with executor:
                found.append(learn(read_partitions(tmp_path / name), {"effort": "fast"}))
        rows = table.drop(columns="kind")
        assert found[0].columns_ == found[1].columns_
        np.testing.assert_array_equal(*[model.predict_proba(rows) for model in found], name)


def test_generators_go_on_as_they_would(client, folder):
    for options in ({"effort": "fast"}, {"effort": "fast", "sweeps": 1}):
        left = []
        for executor in (execution.serial(), execution.dask(client)):
            rng = np.random.default_rng(5)
            with executor:
                learn(read_partitions(folder), {**options, "random_state": rng})
            left.append(rng.integers(2**62))
        assert left[0] == left[1]


def test_refusals_are_those_of_the_table_in_memory(client, tmp_path):
    bad = FRAME.assign(size=np.where(np.arange(N) == 250, np.inf, FRAME["size"]))
    odd = FRAME.assign(kind=np.where(np.arange(N) == 250, 1.5, 1.0))
    for name, table, message in (("bad", bad, "row 250"), ("odd", odd, "1.5 in row 250")):
        (tmp_path / name).mkdir()
        for i in range(3):
            table.iloc[120 * i : 120 * (i + 1)].to_csv(tmp_path / name / f"{i}.csv", index=False)
        with execution.dask(client), pytest.raises(ValueError, match=message):
            learn(read_partitions(tmp_path / name), {"effort": "fast"})
    with execution.dask(client):
        model = learn(read_partitions(tmp_path / "bad", drop=["size"]), {"effort": "fast"})
        with pytest.raises(ValueError, match="fit a table in memory"):
            model.predict_proba_batch(ROWS.drop(columns="size"))
        with pytest.raises(ValueError, match="sample_weight is for tables in memory"):
            AClassClassifier().fit(read_partitions(tmp_path / "bad"), "kind", sample_weight=[1] * N)


def assert_nothing_left(client):
    def left(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks if "infinimix" in str(key)]

    for _ in range(100):
        if not client.run_on_scheduler(left):
            break
        time.sleep(0.1)
    assert client.run_on_scheduler(left) == []


def test_nothing_is_left_on_the_cluster(client, folder):
    with execution.dask(client):
        learn(read_partitions(folder), {"effort": "fast"})
    assert_nothing_left(client)


def test_who_stops_between_steps_of_em_leaves_nothing_behind(client, folder):
    model = FiniteMixtureClassifier(n_components=2, n_init=1, max_iter=4, random_state=0)
    stop = patch("infinimix.inference.finite.em.share", side_effect=[KeyboardInterrupt])
    with (
        patch("infinimix.inference.finite.shards.ROWS", 64), execution.dask(client), stop,
        pytest.raises(KeyboardInterrupt),
    ):  # fmt: skip
        model.fit(read_partitions(folder), "kind")
    assert not model.__sklearn_is_fitted__()
    assert_nothing_left(client)


def test_a_partition_that_ends_workers_is_named(client, folder):
    class Deadly:
        name = "data/9.parquet"

        def frames(self, text=()):
            os._exit(1)

    def allow(n):
        def tell(dask_scheduler):
            before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, n
            return before

        return client.run_on_scheduler(tell)

    table = read_partitions(folder)
    deadly = PartitionedTable([*table.parts, Deadly()], table.columns)
    before = allow(0)
    try:
        with execution.dask(client), pytest.raises(MemoryError, match="data/9.parquet"):
            FiniteMixtureClassifier().fit(deadly, "kind")
    finally:
        allow(before)


@pytest.mark.skipif(not MANY, reason="20 clusters")
@pytest.mark.parametrize("run", range(20))
def test_a_worker_killed_at_any_time_changes_nothing(run, folder):
    seconds = 5 * random.Random(run).random()
    expected = learn(read_partitions(folder), {})
    with start_cluster(2) as client:
        victim = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(seconds, os.kill, (victim, signal.SIGKILL))
        timer.start()
        with execution.dask(client):
            found = learn(read_partitions(folder), {})
        timer.join()
    assert_same(found, expected)
