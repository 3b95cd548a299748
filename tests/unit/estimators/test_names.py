"""Names of columns that are no strings: scikit-learn knows nothing of them, so they are checked."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from infinimix import AClassClassifier, CRPMixture, OnlineCRPClassifier

CELLS = np.random.default_rng(0).normal(size=(40, 4)) + np.arange(40)[:, None] % 2 * [3, 0, 0, 0]
PLAIN = pd.DataFrame(CELLS)  # 0, 1, ... only say where a column is
PAIRS = pd.MultiIndex.from_product([["a"], range(4)])
MODELS = {
    "mixture": partial(CRPMixture, n_particles=3, n_islands=2, random_state=0),
    "classifier": partial(AClassClassifier, n_particles=3, n_islands=2, random_state=0),
    "stream": partial(OnlineCRPClassifier, columns="auto", random_state=0),
}
NAMES = [[0, 1, 2, 3], [7, 5, 6, 4], [0.5, 1.5, 2.5, 3.5], PAIRS]
models = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@models
@pytest.mark.parametrize("names", NAMES, ids=["plain", "whole", "fractions", "pairs"])
def test_columns_in_another_order_or_with_other_names_are_refused(make, names):
    frame = PLAIN.set_axis(names, axis=1)
    model = make().fit(frame, np.arange(40) % 2)
    other = frame.set_axis([("b", 1), *frame.columns[1:]], axis=1)
    for wrong, words in ((frame.iloc[:, ::-1], "must be in the same order"), (other, "unknown: ")):
        with pytest.raises(ValueError, match=rf"feature names should match.*{words}"):
            model.predict(wrong)
        with pytest.raises(ValueError, match=r"feature names should match.*X\.to_numpy\(\)"):
            model.partial_fit(wrong, np.arange(40) % 2)


@models
@pytest.mark.parametrize("names", NAMES, ids=["plain", "whole", "fractions", "pairs"])
def test_arrays_and_numbered_columns_are_matched_by_position(make, names, recwarn):
    frame = PLAIN.set_axis(names, axis=1)
    one, two = (make().fit(table, np.arange(40) % 2) for table in (frame, CELLS))
    assert not hasattr(one, "feature_names_in_")
    predicted = one.predict(frame)
    assert (one.predict(PLAIN) == predicted).all()
    assert (one.predict(CELLS) == predicted).all()
    assert (two.predict(frame) == predicted).all()
    assert not recwarn.list


def test_strings_and_other_names_are_no_match():
    model = MODELS["classifier"]().fit(PLAIN.set_axis(list("abcd"), axis=1), np.arange(40) % 2)
    with pytest.raises(ValueError, match="unknown: '7', '5', '6', '4'"):
        model.predict(PLAIN.set_axis(NAMES[1], axis=1))
    model = MODELS["classifier"]().fit(PLAIN.set_axis(PAIRS, axis=1), np.arange(40) % 2)
    with pytest.raises(ValueError, match="unknown: 'a', 'b', 'c', 'd'"):
        model.predict(PLAIN.set_axis(list("abcd"), axis=1))
