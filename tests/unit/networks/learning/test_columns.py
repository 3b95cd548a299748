"""What columns say nothing: constant ones are warned of, and numbers without squares refused."""

import warnings

import numpy as np
import pandas as pd
import pytest

from infinimix.networks import (
    BlockmodelBayesNet,
    BlockmodelDynamicNet,
    BlockmodelMarkovNet,
    NetworkFranchise,
)

QUICK = {"n_iter": 20, "n_chains": 1, "random_state": 0}
EVERY = (BlockmodelBayesNet, BlockmodelMarkovNet, BlockmodelDynamicNet)


def table(n=40):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(2, size=(n, 2)), columns=["a", "b"])
    frame["still"] = "yes"
    return frame


def told(fit):
    """The warnings of columns that say nothing."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    return [w for w in found if "Nothing is learned" in str(w.message)]


@pytest.mark.parametrize("cls", EVERY)
@pytest.mark.parametrize("seconds", [None, 0.2])
def test_constant_columns_are_named_once_where_fit_is_called(cls, seconds):
    frame, model = table(), cls(**(QUICK | {"n_chains": 2}))
    frame.loc[3, "still"] = None
    frame["same"] = 0.1
    ask = model.fit if seconds is None else lambda X: model.fit_for(X, seconds)
    (warning,) = told(lambda: ask(frame))
    assert warning.category is UserWarning
    assert str(warning.message).startswith("constant: 'still', 'same'. Nothing is learned")
    assert warning.filename == __file__
    assert not told(lambda: ask(frame[["a", "b"]]))


@pytest.mark.parametrize("cls", EVERY)
def test_a_constant_number_is_found_in_spite_of_rounding(cls):
    X = np.random.default_rng(0).normal(size=(41, 3))
    X[:, 1] = 0.1  # whose mean is not .1
    assert np.full(41, 0.1).mean() != 0.1
    model = cls(**QUICK)
    (warning,) = told(lambda: model.fit(X))
    assert "'x1'." in str(warning.message)
    assert (model._state.columns.centre[1], model._state.columns.scale[1]) == (0.1, 1.0)


def test_numbers_of_one_bin_and_many_columns_are_named():
    X = np.ones((30, 9))
    X[0, 0] = 0.5
    X[:, 8] = np.arange(30)
    net = BlockmodelMarkovNet(columns="real", likelihood="discrete", **QUICK)
    (warning,) = told(lambda: net.fit(X))
    assert "'x1', 'x2', 'x3', 'x4', 'x5', 'x6' and 1 more." in str(warning.message)
    X[:, 0] = 0.0
    X[0, 0] = 1.0  # both cuts are the lowest number
    X[0, 1] = 1.0
    (warning,) = told(lambda: net.fit(X[:, [0, 1, 8]]))
    assert str(warning.message).startswith("constant: 'x1'; in one bin: 'x0'. Nothing is")
    assert str(warning.message).endswith("let n_bins be larger.")


@pytest.mark.parametrize("cls", [BlockmodelBayesNet, BlockmodelDynamicNet])
def test_columns_that_were_set_in_all_rows_are_not_warned_of(cls):
    frame = table()
    mask = np.zeros(frame.shape, bool)
    mask[:, 2] = True
    assert not told(lambda: cls(**QUICK).fit(frame, interventions=mask))
    mask[0, 2] = False
    assert len(told(lambda: cls(**QUICK).fit(frame, interventions=mask))) == 1


def test_of_several_tables_the_one_with_the_column_is_named():
    first, second = table(), table()
    first["still"] = first["a"] ^ 1
    (warning,) = told(lambda: NetworkFranchise(**QUICK).fit({"one": first, "two": second}))
    assert str(warning.message).startswith("table 'two': constant")
    assert warning.filename == __file__


@pytest.mark.parametrize("cls", EVERY)
def test_the_scale_of_numbers_does_not_matter_until_they_have_no_squares(cls):
    X = np.random.default_rng(1).normal(size=(60, 3))
    X[:, 1] += X[:, 0]
    P = [cls(**QUICK).fit(X * scale).edge_marginals_ for scale in (1.0, 2.0**-450, 2.0**400)]
    assert np.array_equal(P[0], P[1])
    assert np.array_equal(P[0], P[2])
    for scale in (1e-160, 1e-200, 1e-310):
        with pytest.raises(ValueError, match=r"column 'x0' varies by .* rescale the column"):
            cls(**QUICK).fit(X * scale)
    Z = np.column_stack([X[:, 0], X[:, 1] * 1e-200, np.arange(60) % 2])
    kinds = {"x2": "binary"}
    with pytest.raises(ValueError, match="column 'x1' varies"):
        BlockmodelBayesNet(likelihood="mixed", columns=kinds, **QUICK).fit(Z)
