"""Tables as matrices: standardised numbers, a column for each category, holes that stay."""

import json

import numpy as np
import pandas as pd
import pytest

from infinimix.cli.errors import CommandError
from infinimix.cli.numbers import apply_encoding, learn_encoding

FRAME = pd.DataFrame({"n": [1.0, 3.0, np.nan], "flat": [2, 2, 2], "c": ["x", None, "y"]})
KINDS = {"n": "real", "flat": "real", "c": "categorical"}


def test_numbers_are_standardised_and_categories_spread():
    X = apply_encoding(FRAME, learn_encoding(FRAME, KINDS))
    assert list(X.columns) == ["n", "flat", "c=x", "c=y"]
    np.testing.assert_array_equal(X["n"], [-1.0, 1.0, np.nan])
    np.testing.assert_array_equal(X["flat"], [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(X["c=x"], [1.0, np.nan, 0.0])
    np.testing.assert_array_equal(X["c=y"], [0.0, np.nan, 1.0])


def test_later_tables_are_encoded_as_the_first():
    encoding = json.loads(json.dumps(learn_encoding(FRAME, KINDS)))  # it is saved with the model
    later = pd.DataFrame({"n": [5.0], "flat": [4], "c": ["z"]})
    np.testing.assert_array_equal(
        apply_encoding(later, encoding), [[3.0, 2.0, np.nan, np.nan]]
    )  # a category that is new is missing


def test_too_many_categories_are_refused():
    frame = pd.DataFrame({"name": [f"k{i}" for i in range(101)]})
    with pytest.raises(CommandError, match="101 categories.*--drop name"):
        learn_encoding(frame, {"name": "categorical"})
