"""The second model: which numbers go together, and that it is stacked, saved and goes on."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_t

from infinimix import AClassClassifier, load, save
from infinimix.estimators.aclass import correction, learning
from infinimix.estimators.common import joint_numbers
from infinimix.estimators.common.features import is_number, number_cells
from infinimix.estimators.common.joint_numbers import (
    choose_columns,
    correlation_within,
    find_numbers,
    learn_joint,
    strength_within,
)
from infinimix.tables import encode, read_schema


def rings(n=400, seed=0):
    """Classes of the same means and variances that differ by a correlation of +-.8."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    a, noise = rng.normal(size=(2, n))
    b = 0.8 * np.where(y, 1, -1) * a + 0.6 * noise
    frame = pd.DataFrame({"a": a, "b": b, "c": rng.normal(size=n), "d": rng.integers(2, size=n)})
    # Within a class the columns e and f go together too, in both alike.
    frame["e"] = rng.normal(size=n)
    frame["f"] = frame["e"] + 0.5 * rng.normal(size=n)
    return frame, np.array(["minus", "plus"])[y]


def encoded(frame, columns="auto"):
    schema = read_schema(frame, columns)
    table = encode(schema, frame, learn=True)
    return table._replace(schema=schema.extended(table.novel))


@pytest.fixture(scope="module")
def model():
    return AClassClassifier(random_state=0, n_islands=4).fit(*sums())


def sums(n=500, seed=0):
    """Two classes on either side of a plane through correlated numbers."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n)
    frame = pd.DataFrame({name: common + 0.3 * rng.normal(size=n) for name in "abc"})
    gap = frame["a"] - frame["b"]
    frame["k"] = rng.choice(["u", "v"], n)
    return frame, np.where(np.abs(gap) > 0.3, "far", "near")


def loss(model, X, y):
    p = model.predict_proba(X)
    return -np.log(p[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean()


def test_correlations_are_those_around_the_means_of_classes():
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=200)
    cells = rng.normal(size=(200, 3)) + 5.0 * codes[:, None]
    centred = cells.copy()
    for c in range(3):
        centred[codes == c] -= cells[codes == c].mean(axis=0)
    np.testing.assert_allclose(correlation_within(cells, codes), np.corrcoef(centred.T), atol=1e-12)
    constant = np.column_stack([cells, codes.astype(float)])  # the same within every class
    assert (correlation_within(constant, codes)[3] == 0.0).all()


def test_copies_and_sums_are_left_out():
    x = np.random.default_rng(2).normal(size=(300, 3)) @ np.array(
        [[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]]
    )
    cells = np.column_stack([x, x[:, 0], x.sum(axis=1)])
    codes = np.zeros(300, np.int64)
    R, strength = correlation_within(cells, codes), strength_within(cells, codes)
    assert len(choose_columns(R, strength, 10)) == 3
    assert len(choose_columns(R, strength, 2)) == 2


def test_numbers_are_also_whole_numbers_that_are_categories():
    frame = pd.DataFrame(
        {
            "x": [0.5, 1.5, np.nan] * 4,
            "k": [1, 2, 5] * 4,
            "s": ["1", "2", "3"] * 4,
            "b": [0, 1, 1] * 4,
        }
    )
    table = encoded(frame, {"k": "categorical"})
    assert [is_number(table.schema, j) for j in range(4)] == [True, True, False, False]
    assert number_cells(table, 1)[:3].tolist() == [1.0, 2.0, 5.0]
    assert np.isnan(number_cells(table, 0)[2])
    unseen = encode(table.schema, frame.assign(k=9), learn=False)
    assert np.isnan(number_cells(unseen, 1)).all()


def test_a_common_value_has_its_own_number_again():
    frame = pd.DataFrame({"x": [0.0, 2.0, 0.0, 3.0], "y": [1.0, 2.0, 3.0, 4.0]})
    table = encoded(frame, {"x": "spiked"})
    assert number_cells(table, 0).tolist() == [0.0, 2.0, 0.0, 3.0]


def test_only_columns_that_go_together_are_in_the_block():
    frame, y = rings()
    table = encoded(frame)
    found = find_numbers(table, (y == "plus").astype(np.int64))
    assert [table.schema.names[j] for j in found.columns] == ["a", "b", "e", "f"]
    assert (
        find_numbers(encoded(frame[["a", "c", "e", "d"]]), (y == "plus").astype(np.int64)) is None
    )
    asked = encoded(frame, {("e", "f"): "gaussian"})
    assert find_numbers(asked, (y == "plus").astype(np.int64)) is None


def test_it_lowers_the_loss_of_new_rows(model):
    assert model._state.correction.joint is not None
    query = sums(2000, seed=1)
    plain = AClassClassifier(random_state=0, n_islands=4, correction="none").fit(*sums())
    assert loss(model, *query) < loss(plain, *query) - 0.1
    assert (model.score_samples(query[0]) == plain.score_samples(query[0])).all()


@pytest.mark.parametrize(("wrong", "learned"), [(False, [True, False]), (True, [True])])
def test_a_pilot_says_whether_the_block_is_learned(monkeypatch, wrong, learned):
    asked = []

    def learn(table, seed, run, pilot=False):
        asked.append(pilot)
        joint, rows, log_density = learn_joint(table, seed, run, pilot)
        assert len(joint.bank.islands) == (1 if pilot else 2)
        assert len(np.unique(rows)) == len(rows) == len(log_density)
        return joint, rows, -100.0 * log_density if wrong else log_density

    monkeypatch.setattr(learning, "learn_joint", learn)
    for module in (correction, joint_numbers):
        monkeypatch.setattr(module, "PILOT_ROWS", 400)
    model = AClassClassifier(random_state=0, n_islands=4).fit(*sums())
    assert asked == learned
    assert (model._state.correction.joint is None) == wrong


def test_one_group_has_the_density_of_a_student():
    """With one group the block is the conjugate posterior predictive."""
    rng = np.random.default_rng(3)
    frame, y = sums(200)
    model = AClassClassifier(random_state=0, alpha=1e-9, n_islands=2).fit(frame, y)
    joint = model._state.correction.joint
    cells = joint.numbers.cells(model._rows(frame))
    f = joint.bank.islands[0].filters[0]
    assert f.n_groups().max() == 1
    # The family's own tests hold it to its formula; here, that the right cells come to it.
    own = joint.bank.islands[0].family[0].prior
    rows = cells[model._state.training.codes == 0]
    D, n, kappa, nu = cells.shape[1], len(rows), own[1, 0], own[2, 0]
    mean = (kappa * own[0] + rows.sum(axis=0)) / (kappa + n)
    gap = rows.mean(axis=0) - own[0]
    psi = own[3:] + (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0))
    psi = psi + kappa * n / (kappa + n) * np.outer(gap, gap)
    df = nu + n
    shape = psi * (kappa + n + 1) / ((kappa + n) * df)
    query = cells[rng.integers(len(cells), size=5)]
    expected = multivariate_t.logpdf(query, mean, shape, df)
    np.testing.assert_allclose(f.log_density((query,)), expected, rtol=1e-6)
    assert D == 3


def test_it_is_saved_and_goes_on(model):
    file = io.BytesIO()
    save(model, file)
    again = load(io.BytesIO(file.getvalue()))
    X, y = sums(60, seed=2)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    labels = np.where(np.arange(60) < 20, "new", y).astype(object)
    labels[40:] = None
    other = load(io.BytesIO(file.getvalue()))
    again.partial_fit(X, labels)
    for i in range(0, 60, 7):
        other.partial_fit(X[i : i + 7], labels[i : i + 7])
    assert again.classes_.tolist() == ["far", "near", "new"]
    assert again._state.correction.joint.bank.n_rows == 500 + 40
    assert (again.predict_proba(X) == other.predict_proba(X)).all()
    np.testing.assert_allclose(again.predict_proba(X).sum(axis=1), 1.0)


def test_a_file_whose_second_model_does_not_fit_is_refused(model):
    tree = model._state.to_tree()
    joint = tree["correction"]["joint"]
    for change in (
        {"power": -1.0},
        {"power": float("nan")},
        {"numbers": [np.array([0, 9]), *joint["numbers"][1:]]},
        {"numbers": [np.array([0, 1, 3]), *joint["numbers"][1:]]},  # the third is no number
        {"numbers": [joint["numbers"][0], joint["numbers"][1], np.zeros(3)]},
    ):
        broken = tree | {"correction": tree["correction"] | {"joint": joint | change}}
        with pytest.raises(ValueError, match="second model"):
            type(model._state).from_tree(broken, model)


def test_an_interrupt_between_the_two_models_is_noticed():
    model = AClassClassifier(random_state=0, n_islands=2).fit(*sums(200))
    X, y = sums(10, seed=3)

    def stop(*_):
        raise KeyboardInterrupt

    model._state.correction.joint.bank.learn = stop
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    with pytest.raises(RuntimeError, match="interrupted"):
        model.predict(X)


def test_a_row_without_numbers_says_nothing_by_them(model):
    X, _ = sums(1, seed=4)
    blank = X.assign(a=np.nan, b=np.nan, c=np.nan)
    table = model._rows(blank)
    np.testing.assert_allclose(model._state.correction.joint.log_densities(table), 0.0, atol=1e-9)
