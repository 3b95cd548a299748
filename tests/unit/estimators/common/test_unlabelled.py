import io
import warnings

import numpy as np
import pytest

from infinimix import AClassClassifier, FiniteMixtureClassifier, load, save


def table(seed, misleading):
    """Two groups of rows; classes are the groups, or halves of them along another column."""
    rng = np.random.default_rng(seed)
    group = np.arange(300) % 2
    X = rng.normal(size=(300, 6)) + 4.0 * group[:, None]
    X[:, 0] = rng.normal(size=300)
    y = (X[:, 0] > 0).astype(int) if misleading else group
    return X, [int(label) if i < 60 else None for i, label in enumerate(y)], y


def model(**parameters):
    defaults = {"n_components": "classes", "n_init": 3, "random_state": 0}
    return FiniteMixtureClassifier(**defaults | parameters)


def test_it_is_said_when_rows_without_labels_hurt():
    X, some, y = table(0, misleading=True)
    owned = {"class_model": "owned"}
    with pytest.warns(UserWarning, match="unlabelled_weight"):
        hurt = model(**owned).fit(X, some)
    assert hurt.unlabelled_gain_ < 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spared = model(unlabelled_weight=0, **owned).fit(X, some)
    assert np.isnan(spared.unlabelled_gain_)
    assert spared.score(X[60:], y[60:]) > hurt.score(X[60:], y[60:]) + 0.1


def test_nothing_is_said_when_they_help_or_are_not_there():
    X, some, y = table(1, misleading=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model().fit(X, some)
        assert np.isnan(model().fit(X, y).unlabelled_gain_)
        few = [label if i < 4 else None for i, label in enumerate(some)]
        assert np.isnan(model().fit(X, few).unlabelled_gain_)
    assert fitted.unlabelled_gain_ > -0.1
    file = io.BytesIO()
    save(fitted, file)
    assert load(io.BytesIO(file.getvalue())).unlabelled_gain_ == fitted.unlabelled_gain_


def aclass(**parameters):
    return AClassClassifier("real", effort="fast", random_state=0, **parameters)


def test_aclass_says_it_too_and_may_leave_them_out():
    X, some, y = table(0, misleading=True)
    with pytest.warns(UserWarning, match="Lower unlabelled_share of this AClassClassifier"):
        hurt = aclass().fit(X, some)
    assert hurt.unlabelled_gain_ < 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spared = aclass(unlabelled_share=0).fit(X, some)
    assert np.isnan(spared.unlabelled_gain_)
    alone = aclass().fit(X[:60], some[:60])
    assert np.array_equal(spared.predict_proba(X), alone.predict_proba(X))
    assert spared.score(X[60:], y[60:]) > hurt.score(X[60:], y[60:])
    file = io.BytesIO()
    save(hurt, file)
    assert load(io.BytesIO(file.getvalue())).unlabelled_gain_ == hurt.unlabelled_gain_


def test_aclass_takes_a_share_and_says_nothing_when_they_help():
    X, some, _ = table(1, misleading=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        half = aclass(unlabelled_share=0.5).fit(X, some)
    assert half.class_count_.sum() == pytest.approx(60 + 120)
    assert half.unlabelled_gain_ > -0.1


def test_which_rows_are_left_out_follows_the_seed():
    X, some, _ = table(1, misleading=False)

    def learned(seed):
        model = aclass(unlabelled_share=0.5).set_params(random_state=seed).fit(X, some)
        return model._state.training.table.blocks[0]

    assert np.array_equal(learned(0), learned(0))
    assert not np.array_equal(learned(0), learned(1))
