"""Transforms of real columns: increasing, total, with inverse and slope, and when to have one."""

import json

import numpy as np
import pandas as pd
import pytest

from infinimix.tables import Column, Schema, encode, read_schema
from infinimix.tables.scans import LARGEST
from infinimix.tables.shapes import choose, find_log, find_rank
from infinimix.tables.transforms import MOST_KNOTS, Log, Rank, transform_from_json

RNG = np.random.default_rng(0)
COLUMNS = {
    "lognormal": np.exp(RNG.normal(2.0, 1.5, 400)),
    "zeros": np.where(RNG.random(400) < 0.7, 0.0, RNG.gamma(2.0, 500.0, 400).round()),
    "both signs": RNG.standard_cauchy(300),
    "negative": -np.exp(RNG.normal(size=50)),
    "few": np.array([3.0, 7.0, 7.0]),
    "one value": np.array([4.0] * 5),
    "all zero": np.zeros(5),
    "none": np.zeros(0),
    "tiny": 1e-160 * RNG.random(40),
    "huge": 1e150 * RNG.uniform(-1, 1, 40),
    "wide": np.exp(RNG.uniform(-300, 300, 80)),
    "noise": np.r_[1e-17 * RNG.random(20), RNG.gamma(2.0, 1.0, 40)],
    "nearly equal": 1.0 + 1e-15 * np.arange(40),
}
FOUND = {(name, t.__name__): t(x) for name, x in COLUMNS.items() for t in (find_log, find_rank)}
CASES = pytest.mark.parametrize(("name", "find"), FOUND)


def slow_log(x, b):
    """The definition, one value at a time."""
    if abs(x) < b:
        return np.log(b) - 1 + x / b
    upper = np.log(abs(x))
    return upper if x > 0 else 2 * (np.log(b) - 1) - upper


def slow_rank(x, transform):
    """Straight lines through the knots, by NumPy's own interpolation."""
    return np.interp(x, transform.knots, transform.scores)


def grid(x):
    """Values around, between and far beyond those of a column."""
    far = np.r_[np.logspace(-160, 150, 63), 0.0]
    points = np.unique(np.r_[x, x * 1.3, x * 0.7, x[1:] * 0.5 + x[:-1] * 0.5, far, -far])
    return points[np.abs(points) <= LARGEST]


@CASES
def test_every_legal_number_has_a_legal_image_and_they_increase(name, find):
    t = FOUND[name, find].encode(grid(COLUMNS[name]))
    assert np.isfinite(t).all()
    assert (np.abs(t) <= LARGEST).all()
    scale = max(np.abs(t).max(), 1.0) if find == "find_rank" else 1e3
    assert (np.diff(t) >= -1e-15 * scale).all()


@CASES
def test_values_of_the_column_come_back(name, find):
    transform, x = FOUND[name, find], COLUMNS[name]
    back = transform.decode(transform.encode(x))
    slack = transform.bound if find == "find_log" else np.ptp(x) if x.size else 0.0
    np.testing.assert_allclose(back, x, rtol=2e-13, atol=1e-13 * slack)


@pytest.mark.parametrize("find", [find_log, find_rank])
def test_decoded_cells_are_legal_and_increase(find):
    for x in COLUMNS.values():
        t = np.unique(np.r_[np.linspace(-50, 50, 201), -1e150, -1e4, 1e4, 1e150])
        back = find(x).decode(t)
        assert (np.abs(back) <= LARGEST).all()
        assert (np.diff(back) >= -1e-12 * np.abs(back[1:])).all()


@pytest.mark.parametrize("name", ["lognormal", "zeros", "both signs", "negative"])
def test_the_logarithm_is_what_it_says(name):
    transform, x = FOUND[name, "find_log"], COLUMNS[name]
    points = grid(x)
    expected = [slow_log(value, transform.bound) for value in points.tolist()]
    np.testing.assert_allclose(transform.encode(points), expected, rtol=1e-14, atol=1e-13)
    positive = x[x > 0]
    if (x >= 0).all():
        np.testing.assert_allclose(transform.encode(positive), np.log(positive), rtol=3e-16)


@pytest.mark.parametrize("name", ["lognormal", "zeros", "both signs", "few"])
def test_the_rank_is_what_it_says(name):
    transform, x = FOUND[name, "find_rank"], COLUMNS[name]
    np.testing.assert_allclose(transform.encode(x), slow_rank(x, transform), rtol=0, atol=1e-12)
    assert len(transform.knots) <= min(MOST_KNOTS, 2 * np.sqrt(len(x)) + 1)


def test_ranks_of_many_values_are_nearly_normal():
    x = RNG.standard_cauchy(20_000)
    t = find_rank(x).encode(x)
    assert MOST_KNOTS / 2 < len(find_rank(x).knots) <= MOST_KNOTS
    assert abs(t.mean()) < 0.01
    assert abs(t.std() - 1) < 0.02


def test_equal_values_have_the_middle_of_their_ranks():
    t = find_rank(np.array([0.0] * 8 + [5.0, 6.0])).encode(np.array([0.0, 5.0]))
    expected = [-0.2533471031357997, 1.0364333894937898]  # normal quantiles at 0.4 and 0.85
    np.testing.assert_allclose(t, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["lognormal", "zeros", "both signs", "few", "one value"])
@pytest.mark.parametrize("find", ["find_log", "find_rank"])
def test_the_slope_is_that_of_finite_differences(name, find):
    transform = FOUND[name, find]
    x = RNG.uniform(-5, 5, 300) * (1 + np.abs(COLUMNS[name]).mean())
    h = 1e-6 * np.abs(x)
    rise = transform.encode(x + h) - transform.encode(x - h)
    got = transform.log_slope(transform.encode(x))
    smooth = transform.log_slope(transform.encode(x + h)) - transform.log_slope(
        transform.encode(x - h)
    )
    at = np.abs(smooth) < 1e-5  # no corner in between
    assert at.mean() > 0.9
    np.testing.assert_allclose(got[at], np.log(rise / (2 * h))[at], rtol=0, atol=2e-5)


@CASES
def test_slopes_are_finite_and_missing_cells_stay_missing(name, find):
    transform = FOUND[name, find]
    assert np.isfinite(transform.log_slope(transform.encode(grid(COLUMNS[name])))).all()
    hole = np.array([np.nan])
    for step in (transform.encode, transform.decode, transform.log_slope):
        assert np.isnan(step(hole)).all()


@CASES
def test_json_is_exact_and_knows_its_own(name, find):
    transform = FOUND[name, find]
    back = transform_from_json(json.loads(json.dumps(transform.to_json())))
    assert back == transform
    assert hash(back) == hash(transform)
    assert back.sound()
    x = grid(COLUMNS[name])
    assert back.encode(x).tobytes() == transform.encode(x).tobytes()


@pytest.mark.parametrize(
    "transform",
    [
        Log(0.0),
        Log(-1.0),
        Log(np.nan),
        Rank((1.0,), (0.0,)),
        Rank((1.0, 1.0), (0.0, 1.0)),
        Rank((1.0, 2.0), (1.0, 0.0)),
        Rank((1.0, 2.0), (0.0, np.inf)),
        Rank((1.0, 2.0), (0.0, 1.0, 2.0)),
        Rank(tuple(map(float, range(300))), tuple(np.linspace(-3, 3, 300).tolist())),
    ],
)
def test_what_no_data_leave_is_found_unsound(transform):
    assert not transform.sound()


def test_one_cell_at_a_time_is_the_whole_column():
    x = COLUMNS["zeros"]
    for find in (find_log, find_rank):
        transform = find(x)
        whole = transform.encode(x)
        ones = np.concatenate([transform.encode(x[i : i + 1]) for i in range(len(x))])
        strided = transform.encode(np.repeat(x, 2)[::2])
        assert whole.tobytes() == ones.tobytes() == strided.tobytes()


@pytest.mark.parametrize(
    ("x", "chosen"),
    [
        (np.exp(RNG.normal(size=1000)), True),
        (np.exp(RNG.normal(size=100_000)) * 1e-9, True),
        (np.exp(RNG.normal(0, 1.3, 40)).round(2), True),
        (np.where(RNG.random(1000) < 0.9, 0.0, np.exp(RNG.normal(8, 1.2, 1000))), True),
        (np.floor(np.exp(RNG.normal(3, 1.2, 500))), True),
        (np.exp(RNG.normal(size=29)), False),
        (np.r_[np.zeros(500), np.exp(RNG.normal(size=20))], False),
        (np.r_[np.exp(RNG.normal(size=1000)), -1.0], False),
        (RNG.normal(50, 10, 1000), False),
        (RNG.uniform(0, 1, 1000), False),
        (RNG.gamma(1.0, 1.0, 1000), False),
        (np.r_[RNG.normal(10, 1, 500), RNG.normal(30, 1, 500)], False),
        (-np.exp(RNG.normal(size=1000)), False),
        (RNG.choice([1.0, 10.0, 100.0, 1000.0], 1000), False),
        (1e16 + 2.0 * np.arange(1000), False),
        (np.full(100, 7.0), False),
        (np.zeros(0), False),
        (np.r_[np.full(99, 1e-150), 1e150], False),
    ],
)
def test_the_rule_takes_logs_of_long_tails_only(x, chosen):
    assert isinstance(choose(x), Log) == chosen


def frame(n=200):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "income": np.exp(rng.normal(10, 1, n)),
            "height": rng.normal(170, 10, n),
            "visits": np.floor(np.exp(rng.normal(3, 1.2, n))).astype(int),
            "colour": rng.choice(["red", "blue"], n),
        }
    )


def test_auto_and_what_is_asked_for():
    X = frame()
    spelled = read_schema(X).requests()
    assert spelled == {
        "income": "real:log",
        "height": "real",
        "visits": "real:log",
        "colour": "categorical",
    }
    assert read_schema(X).kinds()["income"] == "real"
    plain = read_schema(X, {"income": "real", "height": "real:rank", "visits": "count"})
    assert list(plain.requests().values()) == ["real", "real:rank", "count", "categorical"]
    assert read_schema(X, spelled) == read_schema(X)
    numbers = X[["income", "height"]]
    assert set(read_schema(numbers, "real:rank").requests().values()) == {"real:rank"}
    assert set(read_schema(numbers, "real").requests().values()) == {"real"}


def test_few_rows_and_prior_in_numbers_leave_columns_as_they_are():
    X = frame()
    assert read_schema(X[:20]).requests()["income"] == "real"
    for natural in (["real"], ["income"], [0]):
        assert read_schema(X, natural=natural).requests()["income"] == "real"
    assert read_schema(X, {"income": "real:log"}, natural=["real"]).requests()["income"] != "real"


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ("real:sqrt", "unknown transform 'sqrt' in 'real:sqrt'; there are 'real:log' and 'real:r"),
        ({"income": "real:"}, "unknown transform ''"),
        ({"income": "count:log"}, "only real columns have; there are 'real:log'"),
        ("auto:log", "only real columns have"),
        ({"income": "binary:rank"}, "only real columns have"),
    ],
)
def test_unknown_transforms_are_refused(columns, text):
    with pytest.raises(ValueError, match=text):
        read_schema(frame(40), columns)


def test_a_bad_cell_is_refused_by_name_when_a_transform_is_asked_for():
    with pytest.raises(ValueError, match=r"column 'x0' has an infinite value in row 1"):
        read_schema([[1.0], [np.inf]], "real:log")
    with pytest.raises(ValueError, match=r"column 'x0' is real but has the value 'a' in row 1"):
        read_schema([[1.0], ["a"]], "real:rank")


@pytest.mark.parametrize("columns", ["auto", {"income": "real:rank", "height": "real:log"}])
def test_tables_there_and_back(columns):
    X = frame()
    X.loc[3, "income"] = np.nan
    schema = read_schema(X, columns)
    encoded = encode(schema, X, learn=True)
    schema = Schema.from_json(json.loads(json.dumps(schema.extended(encoded.novel).to_json())))
    decoded = schema.decode(encoded.blocks)
    for name in X:
        if name == "colour":
            assert decoded[name].tolist() == X[name].tolist()
        else:
            np.testing.assert_allclose(decoded[name], X[name], rtol=1e-12)
    again = encode(schema, X.sample(frac=1, axis=1, random_state=0), learn=False)
    for a, b in zip(encoded.blocks, again.blocks, strict=True):
        np.testing.assert_array_equal(a, b)


def test_forms_and_cuttings_give_the_same_cells():
    X = frame()[["income", "height"]].to_numpy()
    schema = read_schema(X)
    assert schema.transforms[0][0] == 0
    (block,) = encode(schema, X, learn=True).blocks
    others = [
        encode(schema, np.asfortranarray(X), learn=True).blocks[0],
        encode(schema, X.tolist(), learn=True).blocks[0],
        encode(schema, pd.DataFrame(X), learn=True).blocks[0],
        np.concatenate([encode(schema, X[i : i + 1], learn=True).blocks[0] for i in range(200)]),
    ]
    np.testing.assert_array_equal(block[:, 1], X[:, 1])
    np.testing.assert_array_equal(block[:, 0], schema.transforms[0][1].encode(X[:, 0]))
    for other in others:
        np.testing.assert_array_equal(block, other)
    np.testing.assert_allclose(schema.log_slopes((block,)), -np.log(X[:, 0]), rtol=1e-15)


def test_slopes_add_up_over_the_observed_cells():
    log, rank = Log(0.5), Rank((0.0, 1.0, 3.0), (-1.0, 0.0, 1.0))
    columns = (Column("a", "real", log), Column("b", "real"), Column("c", "real", rank))
    schema = Schema(columns, True, (), ("float",) * 3)
    X = np.array([[2.0, 5.0, 2.0], [np.nan, 5.0, 0.5], [0.25, np.nan, np.nan]])
    found = schema.log_slopes(encode(schema, X, learn=True).blocks)
    np.testing.assert_allclose(found, [-np.log(2) + np.log(0.5), 0.0, np.log(2)], atol=1e-15)
