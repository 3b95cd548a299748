"""Laws of the Dirichlet-multinomial family, whose rows are sparse lists of words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from infinimix.families import product, seam
from infinimix.families.words import (
    MEAN,
    REINFORCED,
    SAMPLED,
    UNDRAWN,
    DirichletMultinomial,
    WordRows,
    draw_group,
    empty_words,
)
from infinimix.kernels.compile import kernel
from tests.contract.groups import added, copied, evidence_of, merged, scores_of

WORDS, SLOTS = 6, 3
LIVE = np.arange(SLOTS)

ROWS = [
    {0: 2.0, 3: 1.0},
    {},
    {5: 1.0},
    {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 1.0},
    {2: 0.5, 4: 0.25},
    {1: 40.0, 2: 3.0},
    {3: 1e-3},
]
WHOLE = [0, 1, 2, 3, 5]  # rows of whole counts


def pack(rows):
    start = np.cumsum([0, *map(len, rows)])
    word = np.array([w for row in rows for w in row], np.int32)
    return WordRows(
        start.astype(np.int64), word, np.array([x for row in rows for x in row.values()])
    )


X = pack(ROWS)
forms = pytest.mark.parametrize("form", [MEAN, REINFORCED])
priors = st.sampled_from([1e-3, 0.1, 0.5, 7.0])
some = st.lists(st.integers(0, len(ROWS) - 1), min_size=1, max_size=8)
some_whole = st.lists(st.sampled_from(WHOLE), min_size=1, max_size=8)


def family_of(prior, form=REINFORCED, known=WORDS):
    return DirichletMultinomial(np.array([prior]), np.array([float(known)]), np.array([form]))


def grown(family, rows, w=1.0, k=0):
    stats = empty_words(family, WORDS, SLOTS)
    for i in rows:
        added(family, stats, X, k, i, w)
    return stats


def scores(family, stats, k=0):
    out = np.zeros((len(ROWS), SLOTS))
    for i in range(len(ROWS)):
        scores_of(family, stats, X, i, LIVE, out[i])
    return out[:, k]


SINGLE = 1e-6  # what is left of logs, which are kept in single precision


def same(a, b, digits=1e-9):
    np.testing.assert_allclose(a, b, rtol=digits, atol=digits)


def dense(i):
    row = np.zeros(WORDS)
    row[list(ROWS[i])] = list(ROWS[i].values())
    return row


@given(prior=priors, rows=some)
def test_reinforced_scores_are_the_exact_predictive(prior, rows):
    family = family_of(prior)
    stats = grown(family, rows)
    n = sum(map(dense, rows)) + prior
    for i, found in enumerate(scores(family, stats)):
        x = dense(i)
        expected = (gammaln(n + x) - gammaln(n)).sum()
        expected -= gammaln((n + x).sum()) - gammaln(n.sum())
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-8)


@given(prior=priors, rows=some)
def test_mean_scores_are_the_predictive_of_one_word_each(prior, rows):
    family = family_of(prior, MEAN)
    n = sum(map(dense, rows)) + prior
    expected = [dense(i) @ np.log(n / n.sum()) for i in range(len(ROWS))]
    same(scores(family, grown(family, rows)), expected, SINGLE)


@given(prior=priors, rows=some)
def test_the_chain_of_scores_is_the_evidence(prior, rows):
    family = family_of(prior)
    stats, total = empty_words(family, WORDS, SLOTS), 0.0
    for i in rows:
        total += scores(family, stats)[i]
        added(family, stats, X, 0, i, 1.0)
    same(evidence_of(family, stats, 0), total)


@forms
@given(rows=some, data=st.data())
def test_rows_are_exchangeable(form, rows, data):
    family = family_of(0.5, form)
    a, b = grown(family, rows), grown(family, data.draw(st.permutations(rows)))
    same(scores(family, a), scores(family, b), SINGLE)
    same(evidence_of(family, a, 0), evidence_of(family, b, 0))


@forms
@given(rows=some_whole, extra=st.sampled_from(WHOLE))
def test_a_row_that_leaves_was_never_there(form, rows, extra):
    family = family_of(0.5, form)
    before, stats = grown(family, rows), grown(family, rows)
    added(family, stats, X, 0, extra, 1.0)
    added(family, stats, X, 0, extra, -1.0)
    for a, b in zip(stats, before, strict=True):
        assert np.array_equal(a, b)


@forms
@given(rows=some, more=some)
def test_to_merge_groups_is_to_have_all_rows_in_one(form, rows, more):
    family = family_of(0.5, form)
    both, stats = grown(family, rows + more), grown(family, rows)
    for i in more:
        added(family, stats, X, 1, i, 1.0)
    merged(family, stats, 1, 0)
    for a, b in zip(stats, both, strict=True):
        same(a[..., 0], b[..., 0], SINGLE)


@forms
@given(rows=some)
def test_a_copy_answers_the_same_and_goes_on_alone(form, rows):
    family = family_of(0.5, form)
    stats = grown(family, rows)
    copied(family, stats, 0, 2)
    assert np.array_equal(scores(family, stats, 2), scores(family, stats, 0))
    before = scores(family, stats, 0)
    added(family, stats, X, 2, 3, 1.0)
    assert np.array_equal(scores(family, stats, 0), before)


@forms
@given(rows=some)
def test_room_for_more_groups_changes_none(form, rows):
    family = family_of(0.5, form)
    stats = grown(family, rows)
    wider = seam.reserve(family, stats, SLOTS + 2)
    fresh = empty_words(family, WORDS, 2)
    for old, new, blank in zip(stats, wider, fresh, strict=True):
        assert new.flags.c_contiguous
        assert np.array_equal(new[..., :SLOTS], old)
        assert np.array_equal(new[..., SLOTS:], blank)


@forms
@given(rows=some, share=st.sampled_from([0.25, 0.9, 1.0]))
def test_faded_rows_are_rows_of_less_weight(form, rows, share):
    family = family_of(0.5, form)
    faded, light = grown(family, rows), grown(family, rows, share)
    seam.fade(family, faded, share)
    product.refresh_all(family, faded, SLOTS)
    for a, b in zip(faded, light, strict=True):
        same(a, b, SINGLE)
    same(scores(family, faded), scores(family, light), SINGLE)


@forms
@given(rows=some, others=some, w=st.sampled_from([0.3, 1.0, 5.0]))
def test_counts_are_clipped_at_zero_when_written(form, rows, others, w):
    family = family_of(0.1, form)
    stats, n = grown(family, rows), sum(map(dense, rows))
    for other in others:
        added(family, stats, X, 0, other, -w)
        n = np.maximum(n - w * dense(other), 0.0)
    same(stats.n[:, 0], n)
    same(stats.total[0], n.sum())
    assert seam.sound(family, stats)
    assert np.isfinite(scores(family, stats)).all()


def test_words_that_are_not_known_yet_have_no_pseudo_count():
    few, all_ = family_of(0.5, known=4), family_of(0.5)
    stats = grown(few, [0])
    same(scores(few, stats)[2], np.log(0.5 / (4 * 0.5 + 3.0)))
    product.refresh_all(all_, stats, SLOTS)
    same(scores(all_, stats)[2], np.log(0.5 / (6 * 0.5 + 3.0)))


def test_a_row_without_words_says_nothing_also_where_no_word_is_known():
    for form in (MEAN, REINFORCED, SAMPLED):
        family, out = family_of(0.5, form, known=0), np.zeros(SLOTS)
        scores_of(family, empty_words(family, WORDS, SLOTS), X, 1, LIVE, out)
        assert (out == 0.0).all()


def test_slots_in_any_order_are_scored_alike():
    family = family_of(0.5, MEAN)
    stats = grown(family, [0, 3])
    added(family, stats, X, 2, 5, 1.0)
    out, odd = np.zeros(SLOTS), np.zeros(SLOTS)
    scores_of(family, stats, X, 3, LIVE, out)
    scores_of(family, stats, X, 3, np.array([2, 0]), odd)
    same(odd, [out[0], 0.0, out[2]])


def test_typical_is_the_mean_of_the_posterior():
    family = family_of(0.5)
    found = seam.typical(family, grown(family, [0, 3]), np.array([0, 1]))
    same(found[0], np.array([3.5, 1.5, 1.5, 2.5, 1.5, 1.5]) / 12.0)
    same(found[1], np.full(6, 1 / 6))


@kernel
def unseen_share_of(family, stats, k, X, i):
    return seam.unseen_share(family, stats, k, X, i)


@given(rows=some)
def test_the_unseen_share_is_what_a_group_has_never_had(rows):
    family = family_of(0.5)
    stats, n = grown(family, rows), sum(map(dense, rows))
    for i in range(len(ROWS)):
        squares = dense(i) ** 2
        expected = squares[n == 0.0].sum() / squares.sum() if squares.any() else 0.0
        same(unseen_share_of(family, stats, 0, X, i), expected)
        assert unseen_share_of(family, stats, 1, X, i) == (1.0 if squares.any() else 0.0)


@kernel
def drawn(family, stats, k, rng):
    draw_group(family, stats, k, rng)


def test_draws_are_made_for_known_words_alone():
    family, rng = family_of(0.5, SAMPLED), np.random.default_rng(0)
    stats = grown(family, [0], k=1)
    assert (stats.t == UNDRAWN).all()
    stats.t[:4, 0] = 0.0  # group 0 has had the first four words
    drawn(family, stats, 1, rng)
    assert (stats.t[:4, 1] > UNDRAWN).all()
    assert (stats.t[4:, 1] == UNDRAWN).all()
    same(np.exp(stats.t[:4, 1]).sum(), stats.total[1], SINGLE)
    same(stats.norm[1], np.log(stats.total[1]))


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 31, 87])
def test_the_unseen_share_is_added_up_in_eight_lanes(length):
    """Always in this order, so that a model is the same to the last bit whatever compiles it."""
    rng = np.random.default_rng(length)
    family = DirichletMultinomial(np.array([0.1]), np.array([100.0]), np.array([MEAN]))
    stats = empty_words(family, 100, 2)
    X = WordRows(np.array([0, length]), np.arange(length, dtype=np.int32), rng.random(length))
    has = rng.random(length) < 0.5
    stats.t[:length, 1][has] = 1.0
    lanes, end = np.zeros((2, 8)), length - length % 8
    for j in range(end):
        square = X.weight[j] * X.weight[j]
        lanes[:, j % 8] += (0.0 if has[j] else square), square
    fours = lanes[:, :4] + lanes[:, 4:]
    strange, total = (fours[:, 0] + fours[:, 2]) + (fours[:, 1] + fours[:, 3])
    for j in range(end, length):
        square = X.weight[j] * X.weight[j]
        strange, total = strange + (0.0 if has[j] else square), total + square
    assert unseen_share_of(family, stats, 1, X, 0) == (strange / total if total > 0.0 else 0.0)
