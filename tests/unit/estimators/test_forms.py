"""The same table in any form gives the same model; any table gives finite answers."""

import datetime as dt
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from infinimix import AClassClassifier, CRPMixture
from infinimix.streaming import read_stream
from infinimix.tables.rows import as_dicts
from tests.unit.estimators.states import differences, state_of

SMALL = {"n_particles": 3, "n_islands": 2, "random_state": 0}
rng = np.random.default_rng(0)
ROWS = [
    {
        "flag": bool(rng.integers(2)),
        "bit": int(rng.integers(2)),
        "word": str(rng.choice(["u", "v", "w"])),
        "whole": int(rng.integers(3, 7)),
        "real": float(np.float32(rng.normal())),
    }
    for _ in range(24)
]
for i, name in ((3, "flag"), (5, "bit"), (7, "word"), (9, "whole"), (11, "real")):
    ROWS[i][name] = None
ROWS[13] = dict.fromkeys(ROWS[0])  # a row of which nothing is known
NAMES = list(ROWS[0])
CELLS = [list(row.values()) for row in ROWS]
EXPECTED = dict(zip(NAMES, ["binary", "binary", "categorical", "real", "real"], strict=True))
NULLABLE = {
    "flag": "boolean",
    "bit": "Int64",
    "word": "string",
    "whole": "Int8",
    "real": "Float32",
}
POLARS = {
    "flag": pl.Boolean,
    "bit": pl.Int8,
    "word": pl.Utf8,
    "whole": pl.Int64,
    "real": pl.Float32,
}
NAMED = {
    "dicts": ROWS,
    "dicts without keys": [{k: v for k, v in row.items() if v is not None} for row in ROWS],
    "pandas objects": pd.DataFrame(CELLS, columns=NAMES, dtype=object),
    "pandas nullable": pd.DataFrame(ROWS).astype(NULLABLE),
    "pandas categorical": pd.DataFrame(ROWS).astype(NULLABLE).astype({"word": "category"}),
    "polars": pl.DataFrame(ROWS, schema=POLARS),
    "polars enum": pl.DataFrame(ROWS, schema=POLARS | {"word": pl.Enum(["w", "u", "v"])}),
}
NAMELESS = {
    "lists": CELLS,
    "tuples": tuple(map(tuple, CELLS)),
    "objects": np.array(CELLS, dtype=object),
    "numbered pandas": pd.DataFrame(CELLS, dtype=object),
}


def schemaless(model):
    """The state but for how values were spelled, which decides only how samples look."""
    state = state_of(model)
    schema = state["schema"]
    kinds = [kind for _, kind in schema["columns"]]
    names = schema["named"] and [name for name, _ in schema["columns"]]  # or "0", or "x0"
    state["schema"] = (names, kinds, schema["categories"])
    return state


@cache
def from_dicts(method):
    return getattr(CRPMixture(**SMALL), method)(NAMED["dicts"])


@cache
def from_numbers(columns):
    return AClassClassifier(columns, **SMALL).fit(BITS, np.arange(40) % 3)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("name", list(NAMED)[1:])
def test_tables_with_names(name, method):
    one = from_dicts(method)
    two = getattr(CRPMixture(**SMALL), method)(NAMED[name])
    assert one.columns_ == two.columns_ == EXPECTED
    assert differences(schemaless(one), schemaless(two)) == []
    assert one.feature_names_in_.tolist() == two.feature_names_in_.tolist() == NAMES
    assert (one.score_samples(NAMED[name]) == two.score_samples(NAMED["dicts"])).all()


@pytest.mark.parametrize("name", list(NAMELESS)[1:])
def test_tables_without_names(name):
    one, two = CRPMixture(**SMALL).fit(NAMELESS["lists"]), CRPMixture(**SMALL).fit(NAMELESS[name])
    assert list(one.columns_.values()) == list(EXPECTED.values())
    assert differences(schemaless(one), schemaless(two)) == []
    assert not hasattr(two, "feature_names_in_")
    assert (one.score_samples(NAMELESS[name]) == two.score_samples(CELLS)).all()


def test_names_do_not_change_the_numbers():
    one, two = CRPMixture(**SMALL).fit(ROWS), CRPMixture(**SMALL).fit(CELLS)
    assert (one.score_samples(ROWS) == two.score_samples(CELLS)).all()
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert (one.score_samples(np.array(CELLS, dtype=object)) == two.score_samples(CELLS)).all()


def test_dicts_may_come_in_any_order_and_lack_keys():
    model = CRPMixture(**SMALL).fit(ROWS)
    turned = [dict(reversed(row.items())) for row in ROWS]
    assert (model.score_samples(turned) == model.score_samples(ROWS)).all()
    missing = model.score_samples([{"real": 0.5}, {}])
    full = model.score_samples([dict.fromkeys(NAMES) | {"real": 0.5}, dict.fromkeys(NAMES)])
    assert (missing == full).all()
    assert np.isclose(missing[1], 0)


BITS = (rng.random((40, 6)) < 0.3).astype(float)


@pytest.mark.parametrize(
    "form",
    [
        sparse.csr_matrix,
        sparse.csc_matrix,
        sparse.coo_array,
        sparse.csr_array,
        lambda A: sparse.csr_matrix(A.astype(bool)),
        lambda A: sparse.csr_matrix(A.astype(np.int8)),
        lambda A: A.astype(bool),
        lambda A: A.astype(np.uint8),
        lambda A: A.astype(np.int32),
        lambda A: A.astype(np.float32),
        lambda A: np.asfortranarray(A),
        lambda A: A[::-1][::-1],
        lambda A: A.astype(">f8"),
        lambda A: A.tolist(),
        lambda A: A.astype(int).astype(object),
        lambda A: pd.DataFrame(A),
        lambda A: np.ma.masked_array(A, np.zeros(A.shape, bool)),
    ],
)
@pytest.mark.parametrize("columns", ["auto", "binary"])
def test_binary_tables(form, columns):
    one = from_numbers(columns)
    two = AClassClassifier(columns, **SMALL).fit(form(BITS), np.arange(40) % 3)
    assert differences(schemaless(one), schemaless(two)) == []
    assert (one.predict_proba(form(BITS)) == two.predict_proba(BITS)).all()


def test_masked_cells_are_missing():
    X = BITS.copy()
    hidden = rng.random(X.shape) < 0.2
    one = CRPMixture("binary", **SMALL).fit(np.ma.masked_array(X, hidden))
    X[hidden] = np.nan
    assert differences(schemaless(one), schemaless(CRPMixture("binary", **SMALL).fit(X))) == []


@pytest.mark.parametrize("unseen", ["new", 7, b"u", 1.5, True])
def test_an_unseen_category_counts_as_a_missing_cell(unseen):
    mixture = CRPMixture(**SMALL).fit(ROWS)
    classifier = AClassClassifier(**SMALL).fit(ROWS, np.arange(24) % 2)
    there, missing = (
        [ROWS[0] | {"word": word}, ROWS[4] | {"word": word}] for word in (unseen, None)
    )
    assert (mixture.score_samples(there) == mixture.score_samples(missing)).all()
    assert (mixture.predict(there) == mixture.predict(missing)).all()
    assert (classifier.predict_proba(there) == classifier.predict_proba(missing)).all()
    before = state_of(mixture)
    mixture.predict(there)
    assert differences(before, state_of(mixture)) == []  # and is not learned


# --- strange tables -----------------------------------------------------------------------------

STRANGE = {
    "one row": [[0.5, 1.5]],
    "one cell": [[3.5]],
    "one missing cell": [[None]],
    "one bit": [[1]],
    "one word": [["a"]],
    "a constant of zeros": [[0.0, 0.5]] * 5,
    "constants": [["a", 1, 7.5]] * 5,
    "a missing column": [[None, 1.5], [None, 2.5]],
    "missing floats": [[np.nan, 1.5], [np.nan, 2.5]],
    "missing rows": [[None, None], [1.5, "a"], [None, None]],
    "nothing but holes": [[None, None]] * 4,
    "huge whole numbers": [[2**70 + i] for i in range(3)],
    "many huge whole numbers": [[2**70 + 2**60 * i] for i in range(20)],
    "unsigned": np.array([[2**64 - 1], [2**63], [5]], dtype=np.uint64),
    "many unsigned": np.arange(2**64 - 20, 2**64, dtype=np.uint64)[:, None],
    "bytes": [[b"a"], [b"b"]],
    "words and numbers": [["a", 1], [1, "b"], [None, 2.5]],
    "empty words": [[""], ["a"]],
    "a hundred columns": np.ones((3, 100)),
    "a hundred words": [[f"w{i}"] for i in range(100)],
}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("name", STRANGE)
def test_strange_tables_give_finite_answers(name, method):
    X = STRANGE[name]
    n = len(X)
    mixture = getattr(CRPMixture(**SMALL), method)(X)
    assert np.isfinite(mixture.score_samples(X)).all()
    assert np.isfinite(mixture.log_evidence_)
    assert np.isclose(mixture.n_groups_posterior_.sum(), 1)
    assert mixture.sample(7).shape[0] == 7
    assert len(mixture.prototypes()) == mixture.n_groups_ >= 1
    for y in (range(n), [0] * n):  # as many classes as rows, and one
        classifier = getattr(AClassClassifier(**SMALL), method)(X, list(y))
        probability = classifier.predict_proba(X)
        np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-12)
        assert np.isfinite(probability).all()


def test_a_row_of_holes_says_nothing():
    classifier = AClassClassifier(**SMALL).fit(ROWS, [0] * 18 + [1] * 6)
    np.testing.assert_allclose(classifier.predict_proba([{}]), [[19 / 26, 7 / 26]], rtol=1e-12)


EDGES = [0.0, -0.0, 1.0, -1.0, 1e100, -1e100, 1e-100, 1e140, -1e140, 1e-140, 1.7e18, 3.0, np.nan]
FINITE = st.floats(-1e140, 1e140, allow_subnormal=False).filter(lambda v: v == 0 or abs(v) > 1e-140)
CELL = st.sampled_from(EDGES) | FINITE
REAL_TABLES = st.integers(1, 2).flatmap(
    lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=12)
)
OFFSETS = st.tuples(
    st.sampled_from([0.0, 1.7e18, -1.7e18, 1e9, 2.0**53]),
    st.sampled_from([1e-9, 1.0, 256.0, 1e6, 1e12]),
    st.integers(0, 5),
)


def assert_finite(X, queries, **parameters):
    y = np.arange(len(X)) % 2
    for method in ("fit", "partial_fit"):
        model = getattr(AClassClassifier("real", **SMALL, **parameters), method)(X, y)
        for table in (X, queries):
            probability, score = model.predict_proba(table), model.score_samples(table)
            assert np.isfinite(score).all()
            assert np.isfinite(probability).all()
            assert (probability >= 0).all()
            np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-9)
            assert (model.predict(table) == model.classes_[probability.argmax(axis=1)]).all()
        assert np.isfinite(model.log_evidence_)
        assert np.isfinite(model.sample(20)[0]).all()
        assert np.isfinite(np.asarray(model.prototypes(0), dtype=float)).all()


@given(X=REAL_TABLES, prior=st.sampled_from(["empirical", "reference"]))
def test_wild_numbers_give_finite_answers(X, prior):
    X = np.array(X)
    queries = np.full((6, X.shape[1]), [[0.0], [1e149], [-1e149], [5e-324], [np.nan], [1.7e18]])
    assert_finite(X, queries, prior=prior)


@settings(max_examples=30)
@given(OFFSETS)
def test_small_noise_on_a_large_offset_gives_finite_answers(offset):
    place, scale, seed = offset
    X = place + scale * np.random.default_rng(seed).normal(size=(12, 2))
    assert_finite(X, X + scale)


def scaled(X, factor, **parameters):
    model = CRPMixture("real", **SMALL, **parameters).fit(X * factor)
    return model.labels_, model.score_samples(X * factor) + 2 * np.log(factor)


@pytest.mark.parametrize("prior", ["empirical", "reference"])
@pytest.mark.parametrize("power", [-400, -40, 40, 400])
def test_the_unit_of_a_real_column_does_not_matter(power, prior):
    X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0], [8]], 15, axis=0)
    labels, scores = scaled(X, 1.0, prior=prior)
    others, other_scores = scaled(X, 2.0**power, prior=prior)
    assert (labels == others).all()
    np.testing.assert_allclose(scores, other_scores, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("factor", [1e151, -1e300])
def test_a_number_whose_square_overflows_is_refused(factor):
    with pytest.raises(ValueError, match="'x1'.*row 1.*1e150"):
        CRPMixture("real", **SMALL).fit([[0.5, 1], [1.5, factor], [0.1, 2]])


@pytest.mark.parametrize("digits", [3, 6, 10, 11, 13])
def test_the_origin_of_a_real_column_does_not_matter(digits):
    X = np.random.default_rng(0).normal(size=(30, 1)) + np.repeat([[0], [20]], 15, axis=0)
    X = np.round(X * 4) / 4  # exact wherever it is moved
    near = CRPMixture("real", **SMALL).fit(X)
    far = CRPMixture("real", **SMALL).fit(X + 10.0**digits)
    assert near.n_groups_ == far.n_groups_ == 2
    np.testing.assert_allclose(
        near.score_samples(X), far.score_samples(X + 10.0**digits), rtol=1e-2, atol=1e-2
    )


def test_a_table_of_pyarrow_is_the_frame_of_the_same_cells():
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    day = dt.datetime(2024, 1, 1)
    table = pa.table(
        {
            "real": [1.0, None, 2.5, 9.0] * 8,
            "whole": pa.array([1, 2, None, 40] * 8, pa.int32()),
            "flag": [True, False, None, True] * 8,
            "word": pa.array(["u", "v", None, "u"] * 8).dictionary_encode(),
            "text": ["x", "y", None, "x"] * 8,
            "when": [day + dt.timedelta(days=9 * i) for i in range(32)],
        }
    )
    frame = table.to_pandas()
    one, two = (CRPMixture(effort="fast", random_state=0).fit(X) for X in (table, frame))
    assert one.columns_ == two.columns_
    assert (one.score_samples(table) == two.score_samples(frame)).all()
    filled = one.impute(table)
    assert isinstance(filled, pa.Table)
    assert filled.schema.names == table.schema.names
    assert filled["real"].null_count == 0
    labels = pa.chunked_array([["a", "b"] * 16])
    classifier = AClassClassifier(effort="fast", random_state=0).fit(table, labels)
    assert classifier.predict(table.slice(0, 3)).shape == (3,)
    assert list(classifier.explain(table.slice(0, 1)).columns.index) == list(one.columns_)


def test_a_record_batch_of_pyarrow_is_the_table_of_the_same_cells():
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    table = pa.table({"real": [1.0, None, 2.5, 9.0] * 8, "word": ["u", "v", None, "u"] * 8})
    (batch,) = table.to_batches()
    count = np.arange(32) % 3
    for weight in (None, count):
        one, two = (
            CRPMixture(effort="fast", random_state=0).fit(X, sample_weight=weight)
            for X in (table, batch)
        )
        assert one.columns_ == two.columns_ == {"real": "real", "word": "categorical"}
        assert (one.score_samples(table) == two.score_samples(batch)).all()
    assert one.impute(table) == two.impute(batch)
    assert list(as_dicts(batch)) == table.to_pylist()
    labelled = batch.append_column("label", ["a", "b"] * 16)
    chunks = list(read_stream(labelled, target="label", chunk=10))
    assert [len(labels) for _, labels in chunks] == [10, 10, 10, 2]
