import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from infinimix import AClassClassifier
from infinimix.evaluation.importance import measure_importance, measure_number_importance
from infinimix.evaluation.predictions import cross_validate, judge_held_out
from infinimix.evaluation.regression import PredictedNumbers

SMALL = {"effort": "fast", "n_islands": 1, "n_particles": 2, "sweeps": 0, "calibrate": False}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    good = rng.random(200) < np.where(y == 1, 0.9, 0.1)
    own = rng.random(200) < np.where(y == 1, 0.8, 0.2)
    X = pd.DataFrame({"noise": rng.random(200) < 0.5, "good": good, "copy": good, "own": own})
    return X.astype(float), y


def test_hiding_by_blocks_is_hiding_by_holes(table):
    X, y = table
    found = cross_validate(AClassClassifier(**SMALL), X, y)
    for one in measure_importance(found):
        alone, beyond = [], []
        for k, model in enumerate(found.models):
            own = found.model_of == k
            rows, codes = found.rows[own], found.y[own]

            def log_p(shown, rows=rows, codes=codes, model=model):
                hidden = rows.copy()
                hidden[[c for c in rows if c not in shown]] = np.nan
                return model.predict_log_proba(hidden)[np.arange(len(codes)), codes]

            alone += list(log_p([one.name]) - log_p([]))
            beyond += list(log_p(list(X)) - log_p([c for c in X if c != one.name]))
        assert one.alone.value == pytest.approx(np.mean(alone))
        assert one.beyond.value == pytest.approx(np.mean(beyond))


def test_a_copy_tells_much_alone_and_little_beyond(table):
    X, y = table
    found = {r.name: r for r in measure_importance(cross_validate(AClassClassifier(**SMALL), X, y))}
    assert list(found)[-1] == "noise"
    assert abs(found["noise"].alone.value) < 0.05
    assert found["good"].alone.value > 0.2
    assert found["own"].beyond.value > found["copy"].beyond.value


def test_marks_are_hidden_with_their_column():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    X.loc[(y == 1) & (rng.random(200) < 0.9), "a"] = np.nan
    model = AClassClassifier(**SMALL)
    found = {r.name: r for r in measure_importance(cross_validate(model, X, y))}
    assert model.fit(X, y).marked_ == ("a",)
    assert found["a"].alone.value > 0.3  # it speaks by being missing
    assert abs(found["b"].alone.value) < 0.05


def test_the_error_of_numbers_by_all_shifts_is_taking_the_cell_of_every_other_row(table):
    """The same double loop for a regressor, with rows of two folds."""
    X, _ = (part[:24] for part in table)
    y = np.arange(24.0)
    models = [LinearRegression().fit(X[k::2], y[k::2]) for k in (1, 0)]
    of = np.arange(24) % 2
    found = PredictedNumbers(y, y, y, y, y, 0.9, None, X, models, of)
    for one in measure_number_importance(found, most_shuffles=23):
        rise = np.empty(24)
        for i in range(24):
            own, model = X[of == of[i]], models[of[i]]
            others = pd.concat([X.iloc[[i]]] * 11, ignore_index=True)
            others[one.name] = own[one.name].drop(index=i).to_numpy()
            full = abs(model.predict(X.iloc[[i]])[0] - y[i])
            rise[i] = np.abs(model.predict(others) - y[i]).mean() - full
        assert one.shuffled.value == pytest.approx(rise.mean())
        half = 1.96 * rise.std(ddof=1) / np.sqrt(24)
        assert one.shuffled.high - one.shuffled.value == pytest.approx(half, rel=1e-3)


def test_numbers_without_models_have_no_importance():
    y = np.arange(5.0)
    assert measure_number_importance(PredictedNumbers(y, y, y, y, y, 0.9)) == []


def test_shuffling_by_all_shifts_is_taking_the_cell_of_every_other_row(table):
    """With as many shuffles as other rows, nothing is random: compare with a plain double loop."""
    X, y = (part[:24] for part in table)
    model = AClassClassifier(**SMALL).fit(*(part[100:] for part in table))
    found = judge_held_out(model, X, y)
    for one in measure_importance(found, hide=False, most_shuffles=23):
        loss = []
        for i in range(24):
            others = pd.concat([X.iloc[[i]]] * 23, ignore_index=True)
            others[one.name] = X[one.name].drop(index=i).to_numpy()
            loss.append(-np.log(model.predict_proba(others)[:, y[i]]).mean())
        rise = np.array(loss) - found.losses
        assert one.shuffled.value == pytest.approx(rise.mean())
        half = 1.96 * rise.std(ddof=1) / np.sqrt(24)
        assert one.shuffled.high - one.shuffled.value == pytest.approx(half, rel=1e-3)
        assert one.alone is None


def test_importance_of_any_classifier(table):
    X, y = table
    found = measure_importance(cross_validate(GaussianNB(), X, y))
    assert [one.name for one in found][-1] == "noise"
    assert found[0].shuffled.low > 0.05
    assert found[0].alone is None  # it does not answer with cells missing
