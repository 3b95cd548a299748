"""Laws that every family obeys, compiled as the engines use it: counting, slots, evidence."""

import numpy as np
import pytest
from hypothesis import strategies as st

from infinimix.families import DirichletCategorical, product, seam
from tests.contract.examples import EXAMPLES, Example
from tests.contract.groups import (
    SLOTS,
    add,
    all_scores,
    columns_of,
    copied,
    counts,
    everywhere,
    evidence_of,
    grown,
    law,
    merged,
    rows_of_any,
    same,
    score,
    scores_of,
    scores_of_two,
    two_orders,
    width_of,
    without_cells,
)
from tests.oracle.enumeration import log_marginal

# --- rows one after the other --------------------------------------------------------------------


@law(conjugate=True, rows=rows_of_any)
def test_the_chain_of_scores_is_the_evidence(example, rows):
    stats, total = seam.empty(example.family, SLOTS), 0.0
    for i in rows:
        total += score(example, stats, i)
        add(example, stats, 0, [i])
    same(evidence_of(example.family, stats, 0), total)


@law(rows=rows_of_any)
def test_two_rows_at_once_are_scored_as_each_alone(example, rows):
    """To the last bit, in any company of groups, and with or without missing cells."""
    stats, n = grown(example, rows), example.n
    for X in (example.X, without_cells(example.X)):
        for i, j in ((0, 1), (n - 1, 0), (2, 2)):
            for live in (np.array([1]), np.array([2, 0, 1]), np.arange(SLOTS)):
                found, alone = np.full((2, 2, SLOTS), 0.25)
                gain = scores_of_two(example.family, stats, X, i, j, live, *found)
                scores_of(example.family, stats, X, i, live, alone[0])
                scores_of(example.family, stats, X, j, live, alone[1])
                np.testing.assert_array_equal(found, alone)
                assert gain >= 0


def column_evidence(example, stats, k=0, level=0.0):
    out = np.full(width_of(example.family), level)
    columns_of(example.family, stats, k, out)
    return out


@law(rows=rows_of_any)
def test_the_evidence_is_the_sum_over_columns(example, rows):
    """A column's share is the evidence of rows that have no other cells; it is added."""
    stats = grown(example, rows)
    found = column_evidence(example, stats)
    same(found.sum(), evidence_of(example.family, stats, 0))
    same(column_evidence(example, stats, level=5.0), found + 5.0)
    assert (column_evidence(example, stats, k=1) == 0.0).all()
    alone = [Example(example.family, X) for X in each_column(example.family, example.X)]
    expected = [evidence_of(example.family, grown(one, rows), 0) for one in alone]
    same(found, expected)


def each_column(family, X):
    """Yield the table with all cells lost but those of one column, for each in turn."""
    if isinstance(X, tuple):
        for j, block in enumerate(X):
            for kept in each_column(family[j], block):
                yield (*map(without_cells, X[:j]), kept, *map(without_cells, X[j + 1 :]))
        return
    own = [[d] for d in range(X.shape[1])] if width_of(family) == X.shape[1] else [slice(None)]
    for d in own:
        kept = without_cells(X)
        kept[:, d] = X[:, d]
        yield kept


ENUMERATED = [  # the oracle has its own formulas, and an integral for counts of mild size
    *((name, i) for name in ("bernoulli", "categorical") for i in range(3)),
    ("normal", 0),
    ("normal", 1),
    ("poisson", 0),
    ("poisson", 1),
    ("of the page", 0),
    ("of the page", 1),
    ("spiked", 0),
    ("spiked", 1),
    ("spiked", 3),
    ("gaussian", 0),
    ("gaussian", 1),
]


@pytest.mark.parametrize(("name", "i"), ENUMERATED)
def test_the_evidence_of_a_column_is_that_of_the_oracle(name, i):
    example, rows = EXAMPLES[name][i], [0, 2, 3, 3, 5, 7]
    found = column_evidence(example, grown(example, rows))
    for d, X in enumerate(each_column(example.family, example.X)):
        assert found[d] == pytest.approx(log_marginal((example.family,), (X,), rows), abs=1e-8)


@law(rows=rows_of_any)
def test_answers_do_not_read_the_hyper_parameters(example, rows):
    """What `refresh` has left is enough: groups of other hyper-parameters stand beside."""
    stats, slots = grown(example, rows), np.array([0, 1, 0])
    other = forgetful(example.family)
    holes, weight = without_cells(example.X), np.full((example.n, SLOTS), 1 / SLOTS)
    for answer in (
        lambda f: seam.typical(f, stats, slots),
        lambda f: seam.draw(f, stats, np.arange(example.n) % 2, holes, np.random.default_rng(0)),
        lambda f: seam.fill(f, stats, weight, holes),
    ):
        np.testing.assert_equal(answer(example.family), answer(other))
    a, b = np.zeros((2, example.n, 3))
    seam.score_rows(example.family, stats, slots, example.X, a)
    seam.score_rows(other, stats, slots, example.X, b)
    np.testing.assert_array_equal(a, b)


def forgetful(family):
    """The family without its hyper-parameters; its layout stays."""
    if hasattr(family, "_fields"):
        return family._replace(prior=np.full_like(family.prior, np.nan))
    return tuple(map(forgetful, family))


@law(orders=two_orders)
def test_rows_are_exchangeable(example, orders):
    a, b = grown(example, orders[0]), grown(example, orders[1])
    same(evidence_of(example.family, a, 0), evidence_of(example.family, b, 0))
    same(all_scores(example, a), all_scores(example, b))


@law(rows=rows_of_any, extra=st.integers(0, 8))
def test_a_row_that_leaves_was_never_there(example, rows, extra):
    """Up to the digits that the row itself took: 1e-12 of the largest number there was."""
    before, stats = grown(example, rows), grown(example, rows)
    add(example, stats, 0, [extra])
    largest = [np.abs(n[0]).max(axis=-1, keepdims=True, initial=1.0) for n in counts(stats)]
    add(example, stats, 0, [extra], w=-1.0)
    for a, b, size in zip(counts(stats), counts(before), largest, strict=True):
        assert (np.abs(a[0] - b[0]) <= 1e-12 * size).all()


@law(orders=two_orders)
def test_a_group_that_all_rows_leave_is_empty(example, orders):
    stats = grown(example, orders[0])
    add(example, stats, 0, orders[1], w=-1.0)
    assert evidence_of(example.family, stats, 0) == 0.0
    assert (all_scores(example, stats, 0) == all_scores(example, stats, 1)).all()
    assert all((n == 0.0).all() for n in counts(stats))


@everywhere
def test_an_empty_group_has_no_evidence(name):
    for example in EXAMPLES[name]:
        stats = seam.empty(example.family, SLOTS)
        assert all(evidence_of(example.family, stats, k) == 0.0 for k in range(SLOTS))


@law(rows=rows_of_any)
def test_a_row_without_cells_says_nothing(example, rows):
    blank = Example(example.family, without_cells(example.X))
    stats = grown(example, rows)
    before = [n.copy() for n in counts(stats)]
    assert score(blank, stats, 0) == 0.0
    same(all_scores(blank, stats), 0.0)
    add(blank, stats, 0, [0])
    add(blank, stats, 0, [0], w=-1.0)
    for a, b in zip(counts(stats), before, strict=True):
        np.testing.assert_array_equal(a, b)


# --- many rows at once ---------------------------------------------------------------------------


@law(rows=rows_of_any)
def test_one_is_many(example, rows):
    """A table scores as its rows do, and all slots as each; scores add to what is there."""
    stats = grown(example, rows)
    add(example, stats, 2, rows[:2])
    slots = np.array([2, 0])
    table = np.full((example.n, 2), 0.25)
    seam.score_rows(example.family, stats, slots, example.X, table)
    for i in range(example.n):
        out = np.array([0.25, 99.0, 0.25, 99.0])
        scores_of(example.family, stats, example.X, i, slots, out)
        same(table[i], out[slots])
        assert (out[[1, 3]] == 99.0).all()


@law(rows=rows_of_any, w=st.floats(0.01, 5.0))
def test_counting_one_is_counting_many(example, rows, w):
    """A table with weights is counted as its rows are, one by one, beside what is there."""
    one, many = grown(example, rows), grown(example, rows)
    weight = np.zeros((example.n, SLOTS))
    weight[:, 0], weight[::2, 2] = np.linspace(0.0, w, example.n), w
    seam.count_rows(example.family, many, weight, example.X)
    for k in (0, 2):
        for i in range(example.n):
            add(example, one, k, [i], weight[i, k])
        add(example, many, k, [1], 0.0)  # ready to score
        same(evidence_of(example.family, many, k), evidence_of(example.family, one, k))
    same(all_scores(example, many), all_scores(example, one))


@law(rows=rows_of_any)
def test_estimates_are_proper(example, rows):
    """Every group can be scored by an estimate, whose prior is a number."""
    stats = grown(example, rows)
    prior = seam.estimate_point(example.family, stats, False)
    assert prior.shape == (SLOTS,)
    assert np.isfinite(prior).all()
    assert np.isfinite(all_scores(example, stats)).all()
    assert seam.freedom(example.family) > 0


@law(rows=rows_of_any, cut=st.integers(0, 8))
def test_merging_is_adding_all_rows(example, rows, cut):
    whole, stats = grown(example, rows), grown(example, rows[:cut])
    add(example, stats, 3, rows[cut:])
    merged(example.family, stats, 3, 0)
    same(evidence_of(example.family, stats, 0), evidence_of(example.family, whole, 0))
    same(all_scores(example, stats), all_scores(example, whole))


@law(rows=rows_of_any, w=st.floats(0.01, 5.0))
def test_weights_add(example, rows, w):
    """Twice a row is the row with weight 2; parts of a row sum to the row."""
    halves = grown(example, rows, 0.3 * w)
    add(example, halves, 0, rows, 0.7 * w)
    for a, b in [
        (grown(example, rows + rows), grown(example, rows, 2.0)),
        (halves, grown(example, rows, w)),
    ]:
        same(evidence_of(example.family, a, 0), evidence_of(example.family, b, 0))
        same(all_scores(example, a), all_scores(example, b))


# --- slots ---------------------------------------------------------------------------------------


@law(rows=rows_of_any)
def test_a_copy_is_the_same_group(example, rows):
    stats = grown(example, rows)
    add(example, stats, 3, rows[:1])  # what was in the target goes
    copied(example.family, stats, 0, 3)
    assert (all_scores(example, stats, 0) == all_scores(example, stats, 3)).all()
    assert evidence_of(example.family, stats, 0) == evidence_of(example.family, stats, 3)
    seam.map_arrays(lambda a: np.testing.assert_array_equal(a[0], a[3]), stats)
    add(example, stats, 3, rows)  # and from here on they part
    untouched = grown(example, rows)
    seam.map_arrays(lambda a, b: np.testing.assert_array_equal(a[0], b[0]), stats, untouched)


@law(rows=rows_of_any)
def test_refreshing_again_changes_nothing(example, rows):
    stats = grown(example, rows)
    before = seam.map_arrays(np.copy, stats)
    product.refresh_all(example.family, stats, SLOTS)
    seam.map_arrays(np.testing.assert_array_equal, before, stats)


@law(rows=rows_of_any)
def test_widening_keeps_what_was_counted(example, rows):
    """A widened group is the group that the wider family would have counted itself."""
    wide = Example(widened(example.family), example.X)
    stats = seam.widen(example.family, grown(example, rows), wide.family)
    product.refresh_all(wide.family, stats, SLOTS)
    seam.map_arrays(np.testing.assert_array_equal, stats, grown(wide, rows))


def widened(family):
    """Two more categories in the first column, one in the last; other families stay."""
    if isinstance(family, DirichletCategorical):
        parts = np.split(family.prior, family.start[1:-1])
        parts[0], parts[-1] = [*parts[0], 0.3, 0.6], [*parts[-1], 1.5]
        start = np.cumsum([0, *map(len, parts)])
        return DirichletCategorical(np.concatenate(parts), start)
    if hasattr(family, "_fields"):
        return family
    return tuple(map(widened, family))
