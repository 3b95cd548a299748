"""An Online CRP in shards: what is counted is exact, what is learned is close, workers are no part.

The oracle is the same stream learned row by row.
"""

import numpy as np
import pytest

from infinimix import OnlineCRPClassifier, execution
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.weighting import ROWS_WITH

N, TOPICS = 1200, 4
rng = np.random.default_rng(0)
WORDS = rng.dirichlet(np.full(60, 0.15), size=TOPICS)
LABELS = rng.integers(TOPICS, size=2 * N)
TEXTS = [" ".join(f"w{w}" for w in rng.choice(60, 12, p=WORDS[c])) for c in LABELS]
Y = [f"topic {c}" for c in LABELS]


def learn(**options):
    return OnlineCRPClassifier(random_state=0, **options).fit(TEXTS[:N], Y[:N])


@pytest.fixture(scope="module")
def alone():
    return learn()


@pytest.fixture(scope="module")
def sharded():
    return learn(n_shards=4, shard_rows=50)


def test_rows_and_words_are_counted_exactly(alone, sharded):
    np.testing.assert_array_equal(sharded.class_count_, alone.class_count_)
    np.testing.assert_array_equal(sharded.classes_, alone.classes_)
    one, other = (model._state.learner.model for model in (alone, sharded))
    np.testing.assert_array_equal(
        one.weights.words[:, ROWS_WITH], other.weights.words[:, ROWS_WITH]
    )
    assert one.family.known[0] == other.family.known[0]
    assert one.course[at.STEPS] == other.course[at.STEPS] == N
    assert one.weights.rows[0] == other.weights.rows[0] == N


def test_without_corrections_all_statistics_are_those_of_one_learner():
    plain = {"negative": 0.0, "refine": 0.0, "weighting": "counts", "calibrate": False}
    one, other = (learn(**plain, **more) for more in ({}, {"n_shards": 4, "shard_rows": 50}))
    a, b = (model._state.learner.model for model in (one, other))
    np.testing.assert_allclose(b.stats.n, a.stats.n, rtol=0, atol=1e-9)
    np.testing.assert_allclose(b.stats.total, a.stats.total, rtol=1e-12)
    np.testing.assert_allclose(b.stats.t, a.stats.t, rtol=1e-5)


def test_answers_are_nearly_as_good(alone, sharded):
    right, log_loss = {}, {}
    for name, model in {"alone": alone, "sharded": sharded}.items():
        proba = model.predict_proba(TEXTS[N:])
        told = np.searchsorted(model.classes_, Y[N:])
        right[name] = (proba.argmax(axis=1) == told).mean()
        log_loss[name] = -np.log(proba[np.arange(N), told]).mean()
    assert right["sharded"] > right["alone"] - 0.02
    assert log_loss["sharded"] < log_loss["alone"] + 0.05


def test_workers_are_no_part_of_the_answer(sharded):
    with execution.threads(3):
        other = learn(n_shards=4, shard_rows=50)
    np.testing.assert_array_equal(other.predict_proba(TEXTS), sharded.predict_proba(TEXTS))


def test_a_single_shard_of_all_rows_is_the_stream(alone):
    once = learn(n_shards=2, shard_rows=N)  # the second shard has no rows
    np.testing.assert_array_equal(once.predict_proba(TEXTS), alone.predict_proba(TEXTS))


def test_a_model_of_shards_goes_on_as_a_stream(sharded):
    model = learn(n_shards=4, shard_rows=50).partial_fit(["w1 zebra"], ["zoo"])
    assert "zoo" in model.classes_
    assert model.class_count_.sum() == N + 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("columns", "auto"), ("algorithm", "sampled"), ("decision", "sample"), ("half_life", 9.0),
     ("alpha_rule", "posterior-published"), ("max_classes", 3), ("max_features", 9)],
)  # fmt: skip
def test_what_cannot_be_merged_is_refused(name, value):
    with pytest.raises(ValueError, match=f"n_shards=2 does not go with {name}="):
        learn(n_shards=2, **{name: value})


def test_rows_without_label_and_wrong_numbers_are_refused():
    with pytest.raises(ValueError, match="Row 1 has no label"):
        OnlineCRPClassifier(n_shards=2, open_world=True).fit(["a", "b"], ["x", None])
    with pytest.raises(ValueError, match="n_shards"):
        OnlineCRPClassifier(n_shards=0).fit(["a"], ["x"])
