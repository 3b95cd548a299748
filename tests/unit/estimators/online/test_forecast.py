"""The sentinel is one, wherever it goes; an empty forecast says nothing."""

import copy
import pickle

import numpy as np

from infinimix.estimators.online.forecast import NEW_CLASS, Forecast


def test_the_sentinel_is_one():
    assert pickle.loads(pickle.dumps(NEW_CLASS)) is NEW_CLASS
    assert copy.deepcopy([NEW_CLASS])[0] is copy.copy(NEW_CLASS) is NEW_CLASS
    assert repr(NEW_CLASS) == "NEW_CLASS"
    assert NEW_CLASS != "NEW_CLASS"


def test_an_empty_forecast_has_no_answers():
    predicted, *numbers = Forecast.empty(3)
    assert predicted.tolist() == [None] * 3
    assert all(np.isnan(values).all() and len(values) == 3 for values in numbers)
