import io

import numpy as np
import pandas as pd
import pytest

from infinimix import FiniteMixtureClassifier, load, save
from infinimix.artifacts import ArtifactError
from infinimix.estimators import persistence

rng = np.random.default_rng(0)
Y = np.repeat(["low", "high"], 40)
X = pd.DataFrame(
    {
        "size": rng.normal(size=80) + 3 * (Y == "high"),
        "colour": rng.choice(["red", "blue"], 80, p=[0.5, 0.5]),
        "wet": np.where(rng.random(80) < 0.85, Y == "high", Y == "low").astype(int),
    }
)
X.loc[::7, "size"] = np.nan
FEW = np.array([0, 1, 41, 42])
REST = np.setdiff1d(np.arange(80), FEW)


def model(**parameters):
    return FiniteMixtureClassifier(**{"n_init": 3, "random_state": 0} | parameters)


def some_labels(none):
    return [label if i in FEW else none for i, label in enumerate(Y)]


@pytest.mark.parametrize("class_model", ["variable", "owned"])
@pytest.mark.parametrize("estimate", ["mean", "map"])
def test_queries_help(class_model, estimate):
    few = model(class_model=class_model, estimate=estimate).fit(X.iloc[FEW], Y[FEW])
    batch = few.predict_batch(X.iloc[REST])
    assert np.mean(batch == Y[REST]) > 0.85
    proba = few.predict_proba_batch(X.iloc[REST])
    assert np.allclose(proba.sum(axis=1), 1)
    assert (few.classes_[proba.argmax(axis=1)] == batch).all()


@pytest.mark.parametrize(
    ("y", "unlabelled"),
    [
        (some_labels(None), None),
        (some_labels(np.nan), None),
        (some_labels("?"), "?"),
        (pd.Series(some_labels(None), dtype="string"), None),
        (np.array(some_labels(None), dtype=object), None),
    ],
)
def test_rows_without_labels_are_learned(y, unlabelled):
    fitted = model(unlabelled=unlabelled).fit(X, y)
    assert fitted.classes_.tolist() == ["high", "low"]
    assert np.mean(fitted.predict(X) == Y) > 0.85


def test_minus_one_is_a_label_unless_told_otherwise():
    y = np.where(np.isin(np.arange(80), FEW), (Y == "high").astype(int), -1)
    assert model().fit(X, y).classes_.tolist() == [-1, 0, 1]
    assert model(unlabelled=-1).fit(X, y).classes_.tolist() == [0, 1]


def test_rows_to_classify_are_rows_without_labels():
    """A batch is what `fit` makes of the same rows, in the batch's own order."""
    one = model(n_components=2).fit(X.iloc[FEW], Y[FEW]).predict_proba_batch(X.iloc[REST])
    together = pd.concat([X.iloc[FEW], X.iloc[REST]])
    y = [*Y[FEW], *[None] * len(REST)]
    two = model(n_components=2).fit(together, y).predict_proba(X.iloc[REST])
    assert np.abs(one - two).max() < 0.05  # they start from other rows


def test_a_batch_without_queries_is_the_fitted_model():
    fitted = model().fit(X, some_labels(None))
    assert fitted.predict_proba_batch(X.iloc[:0]).shape == (0, 2)
    assert fitted.predict_batch(X.iloc[:0]).shape == (0,)
    table = fitted._state.table
    again = fitted._learn_batch(table, table.take(slice(0)))[0]
    assert np.array_equal(again.state.rows, fitted._state.ensemble.state.rows)
    assert np.array_equal(again.trace, fitted._state.ensemble.trace)


def test_the_order_of_queries_does_not_matter():
    few = model().fit(X.iloc[FEW], Y[FEW])
    queries = X.iloc[REST].copy()
    queries.loc[queries.index[[3, 50]], "colour"] = ["green", "grey"]  # seen in queries only
    order = np.random.default_rng(5).permutation(len(queries))
    one = few.predict_proba_batch(queries)
    assert np.array_equal(few.predict_proba_batch(queries.iloc[order]), one[order])
    assert np.array_equal(few.predict_proba_batch(queries), one)


def test_kinds_that_few_rows_have_hidden_are_found_in_the_batch():
    frame = pd.DataFrame({"vessels": [0, 1, 0, 1], "age": [50, 60, 50, 60]})
    more = pd.DataFrame({"vessels": [0, 1, 2, 3] * 10, "age": range(30, 70)})
    few = model().fit(frame, [*"abab"])
    assert few.columns_ == {"vessels": "binary", "age": "real"}
    assert few.predict_proba_batch(more).shape == (40, 2)
    order = np.random.default_rng(0).permutation(40)
    shuffled = few.predict_proba_batch(more.iloc[order])
    assert np.allclose(few.predict_proba_batch(more)[order], shuffled)
    told = model(columns={"vessels": "binary", "age": "real"}).fit(frame, [*"abab"])
    with pytest.raises(ValueError, match="vessels"):
        told.predict_batch(more)
    more["vessels"] = [*[0, 1] * 19, 0, "none"]  # text makes no category among numbers
    with pytest.raises(ValueError, match="'vessels'.*'none' in row 39"):
        few.predict_batch(more)


def test_unlabelled_rows_may_count_less():
    y = some_labels(None)
    without = model(n_components=2).fit(X.iloc[FEW], Y[FEW])
    weightless = model(n_components=2, unlabelled_weight=0.0).fit(X, y)
    assert np.allclose(weightless._state.ensemble.state.rows.sum(axis=1), 4)
    whole = model(n_components=2).fit(X, y)
    assert not np.allclose(without.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("bins", [2, 5])
def test_real_columns_may_be_cut(bins):
    fitted = model(bins=bins).fit(X, Y)
    assert np.mean(fitted.predict(X) == Y) > 0.85
    assert fitted.predict_proba_batch(X.iloc[:5]).shape == (5, 2)
    assert fitted.score_samples(X).max() < 0  # probabilities, not densities
    assert len(fitted._state.edges[0]) == bins - 1


@pytest.mark.parametrize("number", ["auto", "bic", "classes", 4])
def test_numbers_of_components(number):
    fitted = model(n_components=number).fit(X, Y)
    tried = fitted.component_scores_
    assert fitted.n_components_ == {"classes": 2, 4: 4}.get(number, fitted.n_components_)
    best = max(tried, key=tried.get)
    assert fitted.n_components_ <= best  # or a smaller one that is nearly as good
    assert len(tried) == (1 if number in ("classes", 4) else best + 2)
    assert fitted.log_posterior_trace_.shape == (fitted.n_iter_, 3)
    owned = model(n_components=number, class_model="owned").fit(X, Y)
    assert owned.n_components_ % 2 == 0


def test_one_owned_component_a_class_is_naive_bayes():
    """All labels known: class shares, Normal and Bernoulli estimates in closed form."""
    table = X[["wet"]]
    fitted = model(n_components="classes", class_model="owned", prior="uniform").fit(table, Y)
    wet = [(table["wet"][c == Y].sum() + 1) / 42 for c in ("high", "low")]
    odds = np.array([[1 - w, w] for w in wet])
    expected = odds[:, table["wet"]].T
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(fitted.predict_proba(table), expected)


@pytest.mark.parametrize("parameters", [{}, {"class_model": "owned"}, {"bins": 3}])
def test_saved_models_answer_the_same(parameters):
    fitted = model(**parameters).fit(X, some_labels(None))
    again = load(saved(fitted))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert np.array_equal(again.predict_proba_batch(X), fitted.predict_proba_batch(X))
    assert again.component_scores_ == fitted.component_scores_


def saved(fitted):
    file = io.BytesIO()
    save(fitted, file)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    "damage",
    [
        lambda tree: tree["codes"].__setitem__(0, 9),
        lambda tree: tree["blocks"].pop(),
        lambda tree: tree["blocks"][0].__setitem__((0, 0), 7),
        lambda tree: tree["ensemble"]["rows"].__setitem__((0, 0), -1.0),
        lambda tree: tree["ensemble"]["counts"][0].fill(np.nan),
        lambda tree: tree["ensemble"]["priors"].pop(),
        lambda tree: tree["labels"].append("low"),
        lambda tree: tree["plan"].update(n_restarts=2),
        lambda tree: tree["plan"].update(owned=1),
    ],
)
def test_damaged_files_are_refused(damage, monkeypatch):
    fitted = model().fit(X, some_labels(None))
    tree = fitted._state.to_tree() | {
        "version": persistence.TREE_VERSION,
        "parameters": fitted.get_params(),
    }
    tree = tree | {
        "codes": tree["codes"].copy(), "blocks": [b.copy() for b in tree["blocks"]],
        "labels": list(tree["labels"]),
    }  # fmt: skip
    tree["ensemble"]["rows"] = tree["ensemble"]["rows"].copy()
    damage(tree)
    monkeypatch.setattr(
        persistence.artifacts, "read", lambda path: (type(fitted).__name__, tree, None)
    )
    with pytest.raises(ArtifactError):
        load("x")


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"n_components": 0}, "n_components"), ({"n_components": "many"}, "n_components"),
        ({"estimate": "mode"}, "estimate"), ({"class_model": "own"}, "class_model"),
        ({"n_init": 0}, "n_init"), ({"bins": 1}, "bins"), ({"prior": "learn"}, "prior"),
        ({"unlabelled_weight": 1.5}, "unlabelled_weight"), ({"max_iter": 0}, "max_iter"),
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(parameters, name):
    with pytest.raises(ValueError, match=f"'{name}' parameter of FiniteMixtureClassifier"):
        model(**parameters).fit(X, Y)


def test_labels_that_are_none_or_too_few_are_refused():
    with pytest.raises(ValueError, match="no label at all"):
        model().fit(X, [None] * 80)
    with pytest.raises(ValueError, match="80 rows"):
        model().fit(X, Y[:70])
    with pytest.raises(ValueError, match="row 2"):
        model().fit(X.iloc[:3], [0, None, 0.5])
