import io

import numpy as np
import pandas as pd
import pytest

from infinimix import AClassClassifier, load, save
from infinimix.estimators.aclass.relevance import find_relevance
from infinimix.estimators.common.mixture_estimator import Learned

rng = np.random.default_rng(0)
Y = np.repeat([0, 1], 100)
XOR = np.where(Y == 1, 1 - (left := rng.integers(0, 2, 200)), left)
X = pd.DataFrame(
    {
        "left": left,  # tells only together with the next one
        "right": XOR,
        "coin": rng.integers(0, 2, 200),
        "size": rng.normal(size=200) + 3 * Y,
        "noise": rng.normal(size=200),
        "colour": rng.choice(["red", "green", "blue"], 200),
    }
)
X = X.astype({"coin": float})
X.loc[::9, ["coin", "size", "noise"]] = np.nan


def model(**parameters):
    defaults = {"effort": "fast", "random_state": 0, "relevance": "learn", "holes": "ignore"}
    return AClassClassifier(**defaults | parameters)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(X, Y)


def test_columns_that_tell_are_told_apart(fitted):
    found = dict(zip(X.columns, fitted.feature_relevance_, strict=True))
    assert found["size"] > 0.9
    assert max(found["coin"], found["noise"], found["colour"]) < 0.5
    assert fitted.score(X, Y) > 0.9
    assert (model(relevance="all").fit(X, Y).feature_relevance_ == 1).all()


def test_a_shared_column_says_nothing_of_the_class(fitted):
    before = fitted.predict_proba(X)
    other = X.assign(coin=1.0, colour="red")
    assert np.allclose(fitted.predict_proba(other), before, atol=0.02)


def test_shared_columns_have_the_density_and_the_cells_of_all_rows(fitted):
    row = X.iloc[:1].copy()
    reds = np.exp([fitted.score_samples(row.assign(colour=c))[0] for c in ("red", "green", "blue")])
    shares = [np.mean(X["colour"] == c) for c in ("red", "green", "blue")]
    assert np.allclose(reds / reds.sum(), shares, atol=0.01)
    hole = row.assign(noise=np.nan)
    assert abs(fitted.impute(hole)["noise"].iloc[0] - X["noise"].mean()) < 0.05


def test_saved_models_and_batches(fitted):
    file = io.BytesIO()
    save(fitted, file)
    again = load(io.BytesIO(file.getvalue()))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert np.array_equal(again.feature_relevance_, fitted.feature_relevance_)
    assert again.log_evidence_ == fitted.log_evidence_
    assert np.mean(fitted.predict_batch(X) == Y) > 0.9


def test_bayes_factors_are_those_of_beta_functions():
    """One binary column, one group a class: log F by hand."""
    from scipy.special import betaln, expit

    table, y = np.array([[0.0]] * 6 + [[1.0]] * 6), np.array([0] * 5 + [1] * 7)
    fit = AClassClassifier("binary", max_groups=1, effort="fast", random_state=0).fit(table, y)
    none = np.empty(0)
    found = find_relevance(Learned(fit._state.training.table, y, fit._bank, none, none))
    share = 6.5 / 13  # of ones, pooled; half a row stands behind it
    prior = 0.5 * share, 0.5 * (1 - share)

    def log_b(ones, zeros):
        return betaln(ones + prior[0], zeros + prior[1]) - betaln(*prior)

    alike = max(log_b(6, 6), 6 * log_b(1, 0) + 6 * log_b(0, 1))
    log_f = log_b(0, 5) + log_b(6, 1) - alike  # of classes and groups, which are the same here
    shares = (np.arange(1000) + 0.5) / 1000
    odds = log_f + np.log(shares / (1 - shares))
    weight = np.exp(np.logaddexp(0, odds)) * (1 - shares)
    assert found.inclusion[0] == pytest.approx(weight @ expit(odds) / weight.sum(), abs=1e-6)


def test_a_stream_goes_on_only_as_it_was_begun(fitted):
    with pytest.raises(ValueError, match="relevance='learn'"):
        fitted.partial_fit(X, Y)
    plain = model(relevance="all").partial_fit(X, Y)
    with pytest.raises(ValueError, match="relevance='learn'"):
        plain.set_params(relevance="learn").partial_fit(X, Y)
