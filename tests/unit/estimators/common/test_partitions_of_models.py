"""Tables in partitions, for every model that takes them: that of the table in memory."""

import numpy as np
import pandas as pd
import pytest

from infinimix import (
    AClassClassifier,
    BlockmodelBayesNet,
    CRPMixture,
    CRPRegressor,
    DPMeans,
    DPMeansSVC,
    FiniteMixtureClassifier,
    GibbsInfiniteSVC,
    HybridClassifier,
    MaxMarginDPMeans,
    OnlineCRPClassifier,
    read_partitions,
)

N, PART = 90, 30
rng = np.random.default_rng(0)
Y = rng.integers(2, size=N)
FRAME = pd.DataFrame({"a": rng.normal(size=N) + Y, "b": rng.normal(size=N), "y": Y})
ROWS = FRAME[["a", "b"]]
TEXTS = pd.DataFrame({"text": [f"w{c} w{i % 5} goal" for i, c in enumerate(Y)], "y": Y})
FEW = {"n_islands": 2, "n_particles": 2, "random_state": 0}
FITTED = {
    "max-margin": (MaxMarginDPMeans(lam=20.0, s=1.0, max_iter=4, random_state=0), "y"),
    "clusters": (DPMeans(lam=20.0, random_state=0), None),
    "clusters, then SVMs": (DPMeansSVC(lam=20.0, random_state=0), "y"),
    "sampled": (GibbsInfiniteSVC(n_iter=4, burn_in=2, random_state=0), "y"),
    "mixture": (CRPMixture(**FEW), None),
    "aclass": (AClassClassifier(**FEW, effort="fast"), "y"),
    "finite": (FiniteMixtureClassifier(n_components=2, n_init=1, random_state=0), "y"),
    "online": (OnlineCRPClassifier(columns="real", random_state=0), "y"),
}
ANSWERS = (
    "predict", "predict_proba", "decision_function", "predict_cluster", "score_samples",
    "group_proba",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("table"), FRAME)


def write(folder, table):
    for i in range(0, N, PART):
        table.iloc[i : i + PART].to_csv(folder / f"{i:02d}.csv", index=False)
    return folder


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FITTED)
def test_fit_and_answers_of_partitions(name, folder):
    model, target = FITTED[name]
    labels = None if target is None else FRAME["y"]
    table = read_partitions(folder, drop=["y"] if target is None else [])
    found = type(model)(**model.get_params()).fit(table, target)
    expected = model.fit(ROWS, labels)
    assert found.feature_names_in_.tolist() == ["a", "b"]
    asked = [answer for answer in ANSWERS if hasattr(model, answer)]
    if name == "mixture":
        asked.remove("predict_proba")
    for answer in asked:
        whole = getattr(expected, answer)(ROWS)
        np.testing.assert_array_equal(getattr(found, answer)(ROWS), whole, answer)
        if answer == "score_samples" and name in ("clusters", "max-margin"):
            continue
        parts = [*getattr(found, answer)(read_partitions(folder, drop=["y"]))]
        assert [len(part) for part in parts] == [PART] * 3
        np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-12, err_msg=answer)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["max-margin", "clusters", "mixture"])
def test_arrays_of_dask_are_answered_lazily(name):
    da = pytest.importorskip("dask.array", reason="needs infinimix[dask]")
    model, target = FITTED[name]
    model.fit(ROWS.to_numpy(), None if target is None else Y)
    rows = da.from_array(ROWS.to_numpy(), chunks=(40, 1))
    for answer in ("predict", "decision_function", "score_samples", "group_proba"):
        if hasattr(model, answer) and not (name == "clusters" and answer == "score_samples"):
            found = getattr(model, answer)(rows)
            expected = getattr(model, answer)(ROWS.to_numpy())
            assert found.shape == expected.shape
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.compute(), expected, rtol=1e-12)


@pytest.mark.parametrize("table", [TEXTS, FRAME])
def test_a_stream_of_partitions(table, tmp_path):
    kinds = "text" if table is TEXTS else "real"
    rows = table.drop(columns="y")
    found = OnlineCRPClassifier(kinds, random_state=0)
    found.partial_fit(read_partitions(write(tmp_path, table)), "y")
    expected = OnlineCRPClassifier(kinds, random_state=0)
    for i in range(0, N, PART):
        expected.partial_fit(rows.iloc[i : i + PART], Y[i : i + PART])
    np.testing.assert_array_equal(found.predict_proba(rows), expected.predict_proba(rows))
    parts = [*found.predict_proba(read_partitions(tmp_path, drop=["y"]))]
    np.testing.assert_array_equal(np.concatenate(parts), found.predict_proba(rows))


@pytest.mark.filterwarnings("ignore")
def test_mini_batches_of_partitions(folder):
    found, expected = (MaxMarginDPMeans(lam=20.0, s=1.0, random_state=0) for _ in range(2))
    found.partial_fit(read_partitions(folder), "y", classes=[0, 1])
    for i in range(0, N, PART):
        expected.partial_fit(ROWS.iloc[i : i + PART], Y[i : i + PART], classes=[0, 1])
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_refusals_say_what_to_do_instead(folder, tmp_path):
    table = read_partitions(folder)
    for model in (HybridClassifier(), CRPRegressor()):
        with pytest.raises(TypeError, match=f"{type(model).__name__} takes no table in partitions"):
            model.fit(table, "y")
    with pytest.raises(TypeError, match="A network takes no table in partitions; read it into"):
        BlockmodelBayesNet(n_iter=2).fit(table)
    with pytest.raises(TypeError, match="leave n_shards at 1"):
        OnlineCRPClassifier(n_shards=2).fit(read_partitions(write(tmp_path, TEXTS)), "y")
    with pytest.raises(ValueError, match="predicted is for tables in memory"):
        OnlineCRPClassifier("real").partial_fit(table, "y", predicted=[0] * N)
    with pytest.raises(ValueError, match="sample_weight is for tables in memory"):
        MaxMarginDPMeans().fit(table, "y", sample_weight=[2] * N)
    write(tmp_path, FRAME.assign(word="w"))
    with pytest.raises(ValueError, match="word"):
        MaxMarginDPMeans().fit(read_partitions(tmp_path), "y")
