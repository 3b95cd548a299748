"""Relevance in streams: the columns that tell are found, however the rows are cut into calls."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.special import betaln

from infinimix import AClassClassifier, artifacts, load, save
from infinimix.artifacts import ArtifactError
from infinimix.families.base_measures import STRENGTH
from tests.unit.estimators.aclass.test_relevance import X, Y

ORDER = np.random.default_rng(7).permutation(len(Y))
ROWS, LABELS = X.iloc[ORDER].reset_index(drop=True), Y[ORDER]
COLUMNS = {
    "left": "binary", "right": "binary", "coin": "binary", "size": "real", "noise": "real",
    "colour": "categorical",
}  # fmt: skip


def stream(cuts=(), labels=LABELS, **parameters):
    """Learn all rows in the parts that `cuts` leave."""
    defaults = {"effort": "fast", "random_state": 0, "relevance": "learn", "holes": "ignore"}
    model = AClassClassifier(COLUMNS, **defaults | parameters)
    for first, last in zip((0, *cuts), (*cuts, len(labels)), strict=True):
        model.partial_fit(ROWS[first:last], labels[first:last], classes=[0, 1])
    return model


@pytest.fixture(scope="module")
def whole():
    return stream()


def test_columns_that_tell_are_told_apart(whole):
    found = dict(zip(ROWS.columns, whole.feature_relevance_, strict=True))
    assert found["size"] > 0.9
    assert max(found["coin"], found["noise"], found["colour"]) < 0.5


def test_shared_columns_say_nothing_of_the_class(whole):
    other = ROWS.assign(coin=1.0 - ROWS["coin"].fillna(0.0), noise=5.0, colour="red")
    shared = whole.feature_relevance_ < 0.5
    assert shared[[2, 4, 5]].all()  # those that are changed
    assert np.array_equal(whole.predict_proba(ROWS), whole.predict_proba(other))
    assert not np.allclose(whole.score_samples(ROWS), whole.score_samples(other))


@pytest.mark.parametrize("cuts", [(1, 2, 3, 50), (64, 65, 127, 128, 190), tuple(range(1, 40))])
def test_any_cutting_into_calls_gives_the_same_model(whole, cuts):
    parts = stream(cuts)
    assert np.array_equal(parts.feature_relevance_, whole.feature_relevance_)
    assert np.array_equal(parts.predict_proba(ROWS), whole.predict_proba(ROWS))


def test_rows_without_labels_may_come_in_any_parts():
    labels = np.array(LABELS, dtype=object)
    labels[5::4] = None
    models = [stream(cuts, labels, n_label_particles=2) for cuts in ((), (7, 8, 30, 99))]
    assert np.array_equal(*(m.feature_relevance_ for m in models))
    assert np.array_equal(*(m.predict_proba(ROWS) for m in models))


def test_a_file_goes_on_where_it_stopped(whole):
    half, file = stream(labels=LABELS[:90]), io.BytesIO()
    save(half, file)
    again = load(io.BytesIO(file.getvalue()))
    assert np.array_equal(again.feature_relevance_, half.feature_relevance_)
    again.partial_fit(ROWS[90:], LABELS[90:])
    assert np.array_equal(again.feature_relevance_, whole.feature_relevance_)
    assert np.array_equal(again.predict_proba(ROWS), whole.predict_proba(ROWS))


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("inclusion", lambda v: v + 2.0),
        ("inclusion", lambda v: v[:-1]),
        ("inclusion", lambda v: v * np.nan),
        ("stats", lambda v: [own - 1e6 for own in v]),
        ("stats", lambda v: [own[:-1] for own in v]),
        ("stats", lambda v: v[:-1]),
    ],
)
def test_a_wrong_file_is_refused(whole, name, edit):
    file = io.BytesIO()
    save(whole, file)
    kind, tree, _ = artifacts.read(io.BytesIO(file.getvalue()))
    tree["stream_relevance"][name] = edit(tree["stream_relevance"][name])
    broken = io.BytesIO()
    artifacts.write(broken, kind, tree, library_version="0.1.0")
    with pytest.raises(ArtifactError):
        load(io.BytesIO(broken.getvalue()))


def test_the_inclusion_is_that_of_the_bayes_factors():
    """Four rows of two binary columns: all by hand, with the share of relevant columns summed."""
    table, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 0, 1, 1]
    model = AClassClassifier("binary", relevance="learn", effort="fast", random_state=0)
    found = model.partial_fit(table, y).feature_relevance_
    a = 0.5 * STRENGTH["binary"]  # of zeros and of ones: half of all cells are ones

    def log_b(zeros, ones):
        return betaln(a + zeros, a + ones) - betaln(a, a)

    log_f = np.array([log_b(2, 0) + log_b(0, 2), 2 * log_b(1, 1)]) - log_b(2, 2)
    s = (np.arange(4000) + 0.5) / 4000
    likelihood = 1 - s[:, None] + s[:, None] * np.exp(log_f)
    weight = likelihood.prod(axis=1) / likelihood.prod(axis=1).sum()
    expected = weight @ (s[:, None] * np.exp(log_f) / likelihood)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_noise_does_not_drown_a_few_columns():
    """Five columns that differ by class among 100 that are coins: of 400 rows half are asked."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    told = (rng.random((400, 5)) < np.where(y[:, None] == 1, 0.85, 0.15)).astype(int)
    table = pd.DataFrame(np.hstack([told, rng.integers(0, 2, (400, 100))])).add_prefix("c")
    options = {"effort": "fast", "random_state": 0}
    losses = {}
    for relevance in ("learn", "all"):
        model = AClassClassifier("binary", relevance=relevance, **options)
        p = model.partial_fit(table[:200], y[:200]).predict_proba(table[200:])
        losses[relevance] = -np.log(p[np.arange(200), y[200:]]).mean()
    assert losses["learn"] < losses["all"] - 0.1
