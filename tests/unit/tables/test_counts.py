"""The compiled passes against loops over dicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infinimix.tables.counts import find_columns, number_novel, tidy

CELLS = st.tuples(
    st.integers(-1, 12), st.sampled_from([0.0, -0.0, 1.0, 2.0, 0.25, 1e150, float("nan")])
)
ROWS = st.lists(st.lists(CELLS, max_size=60), min_size=1, max_size=5)


def flat(rows):
    starts = np.cumsum([0, *map(len, rows)])
    cells = [cell for row in rows for cell in row]
    columns = np.array([column for column, _ in cells], np.int64)
    return starts, columns, np.array([count for _, count in cells], np.float64)


@given(ROWS)
def test_tidy_is_a_sum_for_each_column(rows):
    indptr, indices, data, unknown, bad = tidy(*flat(rows))
    assert bad == -1
    assert (indptr.dtype, indices.dtype, data.dtype) == (np.int64, np.int32, np.float64)
    assert indptr[-1] == len(indices) == len(data)
    for i, row in enumerate(rows):
        sums: dict[int, float] = {}
        for column, count in row:
            if count > 0.0:
                sums[column] = sums.get(column, 0.0) + count
        assert unknown[i] == sums.pop(-1, 0.0)
        part = slice(indptr[i], indptr[i + 1])
        assert indices[part].tolist() == sorted(sums)
        np.testing.assert_allclose(data[part], [sums[j] for j in sorted(sums)], rtol=1e-12)


@given(ROWS, st.sampled_from([-1.0, -1e-300, float("inf"), 2e150]), st.data())
def test_tidy_finds_the_first_count_that_is_none(rows, wrong, data):
    starts, columns, counts = flat(rows)
    if len(counts):
        k = data.draw(st.integers(0, len(counts) - 1))
        counts[k:] = wrong
        assert tidy(starts, columns, counts)[-1] == k


@given(st.lists(st.integers(0, 9), max_size=30), st.lists(st.integers(-1, 20), max_size=12))
def test_columns_are_looked_up(indices, table):
    for dtype in (np.int32, np.int64):
        found, novel = find_columns(np.array(indices, dtype), np.array(table, np.int64), 10)
        expected = [table[j] if j < len(table) else -1 for j in indices]
        assert (found.tolist(), novel) == (expected, expected.count(-1))


@pytest.mark.parametrize("wrong", [-1, 10, 2**31 - 1])
def test_an_index_outside_the_matrix_is_refused(wrong):
    with pytest.raises(ValueError, match=f"10 columns.*column {wrong}"):
        find_columns(np.array([3, wrong]), np.arange(10), 10)


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.0, 1.0, np.nan])), max_size=30))
def test_novel_columns_are_numbered_as_they_appear(cells):
    indices = np.array([j for j, _ in cells], np.int32)
    columns = np.where(indices == 4, 0, -1).astype(np.int64)  # 4 is known
    novel = number_novel(indices, np.array([c for _, c in cells], float), columns, 1, 10)
    seen = list(dict.fromkeys(j for j, c in cells if c > 0.0 and j != 4))
    assert novel.tolist() == seen
    expected = [0 if j == 4 else (1 + seen.index(j) if c > 0.0 else -1) for j, c in cells]
    assert columns.tolist() == expected


@pytest.mark.parametrize("n", [2, 16, 17, 90, 700])
@pytest.mark.parametrize("width", [3, 200, 300, 70_000, 2**31 - 1])
def test_copies_of_a_column_are_added_in_their_order(n, width):
    """To the last bit: a row alone is what it is among many, which are sorted otherwise."""
    rng = np.random.default_rng(n)
    columns, counts = rng.integers(width, size=n), rng.exponential(size=n)
    sums: dict[int, float] = {}
    for column, count in zip(columns.tolist(), counts.tolist(), strict=True):
        sums[column] = sums[column] + count if column in sums else count
    indptr, indices, data, _, bad = tidy(np.array([0, n]), columns, counts)
    assert bad == -1
    assert indptr.tolist() == [0, len(sums)]
    assert indices.tolist() == sorted(sums)
    assert data.tolist() == [sums[column] for column in sorted(sums)]
