"""What a mapping may say of the base measure."""

import numpy as np
import pytest

from infinimix.families.given import resolve_prior

KINDS = {"b": "binary", "c": "categorical", "r": "real", "real": "binary", "n": "count"}


def test_every_column_has_its_entry():
    prior = {
        "b": np.array([1.0, 2.0]),
        1: 3,
        "real": "reference",
        "categorical": 7,
        "count": "learn",
    }
    assert resolve_prior(prior, KINDS) == {
        "b": (1.0, 2.0),
        "c": (3.0,),
        "r": "empirical",
        "n": "learn",
        "real": "reference",  # a column may have the name of a kind, and then that is meant
    }


def test_a_kind_speaks_for_its_columns():
    resolved = resolve_prior({"binary": 0.5, "b": (1, 2)}, KINDS)
    assert (resolved["b"], resolved["real"]) == ((1.0, 2.0), (0.5, 0.5))


def test_a_number_is_a_name_before_it_is_a_position():
    resolved = resolve_prior({1: (1, 2), 2: (3, 4)}, {"1": "binary", "0": "binary", "z": "binary"})
    assert resolved == {"1": (1.0, 2.0), "0": "empirical", "z": (3.0, 4.0)}


def test_what_is_resolved_stays():
    once = resolve_prior({"r": (0, 1, 2, 3), "c": 2, "n": (1, 2)}, KINDS)
    assert resolve_prior(once, KINDS) == once
    assert resolve_prior("reference", KINDS) == "reference"


@pytest.mark.parametrize(
    "prior",
    [
        {"zz": 1},
        {9: 1},
        {-1: 1},
        {True: 1},
        {"b": (0, 1)},
        {"b": (1, 2, 3)},
        {"b": "floaty"},
        {"c": [1, 2]},
        {"c": None},
        {"r": (0, 1, 2)},
        {"r": (np.inf, 1, 1, 1)},
        {"r": {"mean": 0}},
        {"n": 1},
        {"n": (0, 1)},
        {"n": (1, np.inf)},
        {"categorical": -1},
        {"r": (0, 1, 1, 1e-200)},
        {"b": (1, 1e300)},
        {"count": (1, 2, 3)},
    ],
)
def test_errors_name_the_entry(prior):
    (key,) = prior
    with pytest.raises(ValueError, match=f"prior.*{key}"):
        resolve_prior(prior, KINDS)


def test_a_spiked_column_has_the_word_of_real_ones_but_not_their_numbers():
    kinds = {"r": "real", "s": "spiked"}
    assert resolve_prior({"real": "reference"}, kinds)["s"] == "reference"
    assert resolve_prior({"real": (0, 1, 2, 3)}, kinds)["s"] == "empirical"
    assert resolve_prior({"real": "reference", "spiked": "learn"}, kinds)["s"] == "learn"
    six = (0.5, 2.0, -3.0, 0.1, 2.0, 1.0)
    assert resolve_prior({"spiked": six}, kinds)["s"] == six
    for wrong in (six[2:], (0.0, *six[1:]), (*six[:5], 0.0), (*six[:3], -1.0, *six[4:]), [1] * 7):
        with pytest.raises(ValueError, match=r"prior\['s'\].*\(a, b, mean, kappa, nu, scale\)"):
            resolve_prior({"s": wrong}, kinds)


def test_a_column_may_not_be_named_twice():
    with pytest.raises(ValueError, match="twice, as 'b' and 0"):
        resolve_prior({"b": 1, 0: 2}, KINDS)


BLOCKS = (("x", "y"), ("u", "v"))
JOINT = {"x": "gaussian", "u": "gaussian", "y": "gaussian", "v": "gaussian", "b": "binary"}


def test_a_gaussian_block_has_one_entry():
    resolved = resolve_prior({("y", 0): (1, 2, 0.5), "gaussian": "reference"}, JOINT, BLOCKS)
    assert resolved["x"] == resolved["y"] == (1.0, 2.0, 0.5)
    assert resolved["u"] == resolved["v"] == "reference"
    assert resolve_prior(resolved, JOINT, BLOCKS) == resolved
    assert resolve_prior({"gaussian": (1, 2, 3)}, JOINT, BLOCKS)["v"] == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("prior", "text"),
    [
        ({("x", "u"): "reference"}, "not a gaussian block"),
        ({("x",): "reference"}, "not a gaussian block"),
        ({("x", "zz"): "reference"}, "not a gaussian block"),
        ({("x", "y"): "reference", "y": "empirical"}, "twice"),
        ({"x": "reference"}, "name the block as a whole"),
        ({("x", "y"): (1, 2)}, "kappa, nu, scale"),
        ({("x", "y"): (0, 1, 2, 3)}, "kappa, nu, scale"),
        ({"gaussian": (1, 0, 2)}, "kappa, nu, scale"),
    ],
)
def test_what_a_block_cannot_have(prior, text):
    with pytest.raises(ValueError, match=text):
        resolve_prior(prior, JOINT, BLOCKS)
