"""Whether a target is classes or a number: by its values, or as the user says."""

import pytest

from infinimix.cli.errors import CommandError
from infinimix.cli.goals import Goal, find_bins, has_many


@pytest.mark.parametrize(
    ("values", "many"),
    [
        (list(range(10)) * 10, False),
        (list(range(26)) * 40, False),  # letters
        (list(range(18, 80)) * 3, True),  # ages
        ([float(v) for v in range(18, 80)], True),
        ([v / 2 for v in range(100)], True),
        ([0.5, 1.0, 1.5] * 30, False),
        (list(range(25)), True),  # nearly all values differ
        ([1.5, 2.5, 3.5], False),  # too few rows to tell
    ],
)
def test_many_numbers_are_amounts(values, many):
    assert has_many(values) is many


def test_options_that_contradict_each_other_are_refused():
    with pytest.raises(CommandError, match="leave one of them out"):
        Goal(True, 4).decide("fit", "aclass")
    with pytest.raises(CommandError, match="finite-mixture predicts classes"):
        Goal(True).decide("fit", "finite-mixture")
    with pytest.raises(CommandError, match="regressor predicts numbers"):
        Goal(None, 3).decide("fit", "regressor")
    assert Goal().decide("fit", "regressor").regression is True
    assert Goal().decide("fit", "m2dpm").regression is False
    assert Goal().decide("fit", "aclass").regression is None


def test_bins_have_about_as_many_rows_each_and_names_in_order():
    edges, names = find_bins(list(range(100)), 4, "size")
    assert edges == [25, 50, 75]
    assert names == ["1: below 25", "2: 25 to 50", "3: 50 to 75", "4: 75 or more"]


def test_values_that_are_common_make_fewer_bins():
    edges, names = find_bins([0] * 60 + [1] * 20 + [2] * 20, 4, "size")
    assert edges == [1]
    assert len(names) == 2
    with pytest.raises(CommandError, match="'size' has too few different numbers"):
        find_bins([7, 7, 7], 2, "size")
