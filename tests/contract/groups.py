"""Groups of the examples, compiled as the engines use them, for the laws of families."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infinimix.families import seam
from infinimix.families.product import engine
from tests.contract.examples import EXAMPLES

SLOTS = 4
LIVE = np.arange(SLOTS)

everywhere = pytest.mark.parametrize("name", EXAMPLES)
rows_of_any = st.lists(st.integers(0, 8), min_size=1, max_size=8)
two_orders = rows_of_any.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows)))
AT_ONCE = 3  # examples of a draw


@engine("score")
def scores_of(family, stats, X, i, live, out):
    seam.score(family, stats, X, i, live, out)


@engine("score", "score_two")
def scores_of_two(family, stats, X, i, j, live, out, ahead):
    return seam.score_two(family, stats, X, i, j, live, out, ahead)


@engine("column_evidence")
def evidence_of(family, stats, k):
    return seam.evidence(family, stats, k)


def width_of(family):
    return seam.width(family)


@engine("column_evidence")
def columns_of(family, stats, k, out):
    seam.column_evidence(family, stats, k, out)


@engine("count", "refresh")
def added(family, stats, X, k, i, w):
    seam.add(family, stats, k, X, i, w)


@engine("count", "refresh")
def added_all(family, stats, X, k, rows, w):
    for i in rows:
        seam.add(family, stats, k, X, i, w)


@engine("merge")
def merged(family, stats, source, target):
    seam.merge(family, stats, source, target)


@engine("copy", "refresh")
def copied(family, stats, source, target):
    seam.copy(family, stats, source, target)
    seam.refresh(family, stats, target)


def law(conjugate=False, **drawn):
    """Let a test of an example and of what is drawn be one of every family.

    Each draw visits three examples, and there are a third of the draws: hypothesis takes longer
    over a draw than a law over an example. `conjugate` leaves out examples that are not so.
    """

    few = settings(max_examples=-(-settings.default.max_examples // AT_ONCE))

    def decorate(test):
        def of_family(name, start, **values):
            examples = [e for e in EXAMPLES[name] if e.conjugate or not conjugate]
            assert len(examples) >= AT_ONCE
            for k in range(start, start + AT_ONCE):
                test(examples[k % len(examples)], **values)

        of_family.__name__, of_family.__doc__ = test.__name__, test.__doc__  # which seed its draws
        return everywhere(few(given(start=st.integers(0, 99), **drawn)(of_family)))

    return decorate


def add(example, stats, k, rows, w=1.0):
    added_all(example.family, stats, example.X, k, np.array(rows, np.int64), w)


def grown(example, rows, w=1.0):
    """Statistics whose slot 0 holds these rows."""
    stats = seam.empty(example.family, SLOTS)
    add(example, stats, 0, rows, w)
    return stats


def score(example, stats, i, k=0):
    out = np.zeros(SLOTS)
    scores_of(example.family, stats, example.X, i, LIVE, out)
    return out[k]


def all_scores(example, stats, k=0):
    """Scores of all rows in slot k, through the many-rows door."""
    out = np.zeros((example.n, 1))
    seam.score_rows(example.family, stats, np.array([k]), example.X, out)
    return out[:, 0]


def same(a, b):
    """Equal to 1e-9, relative to sizes above one."""
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def counts(stats):
    """What `count` keeps: the arrays named n."""
    parts = [stats] if hasattr(stats, "n") else stats
    return [part.n for part in parts]


def without_cells(X):
    if isinstance(X, tuple):
        return tuple(map(without_cells, X))
    return np.full_like(X, np.nan if X.dtype.kind == "f" else -1)
