"""Spiked columns: which value is set apart, how cells are encoded, and what "auto" looks for."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from infinimix.tables import Schema, encode, read_schema
from infinimix.tables.shapes import choose_spike, find_spike
from infinimix.tables.transforms import Log, Rank, Spike, transform_from_json

NAN, INF = np.nan, np.inf
SPIKES = [
    Spike(0.0),
    Spike(-3.5, Log(0.5)),
    Spike(1e150, Rank((0.0, 1.0, 3.0), (-1.0, 0.0, 1.0))),
]
rng = np.random.default_rng(0)


@pytest.mark.parametrize("spike", SPIKES, ids=str)
def test_cells_there_and_back(spike):
    x = np.array([spike.atom, 2.0, NAN, -1e150, 1e-300, spike.atom])
    t = spike.encode(x)
    assert (np.isposinf(t) == (x == spike.atom)).all()
    assert np.isnan(t[2])
    others = np.isfinite(t)
    inner = spike.inner.encode(x[others]) if spike.inner else x[others]
    np.testing.assert_array_equal(t[others], inner)
    back = spike.decode(t)
    assert (back[~others & ~np.isnan(x)] == spike.atom).all()
    np.testing.assert_allclose(back, x, rtol=1e-9, atol=1e-12)
    assert transform_from_json(json.loads(json.dumps(spike.to_json()))) == spike
    assert spike.sound()


@pytest.mark.parametrize("spike", SPIKES, ids=str)
def test_the_atom_has_no_slope(spike):
    slopes = spike.log_slope(np.array([INF, NAN, 0.3, -0.8]))
    assert slopes[0] == 0.0
    assert np.isnan(slopes[1])
    inner = spike.inner.log_slope(np.array([0.3, -0.8])) if spike.inner else [0.0, 0.0]
    np.testing.assert_array_equal(slopes[2:], inner)


def test_what_no_data_leaves_is_not_sound():
    for spike in (Spike(INF), Spike(NAN), Spike(-2e150), Spike(0.0, Log(-1.0))):
        assert not spike.sound()


@pytest.mark.parametrize(
    ("x", "atom"),
    [
        ([4.0, 2.0, 4.0], 4.0),
        ([4.0, 2.0], 2.0),
        ([-0.0, 0.0, 7.0], 0.0),
        ([], 0.0),
    ],
)
def test_the_most_common_value_is_set_apart(x, atom):
    found = find_spike(np.array(x)).atom
    assert found == atom
    assert not np.signbit(found)
    for inner in ("log", "rank"):
        spike = find_spike(np.array(x), inner)
        assert spike.name == inner
        assert spike.sound()


def mixed(n, share, rest=None):
    """Cells of which a share is 7."""
    x = rng.normal(size=n) if rest is None else rest
    x[: round(share * n)] = 7.0
    return rng.permutation(x)


@pytest.mark.parametrize(
    ("x", "found"),
    [
        (mixed(100, 0.2), True),
        (mixed(100, 0.19), False),
        (mixed(100, 0.95), False),  # six different values
        (mixed(300, 0.95), True),
        (mixed(30, 0.5), True),
        (mixed(29, 0.5), False),
        (mixed(100, 0.3, rng.integers(0, 10, 100).astype(float)), False),  # at most ten
        (mixed(100, 0.3, np.arange(100.0)), True),
        (np.full(100, 7.0), False),
    ],
)
def test_the_rule(x, found):
    spike = choose_spike(x)
    assert (spike is not None) == found
    assert spike is None or spike.atom == 7.0


def test_the_others_have_the_transform_that_they_call_for():
    tail = np.exp(rng.normal(8, 1.5, 200))
    spike = choose_spike(np.r_[np.zeros(300), tail])
    assert spike == Spike(0.0, spike.inner)
    assert isinstance(spike.inner, Log)
    assert spike.inner.bound == tail.min() / 2


def frame(n=100):
    return pd.DataFrame(
        {
            "gain": np.where(np.arange(n) % 2, np.exp(rng.normal(8, 1.5, n)), 0.0),
            "hours": np.where(np.arange(n) % 3, 40, rng.integers(1, 99, n)),
            "height": rng.normal(170, 10, n),
            "half": np.arange(n) % 5 + 0.5,
            "word": np.where(np.arange(n) % 2, "a", "b"),
        }
    )


def test_auto_looks_for_spikes_only_if_it_is_told_to():
    X = frame()
    real = ["real:log", "real", "real", "real", "categorical"]
    assert list(read_schema(X).requests().values()) == real
    found = read_schema(X, spikes=True)
    requests = ["spiked:log", "spiked", "real", "real", "categorical"]
    assert list(found.requests().values()) == requests
    assert found.kinds()["gain"] == "spiked"
    assert read_schema(X, found.requests()) == found
    assert read_schema(X, {"hours": "real"}, spikes=True).requests()["hours"] == "real"
    for form in (X.to_dict("records"), pl.DataFrame(X.to_dict("list"))):
        assert read_schema(form, spikes=True) == found
    asked = {"hours": "spiked:rank", "height": "spiked", "half": "spiked:log"}
    assert {**read_schema(X, asked).requests()}.items() >= asked.items()


def test_a_prior_in_numbers_keeps_a_column_as_it_is():
    X = frame()
    for natural in (["real"], ["gain"], [0]):
        assert read_schema(X, natural=natural, spikes=True).requests()["gain"] == "real"
    assert read_schema(X, natural=["spiked"], spikes=True).requests()["gain"] == "spiked"


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ("spiked:sqrt", "unknown transform 'sqrt' in 'spiked:sqrt'; there are.*'spiked:rank'"),
        ({"gain": "spike"}, "unknown column kind 'spike'.*'spiked'"),
        ({"word": "spiked"}, "column 'word' is spiked but has the value 'b' in row 0"),
    ],
)
def test_bad_requests_are_refused(columns, text):
    with pytest.raises(ValueError, match=text):
        read_schema(frame(), columns)


CELLS = np.array([[0.0, 5.0], [2.0, NAN], [NAN, 5.0], [0.0, 1.0]])
FORMS = {
    "array": CELLS,
    "columns": np.asfortranarray(CELLS),
    "lists": [[None if x != x else x for x in row] for row in CELLS.tolist()],
    "frame": pd.DataFrame(CELLS),
    "sparse": sparse.csr_matrix(CELLS),
    "whole": pd.DataFrame(CELLS).astype("Int64"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_cells(form):
    expected = [[INF, INF], [2.0, NAN], [NAN, INF], [INF, 1.0]]
    schema = read_schema(FORMS[form], "spiked")
    assert schema.blocks == ("spiked",)
    (block,) = encode(schema, FORMS[form], learn=True).blocks
    np.testing.assert_array_equal(block, expected)
    assert block.flags.c_contiguous
    rows = [encode(schema, CELLS[i : i + 1], learn=False).blocks[0] for i in range(4)]
    np.testing.assert_array_equal(np.concatenate(rows), expected)
    decoded = np.column_stack(list(schema.decode((block,)).values()))
    np.testing.assert_array_equal(decoded, CELLS)


def test_an_infinite_cell_is_refused_as_everywhere():
    schema = read_schema(CELLS, "spiked")
    for form in (np.array([[0.0, 1.0], [INF, 1.0]]), [[0.0, 1.0], [INF, 1.0]]):
        with pytest.raises(ValueError, match=r"column 'x0' has an infinite value in row 1"):
            encode(schema, form, learn=False)


def test_mixed_tables_go_to_json_and_back():
    X = frame()
    X.loc[3, "gain"] = NAN
    schema = read_schema(X, {"height": "gaussian", "half": "real:log"}, spikes=True)
    assert schema.blocks == ("categorical", "real", "spiked", "gaussian")
    encoded = encode(schema, X, learn=True)
    again = Schema.from_json(json.loads(json.dumps(schema.extended(encoded.novel).to_json())))
    assert again == schema.extended(encoded.novel)
    decoded = again.decode(encoded.blocks)
    for name in X:
        if name == "word":
            assert decoded[name].tolist() == X[name].tolist()
        else:
            np.testing.assert_allclose(decoded[name], X[name], rtol=1e-12)
    gain, hours = encoded.blocks[2].T
    assert np.isposinf(gain).sum() == (X["gain"] == 0.0).sum()
    assert np.isposinf(hours).sum() == (X["hours"] == 40).sum()
    slopes = -np.log(X["gain"].where(X["gain"] > 0.0, 1.0).fillna(1.0)) - np.log(X["half"])
    np.testing.assert_allclose(again.log_slopes(encoded.blocks), slopes, atol=1e-12)
